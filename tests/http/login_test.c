/* Browsers and people without a token: logins by cookie and what a foreign page cannot do with one, share links that
 * show one session, signed addresses for a single request.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void start(void)
{
    static const char *const options[] = {"--cores", "2", NULL};
    daemon_fixture_start(d, options);
}

/* ---- a browser ---- */

/* "name=value" of the reply's Set-Cookie. */
static void take_cookie(const http_reply *r, char out[160])
{
    const char *set = http_header(r, "Set-Cookie");
    ck_assert_ptr_nonnull(set);
    snprintf(out, 160, "%.*s", (int)strcspn(set, ";"), set);
}

/* With a cookie, and an Origin that a page of `host` would have (NULL: none is sent). */
static http_reply *browse(const char *cookie, const char *host, const char *method,
                          const char *target, const char *json)
{
    char headers[512], origin[96] = "";
    if (host)
        snprintf(origin, sizeof origin, "Origin: http://%s\r\n", host);
    snprintf(headers, sizeof headers, "X-No-Authorization: 1\r\nCookie: theme=dark; %s\r\n%s%s",
             cookie, origin, json ? "Content-Type: application/json\r\n" : "");
    return http_call(d, method, target, headers, json, json ? strlen(json) : 0);
}

static int browse_status(const char *cookie, const char *host, const char *method,
                         const char *target, const char *json)
{
    http_reply *r = browse(cookie, host, method, target, json);
    int status = r->status;
    http_reply_free(r);
    return status;
}

static const char *here(void)
{
    static char host[64];
    snprintf(host, sizeof host, "127.0.0.1:%d", d->port);
    return host;
}

static http_reply *log_in(const char *key, const char *secret)
{
    char json[256];
    snprintf(json, sizeof json, "{\"%s\": \"%s\"}", key, secret);
    return browse("none=1", here(), "POST", "/v1/login", json);
}

static void logged_in(const char *key, const char *secret, char cookie[160])
{
    http_reply *r = log_in(key, secret);
    http_expect(r, 200);
    take_cookie(r, cookie);
    http_reply_free(r);
}

/* ---- logins ---- */

START_TEST(a_login_is_a_cookie)
{
    char alice[TENANT_SECRET], cookie[160], token[33], target[96];
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read", alice, token);
    http_reply *r = log_in("token", alice);
    http_expect(r, 200);
    const char *set = http_header(r, "Set-Cookie");
    ck_assert_ptr_nonnull(strstr(set, "; HttpOnly"));
    ck_assert_ptr_nonnull(strstr(set, "; SameSite=Strict"));
    ck_assert_ptr_nonnull(strstr(set, "; Path=/;"));
    ck_assert_ptr_null(strstr(r->body, "plt_"));
    take_cookie(r, cookie);
    http_reply_free(r);
    r = browse(cookie, NULL, "GET", "/v1/me", NULL);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "user"), "alice");
    ck_assert_str_eq(json_text(r->json, "by"), "cookie");
    ck_assert_str_eq(json_text(r->json, "scopes/0"), "read");
    http_reply_free(r);
    snprintf(target, sizeof target, "pliant=%s", alice); /* a token is no cookie */
    ck_assert_int_eq(browse_status(target, NULL, "GET", "/v1/me", NULL), 401);
    ck_assert_int_eq(browse_status("pliant=plt_0", NULL, "GET", "/v1/me", NULL), 401);
    char other[160]; /* revoking the token ends the login */
    logged_in("token", alice, other);
    ck_assert_int_eq(browse_status(other, here(), "POST", "/v1/logout", NULL), 204);
    ck_assert_int_eq(browse_status(other, NULL, "GET", "/v1/me", NULL), 401);
    ck_assert_int_eq(browse_status(cookie, NULL, "GET", "/v1/me", NULL), 200);
    snprintf(target, sizeof target, "/v1/tokens/%s", token);
    http_reply_free(tenant_call(d, d->token, "DELETE", target, NULL, NULL));
    ck_assert_int_eq(browse_status(cookie, NULL, "GET", "/v1/me", NULL), 401);
}
END_TEST

START_TEST(a_code_is_good_once)
{
    char code[64], cookie[160];
    http_reply *r = tenant_call(d, d->token, "POST", "/v1/login/codes", NULL, NULL);
    http_expect(r, 200);
    snprintf(code, sizeof code, "%s", json_text(r->json, "code"));
    ck_assert_ptr_nonnull(strstr(json_text(r->json, "url"), "/#code="));
    http_reply_free(r);
    logged_in("code", code, cookie);
    ck_assert_int_eq(browse_status(cookie, NULL, "GET", "/v1/users", NULL), 200);
    r = log_in("code", code);
    http_problem(r, 401, "unauthorized");
    ck_assert_ptr_null(http_header(r, "Set-Cookie"));
    http_reply_free(r);
    r = log_in("token", "wrong");
    http_problem(r, 401, "unauthorized");
    http_reply_free(r);
    r = log_in("code", "");
    http_problem(r, 401, "unauthorized");
    http_reply_free(r);
    r = log_in("tokens", "x");
    http_problem(r, 422, "invalid_body");
    http_reply_free(r);
}
END_TEST

