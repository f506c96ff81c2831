/* The dashboard and the documentation as a browser gets them: what their pages may do, how their files are kept, and
 * the gallery. What the dashboard does is tested in tests/web, how the documentation is made in tests/python.
 */
#include "tests/support/http_client.h"
#include "tests/support/one_daemon.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void start(void)
{
    static const char *const options[] = {"--cores", "2", NULL};
    daemon_fixture_start(d, options);
}

static http_reply *get(const char *target, const char *headers)
{
    char all[400];
    snprintf(all, sizeof all, "X-No-Authorization: 1\r\n%s", headers);
    return http_call(d, "GET", target, all, NULL, 0);
}

static bool has(const http_reply *r, const char *name, const char *text)
{
    const char *value = http_header(r, name);
    return value && strstr(value, text);
}

/* The address of the page's file of this kind, NULL where the dashboard was not built. */
static const char *asset(const char *ending)
{
    static char address[128];
    http_reply *r = get("/", "");
    http_expect(r, 200);
    for (const char *at = r->body; (at = strstr(at, "/assets/")); at++) {
        size_t length = strcspn(at, "\"");
        snprintf(address, sizeof address, "%.*s", (int)length, at);
        if (length > strlen(ending) &&
            strcmp(address + strlen(address) - strlen(ending), ending) == 0) {
            http_reply_free(r);
            return address;
        }
    }
    ck_assert_ptr_nonnull(strstr(r->body, "was not built"));
    http_reply_free(r);
    return NULL;
}

/* ---- what the page may do ---- */

START_TEST(the_page_is_guarded)
{
    static const char *const pages[] = {"/", "/front.js"};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        http_reply *r = get(pages[i], "");
        http_expect(r, 200);
        ck_assert(has(r, "Content-Security-Policy", "default-src 'none'; script-src 'self';"));
        ck_assert(has(r, "Content-Security-Policy", "connect-src 'self'"));
        ck_assert(has(r, "Content-Security-Policy", "frame-ancestors 'none'"));
        ck_assert(has(r, "Content-Security-Policy", "base-uri 'none'; form-action 'none'"));
        ck_assert(!has(r, "Content-Security-Policy", "unsafe"));
        ck_assert(!has(r, "Content-Security-Policy", "http"));
        ck_assert_str_eq(http_header(r, "X-Content-Type-Options"), "nosniff");
        ck_assert_str_eq(http_header(r, "X-Frame-Options"), "DENY");
        ck_assert_str_eq(http_header(r, "Referrer-Policy"), "no-referrer");
        ck_assert_str_eq(http_header(r, "Cross-Origin-Opener-Policy"), "same-origin");
        ck_assert_str_eq(http_header(r, "Cross-Origin-Resource-Policy"), "same-origin");
        ck_assert_ptr_null(http_header(r, "Access-Control-Allow-Origin"));
        http_reply_free(r);
    }
    /* A name that was made to point here gets no page, so its scripts find nothing of ours to run. */
    static const char rebound[] =
        "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    http_reply *r = http_raw(d, rebound, sizeof rebound - 1);
    http_problem(r, 421, "misdirected");
    http_reply_free(r);
}
END_TEST

START_TEST(the_page_names_nothing_elsewhere)
{
    http_reply *r = get("/", "");
    ck_assert_ptr_null(strstr(r->body, "://"));
    ck_assert_ptr_null(strstr(r->body, "<style"));
    for (const char *at = r->body; (at = strstr(at, "<script")); at++)
        ck_assert_int_eq(strncmp(strchr(at, '>'), "></script>", 10), 0);
    http_reply_free(r);
}
END_TEST

/* ---- its files ---- */

#define NOT_BUILT "the dashboard was not built (make says why)"

