/* A session's end is told to a program: signed, tried again, over a restart too; and to no address that
 * only this machine can reach. */
#include "protocol/text/sha256.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- who is told ---- */

static int listener = -1, port;

static void start(void)
{
    static const char *const options[] = {"--webhook-allow",
                                          "127.0.0.0/8",
                                          "--webhook-delays",
                                          "0.05,0.05,0.05",
                                          "--cores",
                                          "2",
                                          NULL};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 16), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    port = ntohs(address.sin_port);
    daemon_fixture_start(d, options);
}

static void stop(void)
{
    daemon_fixture_stop(d);
    close(listener);
}

static bool somebody_calls(int milliseconds)
{
    struct pollfd watched = {.fd = listener, .events = POLLIN};
    return poll(&watched, 1, milliseconds) == 1;
}

/* One request, taken whole and answered with this (NULL: the connection is closed). Malloc'ed. */
static char *take_call(const char *answer)
{
    enum { MOST = 1 << 16 };
    ck_assert_msg(somebody_calls(1000 * HTTP_PATIENCE_S), "nobody calls");
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char *text = calloc(1, MOST), *body;
    size_t n = 0, wanted = MOST - 1;
    while (n < wanted) {
        ssize_t got = recv(fd, text + n, wanted - n, 0);
        ck_assert_int_gt(got, 0);
        n += (size_t)got;
        const char *length = strstr(text, "Content-Length: ");
        if ((body = strstr(text, "\r\n\r\n")) && length)
            wanted = (size_t)(body + 4 - text) + strtoul(length + 16, NULL, 10);
    }
    if (answer)
        ck_assert_int_gt(send(fd, answer, strlen(answer), MSG_NOSIGNAL), 0);
    close(fd);
    return text;
}

#define GOOD "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
#define BAD  "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

static void post(const char *url, char id[33])
{
    char more[400];
    snprintf(more, sizeof more, ", \"webhook\": {\"url\": \"%.300s\"}", url);
    session_post_free(d, session_scene(1, 1, more), id);
}

static void post_ours(char id[33])
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/hook?a=b", port);
    post(url, id);
}

static json_t *await_status(const char *id, const char *status)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        if (strcmp(json_text(session, "webhook/status"), status) == 0)
            return session;
        ck_assert_msg(daemon_fixture_clock() < end, "%s: %s", json_text(session, "webhook/status"),
                      json_text(session, "webhook/message"));
        json_decref(session);
    }
}

static void get_secret(char out[65])
{
    http_reply *r = http_get(d, "/v1/webhook-secret");
    http_expect(r, 200);
    snprintf(out, 65, "%s", json_text(r->json, "secret"));
    ck_assert_uint_eq(strlen(out), 64);
    http_reply_free(r);
}

/* ---- told ---- */

static void check_signature(const char *call, const char *body)
{
    char secret[65], wanted[65], *text = NULL;
    long long seconds;
    const char *header = strstr(call, "\r\nPliant-Signature: t=");
    ck_assert_ptr_nonnull(header);
    ck_assert_int_eq(sscanf(header + 22, "%lld", &seconds), 1);
    ck_assert_int_lt(llabs(seconds - (long long)time(NULL)), 60);
    const char *hex = strstr(header, ",v1=");
    ck_assert_ptr_nonnull(hex);
    get_secret(secret);
    int n = asprintf(&text, "%lld.%s", seconds, body);
    pl_hmac_sha256_hex(secret, 64, text, (size_t)n, wanted);
    ck_assert_msg(strncmp(hex + 4, wanted, 64) == 0, "%.64s, not %s", hex + 4, wanted);
    free(text);
}