/* The addresses of logins and links lead to a page whose script may run and may ask this daemon alone. */
START_TEST(a_page_takes_codes_and_links)
{
    http_reply *r = http_get(d, "/");
    http_expect(r, 200);
    const char *policy = http_header(r, "Content-Security-Policy");
    ck_assert_ptr_nonnull(strstr(policy, "default-src 'none'; script-src 'self';"));
    ck_assert_ptr_nonnull(strstr(policy, "connect-src 'self'"));
    http_reply_free(r);
    r = http_get(d, "/front.js");
    http_expect(r, 200);
    ck_assert_int_eq(strncmp(http_header(r, "Content-Type"), "text/javascript", 15), 0);
    ck_assert_ptr_nonnull(strstr(r->body, "location.hash"));
    http_reply_free(r);
}
END_TEST

/* A client without a credential may send little. */
START_TEST(strangers_send_little)
{
    enum { SIZE = 70000 };
    char *json = malloc(SIZE + 1);
    memset(json, ' ', SIZE);
    json[0] = '{';
    json[SIZE - 1] = '}';
    json[SIZE] = 0;
    static const char *const where[] = {"/v1/login", "/v1/links/open"};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        http_reply *r = browse("none=1", here(), "POST", where[i], json);
        http_problem(r, 413, "too_large");
        http_reply_free(r);
    }
    free(json);
}
END_TEST

/* ---- foreign pages ---- */

/* The browser sends the cookie along; the page's Origin, or none, gives it away. */
START_TEST(a_foreign_page_changes_nothing)
{
    static const char *const foreign[] = {
        "evil.example", "127.0.0.1", "127.0.0.1:1", "null", "127.0.0.1.evil.example", NULL};
    char cookie[160], id[33], target[96];
    logged_in("token", d->token, cookie);
    tenant_session(d, d->token, NULL, id);
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        http_reply *r = browse(cookie, foreign[i], "DELETE", target, NULL);
        http_problem(r, 403, "foreign_origin");
        http_reply_free(r);
        r = browse(cookie, foreign[i], "POST", "/v1/tokens", "{}");
        http_problem(r, 403, "foreign_origin");
        http_reply_free(r);
    }
    /* A form of a page can send these without being asked for more. */
    static const char *const types[] = {"text/plain", "application/x-www-form-urlencoded",
                                        "multipart/form-data; boundary=b"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char headers[400];
        snprintf(headers, sizeof headers,
                 "X-No-Authorization: 1\r\nCookie: %s\r\nOrigin: http://%s\r\nContent-Type: %s\r\n",
                 cookie, here(), types[i]);
        http_reply *r = http_call(d, "POST", "/v1/tokens", headers, "{}", 2);
        http_problem(r, 415, "unsupported_media_type");
        ck_assert_ptr_null(http_header(r, "Access-Control-Allow-Origin"));
        http_reply_free(r);
    }
    ck_assert_int_eq(browse_status(cookie, NULL, "GET", target, NULL), 200);
    ck_assert_int_eq(browse_status(cookie, here(), "DELETE", target, NULL) / 100, 2);
}
END_TEST

/* A name that was made to point here is not ours, whatever comes with it. */
START_TEST(a_rebound_name_is_refused)
{
    char cookie[160], head[600];
    static const char *const names[] = {"evil.example", "127.0.0.1.evil.example", "localhost.evil",
                                        "[::ffff:127.0.0.1]", "127.1"};
    logged_in("token", d->token, cookie);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int n = snprintf(head, sizeof head,
                         "GET /v1/me HTTP/1.1\r\nHost: %s:%d\r\nOrigin: http://%s:%d\r\n"
                         "Cookie: %s\r\nConnection: close\r\n\r\n",
                         names[i], d->port, names[i], d->port, cookie);
        http_reply *r = http_raw(d, head, (size_t)n);
        http_problem(r, 421, "misdirected");
        ck_assert_ptr_null(strstr(r->body, "owner"));
        http_reply_free(r);
    }
    int n = snprintf(head, sizeof head,
                     "GET /v1/me HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nCookie: pliant=x\r\n\r\n",
                     here(), cookie);
    http_reply *r = http_raw(d, head, (size_t)n);
    http_problem(r, 400, "bad_framing");
    http_reply_free(r);
}
END_TEST

