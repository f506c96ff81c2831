/* Malicious clients, and service for everybody else meanwhile: connections that send nothing, endless rejected
 * requests, heads that two parsers read differently, and attempts to learn what others have.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include "protocol/text/sha256.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define JSON "Content-Type: application/json\r\n"

/* ---- connections ---- */

enum { SILENT = 1300 };
static http_connection *silent[SILENT];

static void open_silent(int count)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < count; i++)
        silent[i] = http_open(d);
}

static void close_silent(int count)
{
    for (int i = 0; i < count; i++)
        http_close(silent[i]);
}

/* A request on a connection that is kept. */
static void ask_kept(http_connection *c, const char *target)
{
    http_ask(c, d, target, NULL);
    http_reply *r = http_read_head(c);
    ck_assert_msg(r != NULL, "the connection was closed");
    http_expect(r, 200);
    ck_assert(http_read_body(c, r));
    http_reply_free(r);
}

/* A logged-in user keeps the connection, others get one, and health is answered. */
START_TEST(test_silent_connections)
{
    http_connection *kept = http_open(d);
    ask_kept(kept, "/v1/me");
    open_silent(SILENT);
    static const char *const targets[] = {"/healthz", "/readyz", "/v1/sessions", "/metrics"};
    for (int turn = 0; turn < 5; turn++) {
        for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
            http_reply *r = http_get(d, targets[i]);
            http_expect(r, 200);
            http_reply_free(r);
        }
    }
    ask_kept(kept, "/v1/me");
    http_close(kept);
    for (double last = daemon_fixture_clock() + HTTP_PATIENCE_S;
         session_counter(d, "connections_evicted_total") < SILENT / 3; daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < last);
    close_silent(SILENT);
}
END_TEST

/* One user's streams do not fill the daemon: others are served, and health is answered. */
START_TEST(test_streams_of_one)
{
    enum { MOST = 40, STREAMS = 60 };
    static const char *const options[] = {"--cores", "2", "--max-connections", "40", NULL};
    char greedy[TENANT_SECRET], other[TENANT_SECRET], id[33], head[200], target[80];
    http_connection *streams[STREAMS];
    int refused = 0;
    daemon_fixture_start(d, options);
    tenant_user(d, "greedy");
    tenant_user(d, "other");
    tenant_token(d, "greedy", "read submit", greedy, NULL);
    tenant_token(d, "other", "read submit", other, NULL);
    tenant_session(d, greedy, NULL, id);
    snprintf(head, sizeof head, "Authorization: Bearer %s\r\nAccept: text/event-stream\r\n",
             greedy);
    snprintf(target, sizeof target, "/v1/sessions/%s/events", id);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = http_open(d);
        http_ask(streams[i], d, target, head);
        http_reply *r = http_read_head(streams[i]);
        ck_assert(r != NULL);
        ck_assert_msg(r->status == 200 || r->status == 503, "%d", r->status);
        refused += r->status == 503;
        http_reply_free(r);
    }
    ck_assert_int_ge(refused, STREAMS - MOST);
    http_reply *r = tenant_call(d, other, "GET", "/v1/sessions", NULL, NULL);
    http_expect(r, 200);
    http_reply_free(r);
    /* Early rejections are timed like any other reply. */
    char series[140];
    snprintf(series, sizeof series,
             "http_request_seconds_count{method=\"GET\",route=\"/v1/sessions/{id}/events\","
             "status=\"5xx\"}");
    ck_assert_int_eq(session_counter(d, series), refused);
    r = tenant_call(d, NULL, "GET", "/healthz", NULL, NULL);
    http_expect(r, 200);
    http_reply_free(r);
    for (int i = 0; i < STREAMS; i++)
        http_close(streams[i]);
    stop_daemon();
}
END_TEST

/* ---- audit ---- */

static int count_audit(const char *user, const char *words)
{
    char target[96];
    int count = 0;
    snprintf(target, sizeof target, "/v1/audit?user=%s&limit=200", user);
    http_reply *r = http_get(d, target);
    http_expect(r, 200);
    const json_t *items = json_at(r->json, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *one = json_array_get(items, i);
        count += strstr(json_text(one, "action"), words) || strstr(json_text(one, "target"), words);
    }
    http_reply_free(r);
    return count;
}

