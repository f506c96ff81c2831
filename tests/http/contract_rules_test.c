/* What holds for every request: tokens, Host and Origin, media types, methods, paths, query keys,
 * sizes, and the framing that a proxy could read differently.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON "Content-Type: application/json\r\n"

#define ID   "00000000000000000000000000000000"
#define HASH ID ID

/* Every request below /v1 that asks for a token. */
static const struct {
    const char *method, *path, *type;
} guarded[] = {
    {"POST", "/v1/sessions", "application/json"},
    {"GET", "/v1/sessions", NULL},
    {"GET", "/v1/sessions/" ID, NULL},
    {"HEAD", "/v1/sessions/" ID, NULL},
    {"PATCH", "/v1/sessions/" ID, "application/json"},
    {"DELETE", "/v1/sessions/" ID, NULL},
    {"POST", "/v1/sessions/" ID "/cancel", NULL},
    {"GET", "/v1/sessions/" ID "/topology", NULL},
    {"GET", "/v1/sessions/" ID "/frames/0", NULL},
    {"GET", "/v1/sessions/" ID "/frames", NULL},
    {"GET", "/v1/sessions/" ID "/metrics", NULL},
    {"GET", "/v1/sessions/" ID "/scene", NULL},
    {"GET", "/v1/sessions/" ID "/log", NULL},
    {"GET", "/v1/sessions/" ID "/files", NULL},
    {"POST", "/v1/validate", "application/json"},
    {"PUT", "/v1/meshes/" HASH, "application/octet-stream"},
    {"GET", "/v1/meshes/" HASH, NULL},
    {"HEAD", "/v1/meshes/" HASH, NULL},
    {"GET", "/v1/capabilities", NULL},
};

/* ---- tokens ---- */

START_TEST(test_token)
{
    char headers[6][256];
    int count = 0;
    snprintf(headers[count++], 256, "Authorization: Bearer %064d\r\n", 0);
    snprintf(headers[count++], 256, "Authorization: Bearer %s0\r\n", d->token);
    snprintf(headers[count++], 256, "Authorization: Bearer %.63s\r\n", d->token);
    snprintf(headers[count++], 256, "Authorization: Bearer\r\n");
    snprintf(headers[count++], 256, "Authorization: Basic %s\r\n", d->token);
    snprintf(headers[count++], 256, "Authorization: %s\r\n", d->token);
    for (int i = 0; i < count; i++) {
        char both[400];
        const char *type = guarded[_i].type;
        snprintf(both, sizeof both, "%.255s%s%s%s", headers[i], type ? "Content-Type: " : "",
                 type ? type : "", type ? "\r\n" : "");
        http_reply *r = http_call(d, guarded[_i].method, guarded[_i].path, both, type ? "{}" : NULL,
                                  type ? 2 : 0);
        http_expect(r, 401);
        ck_assert_ptr_nonnull(http_header(r, "WWW-Authenticate"));
        ck_assert(strncmp(http_header(r, "WWW-Authenticate"), "Bearer", 6) == 0);
        if (strcmp(guarded[_i].method, "HEAD") != 0)
            http_problem(r, 401, "unauthorized");
        http_reply_free(r);
    }
    /* And with it, it is another answer. */
    http_reply *r = http_call(d, guarded[_i].method, guarded[_i].path,
                              guarded[_i].type ? JSON : NULL, guarded[_i].type ? "{}" : NULL,
                              guarded[_i].type ? 2 : 0);
    ck_assert_int_ne(r->status, 401);
    ck_assert_str_eq(http_header(r, "Pliant-Version"), PLIANT_VERSION);
    http_reply_free(r);
}
END_TEST

/* A request without the header at all, and the token's own letters in no reply and no log. */
START_TEST(test_no_token)
{
    char text[256];
    int n = snprintf(text, sizeof text,
                     "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n",
                     guarded[1].method, guarded[1].path, d->port);
    http_reply *r = http_raw(d, text, (size_t)n);
    http_problem(r, 401, "unauthorized");
    ck_assert_ptr_null(strstr(r->body, d->token));
    http_reply_free(r);
}
END_TEST

/* ---- Host and Origin ---- */