START_TEST(files_are_kept_for_good)
{
    static const struct {
        const char *ending, *type;
    } kinds[] = {{".js", "text/javascript"}, {".css", "text/css"}, {".svg", "image/svg+xml"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *address = asset(kinds[i].ending);
        if (!address)
            skip_test("web: files_are_kept_for_good: " NOT_BUILT);
        http_reply *r = get(address, "");
        http_expect(r, 200);
        ck_assert(has(r, "Content-Type", kinds[i].type));
        ck_assert_str_eq(http_header(r, "Cache-Control"), "public, max-age=31536000, immutable");
        ck_assert(has(r, "Content-Security-Policy", "default-src 'none'"));
        http_reply_free(r);
    }
    http_reply *r = get("/assets/main-0000000000.js", "");
    http_problem(r, 404, "not_found");
    http_reply_free(r);
    r = get("/assets/index.html", "");
    http_problem(r, 404, "not_found");
    http_reply_free(r);
    r = get("/", "");
    ck_assert_str_eq(http_header(r, "Cache-Control"), "no-cache");
    http_reply_free(r);
}
END_TEST

/* Gzip for clients that accept it, with a separate tag; the original bytes for others. */
START_TEST(files_are_packed)
{
    static const struct {
        const char *accept;
        bool packed;
    } rows[] = {
        {"gzip, deflate, br, zstd", true},
        {"br;q=1.0, GZIP;q=0.5", true},
        {"*", true},
        {"deflate,gzip", true},
        {"gzip;q=0", false},
        {"gzip; q=0.000, *;q=0.5", false},
        {"identity", false},
        {"br", false},
        {"xgzip", false},
        {"", false},
    };
    const char *address = asset(".js");
    if (!address)
        skip_test("web: files_are_packed: " NOT_BUILT);
    char tags[2][80] = {"", ""};
    size_t sizes[2] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char headers[200];
        snprintf(headers, sizeof headers, "Accept-Encoding: %s\r\n", rows[i].accept);
        http_reply *r = get(address, rows[i].accept[0] ? headers : "");
        http_expect(r, 200);
        const char *coding = http_header(r, "Content-Encoding");
        ck_assert_msg(rows[i].packed == (coding && strcmp(coding, "gzip") == 0), "%s: %s",
                      rows[i].accept, coding ? coding : "plain");
        ck_assert_int_eq((unsigned char)r->body[0] == 0x1f, rows[i].packed);
        ck_assert_str_eq(http_header(r, "Vary"), "Accept-Encoding");
        snprintf(tags[rows[i].packed], sizeof tags[0], "%s", http_header(r, "ETag"));
        sizes[rows[i].packed] = r->length;
        http_reply_free(r);
    }
    ck_assert_str_ne(tags[0], tags[1]);
    ck_assert_uint_lt(sizes[1], sizes[0]);
    for (int packed = 0; packed < 2; packed++) {
        char headers[240];
        snprintf(headers, sizeof headers, "Accept-Encoding: %s\r\nIf-None-Match: %s\r\n",
                 packed ? "gzip" : "identity", tags[packed]);
        http_reply *r = get(address, headers);
        http_expect(r, 304);
        ck_assert_uint_eq(r->length, 0);
        http_reply_free(r);
    }
}
END_TEST

/* A visitor's first page is paid for with this. */
START_TEST(the_page_is_small)
{
    size_t bytes = 0;
    static const char *const kinds[] = {".js", ".css", ".svg"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *address = asset(kinds[i]);
        if (!address)
            skip_test("web: the_page_is_small: " NOT_BUILT);
        http_reply *r = get(address, "Accept-Encoding: gzip\r\n");
        http_expect(r, 200);
        bytes += r->length;
        http_reply_free(r);
    }
    ck_assert_uint_lt(bytes, 300 * 1000);
}
END_TEST

/* ---- the documentation ---- */

START_TEST(the_documentation_has_an_address)
{
    static const char *const methods[] = {"GET", "HEAD"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        http_reply *r = http_call(d, methods[i], "/docs", "X-No-Authorization: 1\r\n", NULL, 0);
        http_expect(r, 308);
        ck_assert_str_eq(http_header(r, "Location"), "/docs/");
        ck_assert_uint_eq(r->length, 0);
        http_reply_free(r);
    }
    http_reply *r = get("/docs/nothing.html", "");
    http_problem(r, 404, "not_found");
    http_reply_free(r);
    r = get("/docs/nothing/index.html", "");
    http_problem(r, 404, "not_found");
    http_reply_free(r);
    r = http_call(d, "DELETE", "/docs/", NULL, NULL, 0);
    http_problem(r, 405, "method_not_allowed");
    http_reply_free(r);
}
END_TEST

/* No scripts, nothing from elsewhere, in nobody's frame; a drawing may have a sheet of its own. */
static void expect_documentation(const char *target, const char *type, const char *caching,
                                 const char *policy)
{
    char headers[160];
    http_reply *r = get(target, "Accept-Encoding: gzip\r\n");
    http_expect(r, 200);
    ck_assert(has(r, "Content-Type", type));
    ck_assert_str_eq(http_header(r, "Content-Security-Policy"), policy);
    ck_assert_str_eq(http_header(r, "X-Content-Type-Options"), "nosniff");
    ck_assert_str_eq(http_header(r, "X-Frame-Options"), "DENY");
    ck_assert_str_eq(http_header(r, "Cache-Control"), caching);
    snprintf(headers, sizeof headers, "Accept-Encoding: gzip\r\nIf-None-Match: %s\r\n",
             http_header(r, "ETag"));
    http_reply_free(r);
    r = get(target, headers);
    http_expect(r, 304);
    ck_assert_str_eq(http_header(r, "Content-Security-Policy"), policy);
    http_reply_free(r);
    r = http_call(d, "HEAD", target, "X-No-Authorization: 1\r\n", NULL, 0);
    http_expect(r, 200);
    ck_assert(has(r, "Content-Type", type));
    ck_assert_uint_eq(r->length, 0);
    http_reply_free(r);
}