/* The first rejected requests of a minute are recorded, the others are counted. */
START_TEST(test_refused_requests)
{
    enum { REFUSED = 200 };
    char secret[TENANT_SECRET];
    tenant_user(d, "mallory");
    tenant_token(d, "mallory", "read submit", secret, NULL);
    for (int i = 0; i < REFUSED; i++) {
        http_reply *r = tenant_call(d, secret, "DELETE",
                                    "/v1/sessions/00000000000000000000000000000000", NULL, NULL);
        http_expect(r, 404);
        http_reply_free(r);
    }
    daemon_fixture_end(d, SIGTERM);
    daemon_fixture_resume(d);
    int noted = count_audit("mallory", "DELETE /v1/sessions/{id}");
    ck_assert_int_ge(noted, 20);
    ck_assert_int_le(noted, 60); /* a minute may end within */
    ck_assert_int_ge(count_audit("mallory", "refused requests"), 1);
    ck_assert_int_ge(count_audit("mallory", "more in this minute"), 1);
}
END_TEST

/* ---- heads ---- */

/* After the answer to HEAD nothing is sent that would be taken for the next answer. */
START_TEST(test_head)
{
    static const char *const targets[] = {"/v1/sessions/%s/frames", "/v1/sessions/%s/metrics",
                                          "/v1/sessions/%s/export?format=npz",
                                          "/v1/sessions/%s/events", "/v1/sessions/%s"};
    char id[33], target[96], text[512], answer[4096];
    session_run(d, session_scene(2, 1, ""), id);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        http_connection *c = http_open(d);
        snprintf(target, sizeof target, targets[i], id);
        int n = snprintf(text, sizeof text,
                         "HEAD %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
                         "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                         target, d->token);
        ck_assert(http_write(c, text, (size_t)n));
        size_t size = 0;
        for (ssize_t got; size + 1 < sizeof answer && (got = read(http_socket(c), answer + size,
                                                                  sizeof answer - 1 - size)) > 0;)
            size += (size_t)got;
        answer[size] = 0;
        ck_assert_msg(strncmp(answer, "HTTP/1.1 200", 12) == 0, "%s: %s", target, answer);
        const char *rest = strstr(answer, "\r\n\r\n");
        ck_assert_ptr_nonnull(rest);
        ck_assert_msg(!rest[4] || strncmp(rest + 4, "HTTP/1.1 200", 12) == 0, "%s: '%s'", target,
                      rest + 4);
        http_close(c);
    }
}
END_TEST

typedef struct bytes {
    const char *text;
    size_t size;
} bytes;
#define BYTES(t)                                                                                   \
    {                                                                                              \
        t, sizeof t - 1                                                                            \
    }
#define HOST "Host: localhost\r\n"

/* 400, and the connection closes: what follows is never taken for a request. */
START_TEST(test_hidden)
{
    static const bytes heads[] = {
        BYTES("GET /healthz HTTP/1.1\r\n" HOST "X-A: b\0c\r\n\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\n" HOST "X-A: b\0\r\n\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\nX-A: b\0\0\0c\r\n" HOST "\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\nX-\0A: b\r\n" HOST "\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\n" HOST "Content-Length: 2\0 3\r\n\r\n{}"),
        BYTES("GET /healthz HTTP/1.1\r\n" HOST "Content-Length: 0\0\r\n\r\n"),
        BYTES("GET /healthz\0/x HTTP/1.1\r\n" HOST "\r\n"),
        BYTES("GET /healthz\0HTTP/1.1 HTTP/1.1\r\n" HOST "\r\n"),
        BYTES("GET /healthz HTTP/1.1\0\r\n" HOST "\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\n" HOST "X-A: b\r\n c\r\n\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\n" HOST "X-A: b\r\n\tc\r\n\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\nX-A: b\r\n c\r\n" HOST "\r\n"),
        BYTES("GET /healthz HTTP/1.1\r\nAccept: a\r\n b\r\n" HOST "X-A: b\r\n\r\n"),
    };
    static const char second[] = "GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n";
    http_connection *c = http_open(d);
    ck_assert(http_write(c, heads[_i].text, heads[_i].size));
    ck_assert(http_write(c, second, sizeof second - 1));
    http_reply *r = http_read_head(c);
    if (r) {
        ck_assert_int_eq(r->status, 400);
        ck_assert_str_eq(http_header(r, "Content-Type"), "application/problem+json");
        (void)http_read_body(c, r);
        http_reply *more = http_read_head(c);
        ck_assert_msg(more == NULL, "a second reply: %d", more ? more->status : 0);
        http_reply_free(r);
    }
    ck_assert(http_await_close(c, HTTP_PATIENCE_S));
    http_close(c);
}
END_TEST
enum { HIDDEN = 13 };