/* GET with these header lines and nothing else but the token. */
__attribute__((format(printf, 2, 3))) static http_reply *get_with(const char *target,
                                                                  const char *format, ...)
{
    char lines[512], text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(lines, sizeof lines, format, args);
    va_end(args);
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nAuthorization: Bearer %s\r\nConnection: close\r\n%s\r\n",
                     target, d->token, lines);
    return http_raw(d, text, (size_t)n);
}

START_TEST(test_host)
{
    static const char *const foreign[] = {"evil.example",
                                          "evil.example:80",
                                          "127.0.0.1.evil.example",
                                          "localhost.",
                                          "10.0.0.1",
                                          "x@127.0.0.1",
                                          "127.0.0.1:80:80",
                                          "[::1",
                                          "127.0.0.1:port",
                                          " "};
    static const char *const ours[] = {"localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8080",
                                       "[::1]"};
    static const char *const paths[] = {"/v1/sessions", "/healthz", "/"};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
            http_reply *r = get_with(paths[k], "Host: %s\r\n", foreign[i]);
            ck_assert_msg(r && r->status == 421, "%s: %d", foreign[i], r ? r->status : 0);
            http_problem(r, 421, "misdirected");
            http_reply_free(r);
        }
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
            http_reply *r = get_with(paths[k], "Host: %s\r\n", ours[i]);
            ck_assert_msg(r && r->status == 200, "%s: %d", ours[i], r ? r->status : 0);
            http_reply_free(r);
        }
    }
}
END_TEST

START_TEST(test_allow_host)
{
    static const char *const options[] = {"--allow-host", "pliant.lab", NULL};
    daemon_fixture_stop(d);
    daemon_fixture_start(d, options);
    http_reply *r = get_with("/v1/sessions", "Host: pliant.lab:8443\r\n");
    http_expect(r, 200);
    http_reply_free(r);
    r = get_with("/v1/sessions", "Host: other.lab\r\n");
    http_expect(r, 421);
    http_reply_free(r);
}
END_TEST

/* A page of another origin cannot submit, with the token or without. */
START_TEST(test_origin)
{
    static const char *const foreign[] = {"http://evil.example", "null",    "https://127.0.0.1:1",
                                          "http://127.0.0.1",    "file://", ""};
    char *scene = session_scene(1, 1, ""), headers[256];
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        snprintf(headers, sizeof headers, JSON "Origin: %s\r\n", foreign[i]);
        http_reply *r = http_call(d, "POST", "/v1/sessions", headers, scene, strlen(scene));
        ck_assert_msg(r->status == 403, "'%s': %d", foreign[i], r->status);
        http_problem(r, 403, "foreign_origin");
        ck_assert_ptr_null(http_header(r, "Access-Control-Allow-Origin"));
        http_reply_free(r);
        snprintf(headers, sizeof headers, "Origin: %s\r\n", foreign[i]);
        r = http_call(d, "GET", "/v1/sessions", headers, NULL, 0);
        ck_assert_int_eq(r->status, 403);
        http_reply_free(r);
    }
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
    http_reply *r = http_call(d, "OPTIONS", "/v1/sessions",
                              "Origin: http://evil.example\r\n"
                              "Access-Control-Request-Method: POST\r\n",
                              NULL, 0);
    ck_assert_int_ge(r->status, 400);
    ck_assert_ptr_null(http_header(r, "Access-Control-Allow-Origin"));
    http_reply_free(r);
    snprintf(headers, sizeof headers, JSON "Origin: http://127.0.0.1:%d\r\n", d->port);
    r = http_call(d, "POST", "/v1/sessions", headers, scene, strlen(scene));
    http_expect(r, 201);
    session_await(d, json_text(r->json, "id"), "succeeded");
    http_reply_free(r);
    free(scene);
}
END_TEST

/* ---- media types, methods, paths, queries ---- */