/* ---- share links ---- */

static void make_link(const char *session, const char *json, char secret[TENANT_SECRET],
                      char id[33])
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/links", session);
    http_reply *r = tenant_call(d, d->token, "POST", target, NULL, json);
    http_expect(r, 201);
    snprintf(secret, TENANT_SECRET, "%s", json_text(r->json, "secret"));
    snprintf(id, 33, "%s", json_text(r->json, "id"));
    ck_assert_ptr_nonnull(strstr(json_text(r->json, "url"), "/#link="));
    http_reply_free(r);
}

static http_reply *open_link(const char *secret)
{
    char json[160];
    snprintf(json, sizeof json, "{\"secret\": \"%s\"}", secret);
    return browse("none=1", here(), "POST", "/v1/links/open", json);
}

START_TEST(a_link_shows_one_session)
{
    char shown[33], other[33], secret[TENANT_SECRET], id[33], cookie[160], target[128];
    tenant_session(d, d->token, NULL, shown);
    tenant_session(d, d->token, NULL, other);
    session_await(d, shown, "succeeded");
    make_link(shown, "{\"name\": \"for Bob\"}", secret, id);
    http_reply *r = open_link(secret);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "id"), shown);
    snprintf(target, sizeof target, "Path=/v1/sessions/%s;", shown);
    ck_assert_ptr_nonnull(strstr(http_header(r, "Set-Cookie"), target));
    ck_assert_ptr_nonnull(strstr(http_header(r, "Set-Cookie"), "HttpOnly"));
    take_cookie(r, cookie);
    http_reply_free(r);
    static const char *const parts[] = {"", "/frames/0", "/metrics", "/topology", "/scene"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(target, sizeof target, "/v1/sessions/%s%s", shown, parts[i]);
        ck_assert_int_eq(browse_status(cookie, NULL, "GET", target, NULL), 200);
        ck_assert_int_eq(browse_status("none=1", NULL, "GET", target, NULL), 401);
        snprintf(target, sizeof target, "/v1/sessions/%s%s", other, parts[i]);
        ck_assert_int_eq(browse_status(cookie, NULL, "GET", target, NULL), 404);
    }
    snprintf(target, sizeof target, "/v1/sessions/%s", shown);
    ck_assert_int_eq(browse_status(cookie, here(), "DELETE", target, NULL), 403);
    snprintf(target, sizeof target, "/v1/sessions/%s/links", shown);
    ck_assert_int_eq(browse_status(cookie, NULL, "GET", target, NULL), 403);
    ck_assert_int_eq(browse_status(cookie, here(), "POST", target, "{}"), 403);
    static const char *const beyond[] = {"/v1/sessions", "/v1/me",    "/v1/tokens", "/v1/usage",
                                         "/v1/audit",    "/v1/users", "/v1/meshes"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        ck_assert_int_eq(browse_status(cookie, NULL, "GET", beyond[i], NULL), 403);
    ck_assert_int_eq(browse_status(cookie, here(), "POST", "/v1/tokens", "{}"), 403);
    ck_assert_int_eq(browse_status(cookie, here(), "POST", "/v1/login/codes", NULL), 403);
    r = log_in("token", secret); /* nor does it log in */
    http_problem(r, 401, "unauthorized");
    http_reply_free(r);
    r = http_getf(d, "/v1/sessions/%s/links", shown);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "items/0/name"), "for Bob");
    ck_assert_ptr_null(strstr(r->body, secret));
    http_reply_free(r);
    snprintf(target, sizeof target, "/v1/sessions/%s/links/%s", other, id);
    http_reply_free(tenant_call(d, d->token, "DELETE", target, NULL, NULL));
    snprintf(target, sizeof target, "/v1/sessions/%s", shown);
    ck_assert_int_eq(browse_status(cookie, NULL, "GET", target, NULL), 200);
    snprintf(target, sizeof target, "/v1/sessions/%s/links/%s", shown, id);
    r = tenant_call(d, d->token, "DELETE", target, NULL, NULL);
    http_expect(r, 204);
    http_reply_free(r);
    snprintf(target, sizeof target, "/v1/sessions/%s", shown);
    ck_assert_int_eq(browse_status(cookie, NULL, "GET", target, NULL), 401);
    r = open_link(secret);
    http_problem(r, 404, "no_such_link");
    http_reply_free(r);
    r = open_link(d->token); /* a token is no link */
    http_problem(r, 404, "no_such_link");
    http_reply_free(r);
}
END_TEST

/* ---- signed addresses ---- */