/* Lines that end in LF alone, spaces after a value, no header except Host: these are valid requests. */
START_TEST(test_whole)
{
    static const char *const heads[] = {
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /healthz HTTP/1.1\nHost: localhost\n\n",
        "GET /healthz?x HTTP/1.1\r\nHost:localhost\r\nAccept:  */*\r\nX-Empty:\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: a b \r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: a=b; c=d\r\nX-A: b\r\n\r\n",
    };
    static const int statuses[] = {200, 200, 400, 200, 200};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        http_connection *c = http_open(d);
        for (int turn = 0; turn < 2; turn++) { /* twice on one connection */
            ck_assert(http_write(c, heads[i], strlen(heads[i])));
            http_reply *r = http_read_head(c);
            ck_assert_msg(r != NULL, "%zu", i);
            ck_assert_msg(r->status == statuses[i], "%zu: %d", i, r->status);
            ck_assert(http_read_body(c, r));
            if (r->status == 400)
                ck_assert_ptr_null(strstr(r->body, "NUL"));
            http_reply_free(r);
        }
        http_close(c);
    }
}
END_TEST

/* Requests that the HTTP library rejects get the daemon's own problem documents. */
START_TEST(test_no_pages)
{
    enum { LARGE = 60000 };
    char *large = malloc(LARGE + 100), *target = malloc(LARGE + 100);
    memset(large, 0, LARGE + 100);
    strcpy(large, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
    memset(large + strlen(large), 'x', LARGE);
    strcat(large, "\r\n\r\n");
    memset(target, 0, LARGE + 100);
    strcpy(target, "GET /");
    memset(target + 5, 'y', LARGE);
    strcat(target, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const char *const texts[] = {large,
                                 target,
                                 "GET\r\n\r\n",
                                 "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                                 "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
                                 "POST /v1/validate HTTP/1.1\r\nHost: localhost\r\n"
                                 "Content-Length: 99999999999999999999999\r\n\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        http_reply *r = http_raw(d, texts[i], strlen(texts[i]));
        if (r) {
            ck_assert_msg(r->status >= 400, "%zu: %d", i, r->status);
            ck_assert_msg(!strstr(r->body, "<html"), "%zu: %s", i, r->body);
            ck_assert_str_eq(http_header(r, "Content-Type"), "application/problem+json");
            ck_assert_int_eq(json_count(r->json, "status"), r->status);
            http_reply_free(r);
        }
    }
    free(large);
    free(target);
}
END_TEST

/* ---- what others have ---- */

static int put_mesh(const char *secret, const char *hash, const char *mesh)
{
    char target[96], head[200];
    snprintf(target, sizeof target, "/v1/meshes/%s", hash);
    snprintf(head, sizeof head,
             "Authorization: Bearer %s\r\nContent-Type: application/octet-stream\r\n", secret);
    http_reply *r = http_call(d, "PUT", target, head, mesh, strlen(mesh));
    int status = r->status;
    ck_assert_msg(status == 200 || status == 201, "%d: %s", status, r->body);
    ck_assert_int_eq(http_header(r, "Location") != NULL, status == 201);
    http_reply_free(r);
    return status;
}

START_TEST(test_mesh_of_another)
{
    static const char mesh[] =
        "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n"
        "0 1 0 0\n0 0 1 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n";
    char alice[TENANT_SECRET], bob[TENANT_SECRET], hash[65];
    tenant_user(d, "alice");
    tenant_user(d, "bob");
    tenant_token(d, "alice", "read submit", alice, NULL);
    tenant_token(d, "bob", "read submit", bob, NULL);
    pl_sha256_hex(mesh, strlen(mesh), hash);
    ck_assert_int_eq(put_mesh(alice, hash, mesh), 201);
    ck_assert_int_eq(put_mesh(bob, hash, mesh), 201);
    ck_assert_int_eq(put_mesh(bob, hash, mesh), 200);
    ck_assert_int_eq(put_mesh(alice, hash, mesh), 200);
}
END_TEST

/* ---- scenes ---- */

START_TEST(test_thin_air)
{
    http_reply *r =
        http_post(d, "/v1/validate",
                  "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1}, \"materials\": "
                  "{\"m\": {\"model\": "
                  "\"neo_hookean\", \"density\": 1e-300}}, \"bodies\": [{\"name\": \"b\", "
                  "\"mesh\": {\"box\": "
                  "{\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}, \"material\": \"m\"}]}");
    const json_t *faults = http_problem(r, 422, "invalid_scene");
    ck_assert_ptr_nonnull(http_fault(faults, "/materials/m/density"));
    http_reply_free(r);
}
END_TEST

/* `{"a": {"a": ... }}`, so deep. */
static char *deep(int levels)
{
    char *more = malloc(64 + 8 * (size_t)levels), *at = more;
    at += sprintf(at, ", \"metadata\": ");
    for (int i = 1; i < levels; i++)
        at += sprintf(at, "{\"a\":");
    at += sprintf(at, "{}");
    for (int i = 1; i < levels; i++)
        at += sprintf(at, "}");
    char *scene = session_scene(1, 1, more);
    free(more);
    return scene;
}

START_TEST(test_deep_metadata)
{
    static const int levels[] = {64, 65, 500, 2000};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char *scene = deep(levels[i]);
        http_reply *r = http_post(d, "/v1/sessions", scene);
        if (levels[i] > 64)
            ck_assert_ptr_nonnull(http_fault(http_problem(r, 422, "invalid_scene"), "/metadata"));
        else
            http_expect(r, 201);
        http_reply_free(r);
        free(scene);
    }
}
END_TEST

/* ---- the clock ---- */

static time_t created(const char *id)
{
    struct tm when = {0};
    json_t *s = session_show(d, id);
    ck_assert_ptr_nonnull(strptime(json_text(s, "created"), "%Y-%m-%dT%H:%M:%S", &when));
    json_decref(s);
    return timegm(&when);
}

/* The clock was a year ahead for a while: sessions created later have correct times. */
START_TEST(test_clock_was_ahead)
{
    char ahead[33], later[33], last[33], path[64];
    snprintf(path, sizeof path, "/tmp/pliant-ahead-%d", (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    setenv("PLIANT_CLOCK_AHEAD", path, 1);
    daemon_fixture_preload("libclock_ahead.so");
    daemon_fixture_start(d, NULL);
    unsetenv("LD_PRELOAD");
    session_run(d, session_scene(1, 1, ""), ahead);
    ck_assert_int_gt(created(ahead), time(NULL) + 30000000);
    ck_assert_int_eq(unlink(path), 0);
    session_run(d, session_scene(1, 1, ""), later);
    ck_assert_int_le(created(later), time(NULL));
    daemon_fixture_end(d, SIGTERM);
    daemon_fixture_resume(d);
    session_run(d, session_scene(1, 1, ""), last);
    ck_assert_int_le(created(last), time(NULL));
    http_reply *r = http_get(d, "/v1/sessions?limit=2"); /* in the order of their times */
    ck_assert_str_eq(json_text(r->json, "items/0/id"), ahead);
    ck_assert_str_eq(json_text(r->json, "items/1/id"), last);
    http_reply_free(r);
    stop_daemon();
}
END_TEST

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    Suite *suite = suite_create("siege");
    TCase *tests = tcase_create("siege"), *own = tcase_create("own");
    tcase_set_timeout(tests, 180);
    tcase_set_timeout(own, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_silent_connections);
    tcase_add_test(own, test_streams_of_one);
    tcase_add_test(tests, test_refused_requests);
    tcase_add_test(tests, test_head);
    tcase_add_loop_test(tests, test_hidden, 0, HIDDEN);
    tcase_add_test(tests, test_whole);
    tcase_add_test(tests, test_no_pages);
    tcase_add_test(tests, test_mesh_of_another);
    tcase_add_test(tests, test_thin_air);
    tcase_add_test(tests, test_deep_metadata);
    tcase_add_test(own, test_clock_was_ahead);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, own);
    return run_suite(suite);
}