#define NOTHING_ELSE "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#define FOR_GOOD     "public, max-age=31536000, immutable"

START_TEST(the_documentation_is_guarded)
{
    static const char policy[] =
        "default-src 'none'; style-src 'self'; img-src 'self'" NOTHING_ELSE;
    expect_documentation("/docs/", "text/html; charset=utf-8", "no-cache", policy);
    http_reply *r = get("/docs/", "");
    ck_assert_ptr_null(strstr(r->body, "<script"));
    bool built = strstr(r->body, "<article>") != NULL;
    if (!built)
        ck_assert_ptr_nonnull(strstr(r->body, "<code>make docs</code>"));
    char sheet[80], icon[80];
    const char *style = strstr(r->body, "href=\"style-"),
               *drawing = strstr(r->body, "href=\"icon-");
    snprintf(sheet, sizeof sheet, "/docs/%.*s", style ? (int)strcspn(style + 6, "\"") : 0,
             style ? style + 6 : "");
    snprintf(icon, sizeof icon, "/docs/%.*s", drawing ? (int)strcspn(drawing + 6, "\"") : 0,
             drawing ? drawing + 6 : "");
    http_reply_free(r);
    if (!built)
        skip_test("web: the_documentation_is_guarded: it was not built (make docs says why)");
    expect_documentation("/docs/index.html", "text/html; charset=utf-8", "no-cache", policy);
    expect_documentation("/docs/scene.html", "text/html; charset=utf-8", "no-cache", policy);
    expect_documentation(sheet, "text/css; charset=utf-8", FOR_GOOD, policy);
    expect_documentation(icon, "image/svg+xml", FOR_GOOD,
                         "default-src 'none'; style-src 'unsafe-inline'" NOTHING_ELSE);
}
END_TEST

/* ---- who is there ---- */

START_TEST(a_page_learns_who_is_logged_in)
{
    http_reply *r = get("/v1/login", "");
    http_expect(r, 200);
    ck_assert(json_is_null(json_at(r->json, "user")));
    http_reply_free(r);
    r = get("/v1/login", "Cookie: pliant=plt_wrong\r\n");
    http_expect(r, 200);
    ck_assert(json_is_null(json_at(r->json, "user")));
    http_reply_free(r);
    char body[256], cookie[200];
    snprintf(body, sizeof body, "{\"token\": \"%s\"}", d->token);
    r = http_call(d, "POST", "/v1/login",
                  "X-No-Authorization: 1\r\nContent-Type: application/json\r\n", body,
                  strlen(body));
    http_expect(r, 200);
    const char *set = http_header(r, "Set-Cookie");
    snprintf(cookie, sizeof cookie, "Cookie: %.*s\r\n", (int)strcspn(set, ";"), set);
    http_reply_free(r);
    r = get("/v1/login", cookie);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "user"), "owner");
    ck_assert_str_eq(http_header(r, "Cache-Control"), "no-store");
    http_reply_free(r);
}
END_TEST

/* ---- the gallery ---- */

/* Every scene of it is one that the daemon takes. */
START_TEST(the_gallery_can_be_run)
{
    http_reply *list = http_get(d, "/v1/gallery");
    http_expect(list, 200);
    size_t count = json_array_size(json_at(list->json, "items"));
    ck_assert_uint_ge(count, 20);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(json_at(list->json, "items"), i);
        ck_assert_str_ne(json_text(item, "title"), "");
        http_reply *scene = http_get(d, json_text(item, "links/self"));
        http_expect(scene, 200);
        ck_assert_str_eq(json_text(scene->json, "name"), json_text(item, "title"));
        http_reply *checked = http_post(d, "/v1/validate", scene->body);
        ck_assert_msg(checked->status == 200, "%s: %s", json_text(item, "name"), checked->body);
        ck_assert_msg(json_is_true(json_at(checked->json, "valid")), "%s: %s",
                      json_text(item, "name"), checked->body);
        http_reply_free(checked);
        http_reply_free(scene);
    }
    http_reply_free(list);
    http_reply *r = http_get(d, "/v1/gallery/nothing");
    http_problem(r, 404, "not_found");
    http_reply_free(r);
    r = get("/v1/gallery", "");
    http_problem(r, 401, "unauthorized");
    http_reply_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("web");
    tcase_add_checked_fixture(t, start, stop_daemon);
    tcase_set_timeout(t, 180);
    tcase_add_test(t, the_page_is_guarded);
    tcase_add_test(t, the_page_names_nothing_elsewhere);
    tcase_add_test(t, files_are_kept_for_good);
    tcase_add_test(t, files_are_packed);
    tcase_add_test(t, the_page_is_small);
    tcase_add_test(t, the_documentation_has_an_address);
    tcase_add_test(t, the_documentation_is_guarded);
    tcase_add_test(t, a_page_learns_who_is_logged_in);
    tcase_add_test(t, the_gallery_can_be_run);
    return run_cases("web", t);
}