/* Path and query of an address signed for this target. */
static void sign(const char *session, const char *path, char out[512])
{
    char target[96], json[256];
    snprintf(target, sizeof target, "/v1/sessions/%s/sign", session);
    snprintf(json, sizeof json, "{\"path\": \"%s\"}", path);
    http_reply *r = tenant_call(d, d->token, "POST", target, NULL, json);
    http_expect(r, 200);
    const char *url = json_text(r->json, "url");
    snprintf(out, 512, "%s", strstr(url, "/v1/"));
    http_reply_free(r);
}

static int plain(const char *method, const char *target)
{
    http_reply *r = http_call(d, method, target, "X-No-Authorization: 1\r\n", NULL, 0);
    int status = r->status;
    http_reply_free(r);
    return status;
}

START_TEST(a_signature_is_good_for_what_it_signs)
{
    char id[33], other[33], path[128], good[512], bad[600];
    tenant_session(d, d->token, NULL, id);
    tenant_session(d, d->token, NULL, other);
    session_await(d, id, "succeeded");
    session_await(d, other, "succeeded");
    snprintf(path, sizeof path, "/v1/sessions/%s/frames/1", id);
    ck_assert_int_eq(plain("GET", path), 401);
    sign(id, path, good);
    ck_assert_int_eq(plain("GET", good), 200);
    ck_assert_int_eq(plain("HEAD", good), 200);
    char *signature = strstr(good, "signature=");
    for (size_t i = 0; i < strlen(signature + 10); i += 7) { /* every part of it counts */
        snprintf(bad, sizeof bad, "%s", good);
        char *at = bad + (signature - good) + 10 + i;
        *at = *at == '1' ? '2' : '1';
        ck_assert_msg(plain("GET", bad) == 401, "%s", bad);
    }
    snprintf(bad, sizeof bad, "/v1/sessions/%s/frames/2?%s", id, signature);
    ck_assert_int_eq(plain("GET", bad), 401);
    snprintf(bad, sizeof bad, "/v1/sessions/%s/frames/1?%s", other, signature);
    ck_assert_int_eq(plain("GET", bad), 401);
    snprintf(bad, sizeof bad, "/v1/sessions/%s?%s", id, signature);
    ck_assert_int_eq(plain("GET", bad), 401);
    snprintf(bad, sizeof bad, "%s&dtype=u16", good);
    ck_assert_int_eq(plain("GET", bad), 401);
    snprintf(path, sizeof path, "/v1/sessions/%s/metrics?from=1&limit=1", id);
    sign(id, path, good);
    ck_assert_int_eq(plain("GET", good), 200);
    snprintf(bad, sizeof bad, "/v1/sessions/%s/cancel?%s", id, strstr(good, "signature="));
    ck_assert_int_eq(plain("POST", bad), 401);
}
END_TEST

START_TEST(only_what_is_seen_is_signed)
{
    static const char *const targets[] = {"/v1/sessions", "/v1/users",
                                          "/v1/sessions/%s/frames/%%31",
                                          "/v1/sessions/%s/metrics?from=0&signature=1"};
    char dave[TENANT_SECRET], id[33], target[96], json[256], path[160];
    tenant_user(d, "dave");
    tenant_token(d, "dave", "read submit", dave, NULL);
    tenant_session(d, d->token, NULL, id);
    snprintf(target, sizeof target, "/v1/sessions/%s/sign", id);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const char *hole = strstr(targets[i], "%s");
        snprintf(path, sizeof path, "%.*s%s%s", hole ? (int)(hole - targets[i]) : 90, targets[i],
                 hole ? id : "", hole ? hole + 2 : "");
        snprintf(json, sizeof json, "{\"path\": \"%s\"}", path);
        http_reply *r = tenant_call(d, d->token, "POST", target, NULL, json);
        ck_assert_ptr_nonnull(http_fault(http_problem(r, 422, "invalid_body"), "/path"));
        http_reply_free(r);
    }
    snprintf(json, sizeof json, "{\"path\": \"/v1/sessions/%s/scene\"}", id);
    http_reply *r = tenant_call(d, dave, "POST", target, NULL, json);
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("logins and links");
    tcase_set_timeout(c, 180);
    tcase_add_checked_fixture(c, start, stop_daemon);
    tcase_add_test(c, a_login_is_a_cookie);
    tcase_add_test(c, a_code_is_good_once);
    tcase_add_test(c, a_page_takes_codes_and_links);
    tcase_add_test(c, strangers_send_little);
    tcase_add_test(c, a_foreign_page_changes_nothing);
    tcase_add_test(c, a_rebound_name_is_refused);
    tcase_add_test(c, a_link_shows_one_session);
    tcase_add_test(c, a_signature_is_good_for_what_it_signs);
    tcase_add_test(c, only_what_is_seen_is_signed);
    return run_cases("logins and links", c);
}