START_TEST(test_told)
{
    char id[33];
    post_ours(id);
    char *call = take_call(GOOD);
    ck_assert_msg(strncmp(call, "POST /hook?a=b HTTP/1.1\r\n", 25) == 0, "%s", call);
    ck_assert_ptr_nonnull(strstr(call, "\r\nContent-Type: application/json\r\n"));
    ck_assert_ptr_nonnull(strstr(call, "\r\nPliant-Delivery: "));
    ck_assert_ptr_null(strstr(call, d->token));
    const char *body = strstr(call, "\r\n\r\n") + 4;
    json_t *told = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(told);
    ck_assert_str_eq(json_text(told, "event"), "session.ended");
    ck_assert_str_eq(json_text(told, "session/id"), id);
    ck_assert_str_eq(json_text(told, "session/state"), "succeeded");
    check_signature(call, body);
    json_t *session = await_status(id, "delivered");
    ck_assert_str_eq(json_text(session, "webhook/message"), "it answered with status 204");
    json_decref(session);
    json_decref(told);
    free(call);
    ck_assert(!somebody_calls(300)); /* once */
}
END_TEST

/* RFC 4231, cases 1, 2 and 6. */
START_TEST(test_hmac)
{
    char hex[65], key[131];
    memset(key, 0x0b, 20);
    pl_hmac_sha256_hex(key, 20, "Hi There", 8, hex);
    ck_assert_str_eq(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    pl_hmac_sha256_hex("Jefe", 4, "what do ya want for nothing?", 28, hex);
    ck_assert_str_eq(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, 131);
    pl_hmac_sha256_hex(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54, hex);
    ck_assert_str_eq(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}
END_TEST

START_TEST(test_secrets)
{
    char mine[65], alice[TENANT_SECRET], reader[TENANT_SECRET];
    tenant_user(d, "alice");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "alice", "read", reader, NULL);
    get_secret(mine);
    http_reply *r = tenant_call(d, alice, "GET", "/v1/webhook-secret", NULL, NULL);
    http_expect(r, 200);
    ck_assert_str_ne(json_text(r->json, "secret"), mine);
    http_reply_free(r);
    r = tenant_call(d, reader, "GET", "/v1/webhook-secret", NULL, NULL);
    http_problem(r, 403, "missing_scope");
    http_reply_free(r);
    /* The same after a restart. */
    char again[65];
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    get_secret(again);
    ck_assert_str_eq(mine, again);
}
END_TEST

/* ---- told again ---- */

START_TEST(test_retried)
{
    char id[33];
    post_ours(id);
    char *first = take_call(BAD), *second = take_call(NULL), *third = take_call(GOOD);
    json_decref(await_status(id, "delivered"));
    const char *ids[3] = {strstr(first, "Pliant-Delivery: "), strstr(second, "Pliant-Delivery: "),
                          strstr(third, "Pliant-Delivery: ")};
    ck_assert(strncmp(ids[0], ids[1], 49) == 0 && strncmp(ids[0], ids[2], 49) == 0);
    free(first);
    free(second);
    free(third);
}
END_TEST

START_TEST(test_given_up)
{
    static const char moved[] = "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n"
                                "Connection: close\r\n\r\n";
    char id[33];
    post_ours(id);
    for (int i = 0; i < 4; i++)
        free(take_call(i < 3 ? BAD : moved)); /* a redirect is not followed */
    json_t *session = await_status(id, "failed");
    ck_assert_str_eq(json_text(session, "webhook/message"), "it answered with status 302");
    ck_assert_str_eq(json_text(session, "state"), "succeeded");
    json_decref(session);
    ck_assert(!somebody_calls(300));
    /* Who says 410 is asked no more. */
    post_ours(id);
    free(take_call("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    json_decref(await_status(id, "failed"));
    ck_assert(!somebody_calls(300));
}
END_TEST

START_TEST(test_over_restart)
{
    static const char *const slow[] = {
        "--webhook-allow", "127.0.0.1", "--webhook-delays", "600", "--cores", "2", NULL};
    char id[33];
    daemon_fixture_stop(d);
    daemon_fixture_start(d, slow);
    post_ours(id);
    free(take_call(BAD));
    json_t *session = await_status(id, "waiting");
    json_decref(session);
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 137);
    daemon_fixture_resume(d);
    free(take_call(GOOD));
    json_decref(await_status(id, "delivered"));
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    ck_assert(!somebody_calls(300));
    /* Rebuilding the database does not lose it either. */
    static const char *const reindex[] = {"--reindex", NULL};
    char said[4096];
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_eq(unlink(daemon_fixture_path(d, "pliant.db")), 0);
    ck_assert_int_eq(daemon_fixture_command(d, reindex, said, sizeof said), 0);
    daemon_fixture_resume(d);
    json_decref(await_status(id, "delivered"));
    ck_assert(!somebody_calls(300));
}
END_TEST

/* ---- not told ---- */

START_TEST(test_private)
{
    static const char *const plain[] = {"--webhook-delays", "0.01", "--cores", "2", NULL};
    static const char *const urls[] = {"http://127.0.0.1:%d/",
                                       "http://localhost:%d/",
                                       "http://[::1]:%d/",
                                       "http://0.0.0.0:%d/",
                                       "http://[::ffff:127.0.0.1]:%d/",
                                       "http://2130706433:%d/",
                                       "http://0x7f.1:%d/",
                                       "https://10.0.0.1:%d/",
                                       "http://169.254.169.254:%d/",
                                       "http://192.168.1.1:%d/",
                                       "http://[fe80::1]:%d/",
                                       "http://[fd00::1]:%d/",
                                       "http://[64:ff9b::7f00:1]:%d/",
                                       "http://[2002:7f00:1::]:%d/",
                                       "http://224.0.0.1:%d/",
                                       "http://100.64.0.1:%d/"};
    enum { URLS = sizeof urls / sizeof *urls };
    char ids[URLS][33];
    daemon_fixture_stop(d);
    daemon_fixture_start(d, plain);
    for (int i = 0; i < URLS; i++) {
        char url[100];
        snprintf(url, sizeof url, urls[i], port); /* NOLINT: the formats are above */
        post(url, ids[i]);
    }
    for (int i = 0; i < URLS; i++) {
        json_t *session = await_status(ids[i], "failed");
        ck_assert_msg(strstr(json_text(session, "webhook/message"), "private"), "%s: %s", urls[i],
                      json_text(session, "webhook/message"));
        json_decref(session);
    }
    ck_assert(!somebody_calls(100));
}
END_TEST

START_TEST(test_scenes)
{
    static const char *const bad[] = {"\"http://a/\"",
                                      "{}",
                                      "{\"url\": 3}",
                                      "{\"url\": \"ftp://a/\"}",
                                      "{\"url\": \"http://\"}",
                                      "{\"url\": \"http://user:pass@a/\"}",
                                      "{\"url\": \"file:///etc/passwd\"}",
                                      "{\"url\": \"http://a/ b\"}",
                                      "{\"url\": \"http://a/\\r\\nX: y\"}",
                                      "{\"url\": \"http://a\", \"secret\": \"x\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char more[200];
        snprintf(more, sizeof more, ", \"webhook\": %s", bad[i]);
        char *scene = session_scene(1, 1, more);
        http_reply *r = http_post(d, "/v1/sessions", scene);
        const json_t *faults = http_problem(r, 422, "invalid_scene");
        ck_assert_msg(strncmp(json_text(faults, "0/pointer"), "/webhook", 8) == 0, "%s", r->body);
        http_reply_free(r);
        free(scene);
    }
}
END_TEST

/* PATCH gives one, and takes it back; a deleted session tells nothing. */
START_TEST(test_patched)
{
    char id[33], target[64], body[128];
    session_post_free(d, session_scene_endless(""), id);
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    snprintf(body, sizeof body, "{\"webhook\": {\"url\": \"http://127.0.0.1:%d/x\"}}", port);
    for (int round = 0; round < 2; round++) {
        http_reply *r = http_call(d, "PATCH", target, "Content-Type: application/json\r\n",
                                  round ? "{\"webhook\": null}" : body, round ? 17 : strlen(body));
        http_expect(r, 200);
        ck_assert_int_eq(json_is_null(json_at(r->json, "webhook")), round);
        http_reply_free(r);
    }
    session_await(d, id, "running");
    http_reply *r = http_call(d, "PATCH", target, "Content-Type: application/json\r\n", body,
                              strlen(body));
    http_expect(r, 200);
    http_reply_free(r);
    session_tell(d, id, "cancel");
    char *call = take_call(GOOD);
    ck_assert_ptr_nonnull(strstr(call, "\"cancelled\""));
    free(call);
    /* Deleted while it runs: there is nothing left to tell of. */
    char url[64];
    snprintf(url, sizeof url, ", \"webhook\": {\"url\": \"http://127.0.0.1:%d/x\"}", port);
    session_post_free(d, session_scene_endless(url), id);
    session_await(d, id, "running");
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    http_reply_free(http_call(d, "DELETE", target, NULL, NULL, 0));
    session_await_gone(d, id);
    ck_assert(!somebody_calls(300));
}
END_TEST

/* Whether a reply to this token has the URL in it. */
static bool shown(const char *secret, const char *target)
{
    http_reply *r = tenant_call(d, secret, "GET", target, NULL, NULL);
    http_expect(r, 200);
    bool found = memmem(r->body, r->length, "/?a=b", 5);
    http_reply_free(r);
    return found;
}

/* A user who may only view a session does not see the URL, which may hold a secret: not in the session, its scene, its
 * events, or a branch of it. */
START_TEST(test_hidden_from_viewers)
{
    static const char *const parts[] = {
        "/v1/sessions/%s",        "/v1/sessions?state=succeeded%.0s",     "/v1/sessions/%s/scene",
        "/v1/sessions/%s/stream", "/v1/sessions/%s/scene?form=effective", "/v1/events?since=0%.0s"};
    enum { IN_THEM = 4, PARTS = sizeof parts / sizeof *parts };
    char alice[TENANT_SECRET], bob[TENANT_SECRET], target[128], scene[600], id[33];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_group(d, "lab");
    tenant_member(d, "lab", "alice", "manage");
    tenant_member(d, "lab", "bob", "view");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    char *plain = session_scene(1, 1, "");
    snprintf(scene, sizeof scene, "{\"webhook\": {\"url\": \"http://127.0.0.1:%d/?a=b\"},%s", port,
             plain + 1);
    free(plain);
    http_reply *r = tenant_call(d, alice, "POST", "/v1/sessions?group=lab", NULL, scene);
    http_expect(r, 201);
    ck_assert_ptr_nonnull(strstr(r->body, "a=b"));
    snprintf(id, sizeof id, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    free(take_call(GOOD));
    json_decref(await_status(id, "delivered"));
    for (int i = 0; i < PARTS; i++) {
        snprintf(target, sizeof target, parts[i], id);
        ck_assert_msg(shown(alice, target) == (i < IN_THEM), "%s", target);
        ck_assert_msg(!shown(bob, target), "%s", target);
    }
    snprintf(target, sizeof target, "/v1/sessions/%s/branch", id);
    r = tenant_call(d, bob, "POST", target, NULL, "{\"frame\": 0}");
    http_expect(r, 201);
    ck_assert(json_is_null(json_object_get(r->json, "webhook")));
    snprintf(target, sizeof target, "/v1/sessions/%s/scene", json_text(r->json, "id"));
    http_reply_free(r);
    ck_assert(!shown(bob, target));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("webhooks");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, test_hmac);
    TCase *told = tcase_create("told");
    tcase_set_timeout(told, 180);
    tcase_add_checked_fixture(told, start, stop);
    tcase_add_test(told, test_told);
    tcase_add_test(told, test_secrets);
    tcase_add_test(told, test_retried);
    tcase_add_test(told, test_given_up);
    tcase_add_test(told, test_over_restart);
    tcase_add_test(told, test_private);
    tcase_add_test(told, test_scenes);
    tcase_add_test(told, test_patched);
    tcase_add_test(told, test_hidden_from_viewers);
    Suite *suite = suite_create("webhooks");
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, told);
    return run_suite(suite);
}