START_TEST(test_content_type)
{
    static const struct {
        const char *line;
        bool good;
    } types[] = {
        {"", false},
        {"Content-Type: text/plain\r\n", false},
        {"Content-Type: application/x-www-form-urlencoded\r\n", false},
        {"Content-Type: multipart/form-data; boundary=x\r\n", false},
        {"Content-Type: application/jsonx\r\n", false},
        {"Content-Type: application/octet-stream\r\n", false},
        {JSON, true},
        {"Content-Type: application/json; charset=utf-8\r\n", true},
        {"Content-Type: APPLICATION/JSON\r\n", true},
    };
    static const char *const routes[] = {"/v1/sessions", "/v1/validate"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < 2; k++) {
            http_reply *r = http_call(d, "POST", routes[k], types[i].line, "{}", 2);
            http_expect(r, types[i].good ? 422 : 415);
            if (!types[i].good)
                http_problem(r, 415, "unsupported_media_type");
            http_reply_free(r);
        }
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
}
END_TEST

START_TEST(test_method)
{
    static const struct {
        const char *method, *path, *allow[8];
    } rows[] = {
        {"DELETE", "/v1/sessions", {"GET", "HEAD", "POST"}},
        {"PUT", "/v1/sessions/" ID, {"GET", "HEAD", "PATCH", "DELETE"}},
        {"GET", "/v1/sessions/" ID "/cancel", {"POST"}},
        {"POST", "/v1/sessions/" ID "/topology", {"GET", "HEAD"}},
        {"PATCH", "/v1/sessions/" ID "/frames/0", {"GET", "HEAD"}},
        {"GET", "/v1/validate", {"POST"}},
        {"POST", "/v1/meshes/" HASH, {"GET", "HEAD", "PUT", "DELETE"}},
        {"POST", "/healthz", {"GET", "HEAD"}},
        {"DELETE", "/", {"GET", "HEAD"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_reply *r = http_call(d, rows[i].method, rows[i].path, NULL, NULL, 0);
        http_problem(r, 405, "method_not_allowed");
        const char *allow = http_header(r, "Allow");
        ck_assert_ptr_nonnull(allow);
        size_t length = 0;
        int count = 0;
        for (; rows[i].allow[count]; count++) {
            ck_assert_msg(strstr(allow, rows[i].allow[count]) != NULL, "%s: %s", rows[i].path,
                          allow);
            length += strlen(rows[i].allow[count]);
        }
        ck_assert_msg(strlen(allow) == length + 2 * ((size_t)count - 1), "%s: %s", rows[i].path,
                      allow);
        http_reply_free(r);
    }
}
END_TEST

START_TEST(test_no_path)
{
    static const char *const paths[] = {"/nope",
                                        "/v1",
                                        "/v1/",
                                        "/v1/sessions/",
                                        "//",
                                        "/v1//sessions",
                                        "/v1/sessions/" ID "/nope",
                                        "/v1/sessions/" ID "/frames/0/1",
                                        "/v2/sessions",
                                        "/healthz/",
                                        "/%2e%2e/token",
                                        "/v1/capabilities%00/../x",
                                        "/../token",
                                        "/v1/sessions/" ID "/../../../token"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        http_reply *r = http_get(d, paths[i]);
        ck_assert_msg(r->status == 404, "%s: %d", paths[i], r->status);
        ck_assert_str_eq(http_header(r, "Content-Type"), "application/problem+json");
        ck_assert_ptr_null(strstr(r->body, d->token));
        http_reply_free(r);
    }
}
END_TEST

/* A resource has fixed media types; others are rejected with 406 and the list. */
START_TEST(test_not_acceptable)
{
    static const struct {
        const char *path, *type;
    } rows[] = {{"/v1/sessions", "application/json"},
                {"/v1/capabilities", "application/json"},
                {"/healthz", "application/json"},
                {"/", "text/html"},
                {"/metrics", "text/plain"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_reply *r = http_get_as(d, rows[i].path, "image/png");
        http_problem(r, 406, "not_acceptable");
        ck_assert_ptr_nonnull(strstr(r->body, rows[i].type));
        http_reply_free(r);
        static const char *const good[] = {"*/*", "image/png, */*;q=0.1", "text/html;q=0.5,*/*"};
        for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
            r = http_get_as(d, rows[i].path, good[k]);
            http_expect(r, 200);
            http_reply_free(r);
        }
        r = http_get_as(d, rows[i].path, rows[i].type);
        http_expect(r, 200);
        http_reply_free(r);
    }
}
END_TEST

START_TEST(test_query_keys)
{
    static const struct {
        const char *target, *key, *near;
    } rows[] = {
        {"/v1/sessions?stat=running", "stat", "state"},
        {"/v1/sessions?limt=3", "limt", "limit"},
        {"/v1/sessions/" ID "?wiat=3", "wiat", "wait"},
        {"/v1/sessions/" ID "/frames?form=3", "form", "from"},
        {"/v1/sessions/" ID "/metrics?folow=1", "folow", "follow"},
        {"/v1/sessions/" ID "/scene?from=posted", "from", "form"},
        {"/v1/sessions/" ID "/topology?arry=tets", "arry", "array"},
        {"/healthz?verbose=1", "verbose", ""},
        {"/v1/capabilities?x", "x", ""},
        {"/v1/sessions?state=running&state=failed", "state", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_reply *r = http_get(d, rows[i].target);
        const json_t *faults = http_problem(r, 400, "bad_query");
        ck_assert_uint_eq(json_array_size(faults), 1);
        ck_assert_str_eq(json_text(faults, "0/got"), rows[i].key);
        ck_assert_msg(strstr(json_text(faults, "0/hint"), rows[i].near) != NULL, "%s", r->body);
        http_reply_free(r);
    }
    http_reply *r = http_call(d, "POST", "/v1/sessions?dry=1", JSON, "{}", 2);
    http_problem(r, 400, "bad_query");
    http_reply_free(r);
}
END_TEST

/* ---- sizes ---- */

START_TEST(test_too_large)
{
    static const char *const options[] = {"--max-body", "4096", NULL};
    static const char *const routes[] = {"/v1/sessions", "/v1/validate"};
    char body[8192], head[512];
    daemon_fixture_stop(d);
    daemon_fixture_start(d, options);
    memset(body, ' ', sizeof body);
    memcpy(body, "{}", 2);
    for (int k = 0; k < 2; k++) {
        http_reply *r = http_call(d, "POST", routes[k], JSON, body, 4096);
        http_expect(r, 422);
        http_reply_free(r);
        r = http_call(d, "POST", routes[k], JSON, body, 4097);
        http_problem(r, 413, "too_large");
        http_reply_free(r);
    }
    int n = snprintf(head, sizeof head,
                     "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                     "Connection: close\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n2000\r\n",
                     d->token);
    http_connection *c = http_open(d);
    ck_assert(http_write(c, head, (size_t)n) && http_write(c, body, sizeof body) &&
              http_write(c, "\r\n0\r\n\r\n", 7));
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    http_expect(r, 413);
    http_reply_free(r);
    http_close(c);
}
END_TEST

/* ---- framing ---- */

enum { FRAMINGS = 32 };

/* Chunks came with HTTP/1.1: an older proxy would pass them on as something else. */
START_TEST(test_old_chunks)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "POST /v1/validate HTTP/1.0\r\nAuthorization: Bearer %s\r\n" JSON
                     "Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                     d->token);
    http_reply *r = http_raw(d, text, (size_t)n);
    http_problem(r, 400, "bad_framing");
    http_reply_free(r);
}
END_TEST

/* 400, the connection closes, and what follows on it is never taken for a request. */
START_TEST(test_framing)
{
    static const char *const lines[FRAMINGS] = {
        "Host: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n",
        "Host: localhost\r\nContent-Length: 2\r\nContent-Length: 30\r\n",
        "Host: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Host: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "Host: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Host: localhost\r\nTransfer-Encoding: gzip\r\n",
        "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n",
        "Host: localhost\r\nHost: localhost\r\nContent-Length: 2\r\n",
        "Host: localhost\r\nHost: evil.example\r\nContent-Length: 2\r\n",
        "Content-Length: 2\r\n",
        "Host : localhost\r\nHost: localhost\r\nContent-Length: 2\r\n",
        "Host: localhost\r\nContent-Length : 2\r\n",
        "Host: localhost\r\nTransfer-Encoding : chunked\r\nContent-Length: 2\r\n",
        "Host: localhost\r\nContent-Length: -1\r\n",
        "Host: localhost\r\nContent-Length: 2, 2\r\n",
        "Host: localhost\r\nContent-Length: 0x2\r\n",
        "Host: localhost\r\nContent-Length: 99999999999999999999999\r\n",
        "Host: localhost\r\nContent-Length: +2\r\n",
        "Host: localhost\r\nContent-Length: 2 3\r\n",
        "Host: localhost\r\nContent-Length:\r\n",
        "Host: localhost\r\nContent-Length: 2\r\n 3\r\n",
        "Host: localhost\r\nX: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "Host: localhost\r\n Content-Length: 2\r\n",
        "Host: localhost\r\nX: y\rContent-Length: 2\r\n",
        "Host: localhost\r\nContent-Length 2\r\n",
        "Host: localhost\r\nX: y\x01z\r\nContent-Length: 2\r\n",
        "Host: localhost\r\nTransfer-Encoding: \x0b"
        "chunked\r\n",
        "Host: localhost\r\nTransfer-Encoding: chunked,\r\n",
        "Host: localhost\r\nTransfer-Encoding: xchunked\r\n",
        "Host: localhost\r\nTransfer-Encoding: \"chunked\"\r\n",
        "Host: localhost\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n",
        "host: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n",
    };
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "POST /v1/validate HTTP/1.1\r\nAuthorization: Bearer %s\r\n" JSON "%s\r\n{}"
                     "GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     d->token, lines[_i]);
    http_connection *c = http_open(d);
    ck_assert(http_write(c, text, (size_t)n));
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(r->status, _i == 16 ? 413 : 400);
    (void)http_read_body(c, r);
    http_reply *second = http_read_head(c);
    ck_assert_msg(second == NULL, "a second reply: %d", second ? second->status : 0);
    ck_assert(http_await_close(c, HTTP_PATIENCE_S));
    http_reply_free(r);
    http_close(c);
}
END_TEST

/* A connection is for many requests, also when they are sent at once, and after refusals. */
START_TEST(test_keep_alive)
{
    static const struct {
        const char *target;
        int status;
    } rows[] = {{"/v1/version", 200},
                {"/nope", 404},
                {"/v1/sessions?limit=0", 400},
                {"/v1/sessions", 200},
                {"/healthz", 200}};
    size_t count = sizeof rows / sizeof *rows;
    http_connection *c = http_open(d);
    for (int together = 0; together < 2; together++) {
        for (size_t i = 0; together && i < count; i++)
            http_ask(c, d, rows[i].target, NULL);
        for (size_t i = 0; i < count; i++) {
            if (!together)
                http_ask(c, d, rows[i].target, NULL);
            http_reply *r = http_read_head(c);
            ck_assert_ptr_nonnull(r);
            ck_assert_int_eq(r->status, rows[i].status);
            ck_assert(http_read_body(c, r));
            http_reply_free(r);
        }
    }
    http_close(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: rules");
    TCase *shared = tcase_create("on one daemon");
    tcase_set_timeout(shared, 180);
    tcase_add_unchecked_fixture(shared, start_daemon, stop_daemon);
    tcase_add_loop_test(shared, test_token, 0, sizeof guarded / sizeof *guarded);
    tcase_add_test(shared, test_no_token);
    tcase_add_test(shared, test_host);
    tcase_add_test(shared, test_content_type);
    tcase_add_test(shared, test_method);
    tcase_add_test(shared, test_no_path);
    tcase_add_test(shared, test_not_acceptable);
    tcase_add_test(shared, test_query_keys);
    tcase_add_test(shared, test_old_chunks);
    tcase_add_loop_test(shared, test_framing, 0, FRAMINGS);
    tcase_add_test(shared, test_keep_alive);
    suite_add_tcase(suite, shared);
    TCase *own = tcase_create("on a fresh daemon");
    tcase_set_timeout(own, 180);
    tcase_add_checked_fixture(own, start_daemon, stop_daemon);
    tcase_add_test(own, test_allow_host);
    tcase_add_test(own, test_origin);
    tcase_add_test(own, test_too_large);
    suite_add_tcase(suite, own);
    return run_suite(suite);
}
