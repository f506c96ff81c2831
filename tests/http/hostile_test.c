/* Requests cut at every byte, floods, readers that do not read: the daemon answers or closes, stays up, keeps its
 * memory, and nothing of it reaches the solver.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define JSON "Content-Type: application/json\r\n"

/* Still the same process, and it answers. */
static void check_alive(void)
{
    ck_assert_int_eq(kill(d->pid, 0), 0);
    http_reply *r = http_get(d, "/readyz");
    http_expect(r, 200);
    http_reply_free(r);
}

/* Not more than so many megabytes since then. */
static void check_memory(int64_t before, int64_t megabytes)
{
    megabytes *= daemon_fixture_sanitized() ? 8 : 1;
    ck_assert_int_lt(daemon_fixture_memory(d) - before, megabytes << 20);
}

static void check_nothing(void)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
         daemon_fixture_entries(d, "incoming") > 0; daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    ck_assert_int_eq(daemon_fixture_sessions(d), 0);
    http_reply *r = http_get(d, "/v1/sessions");
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 0);
    http_reply_free(r);
}

/* ---- cut requests ---- */

static char *post_request(const char *scene, size_t *size)
{
    char *text = NULL;
    int n = asprintf(&text,
                     "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s"
                     "\r\n" JSON "Content-Length: %zu\r\n\r\n%s",
                     d->port, d->token, strlen(scene), scene);
    ck_assert_int_gt(n, 0);
    *size = (size_t)n;
    return text;
}

/* Connections whose requests may never be complete: there is no sign that one was answered, so all are judged together
 * by what arrives within a moment. */
typedef struct pending {
    http_connection *connections[1024];
    int count;
} pending;

static void judge(pending *p)
{
    check_alive();
    for (int i = 0; i < p->count; i++) {
        struct pollfd watched = {.fd = http_socket(p->connections[i]), .events = POLLIN};
        if (poll(&watched, 1, 1) == 1) {
            http_reply *r = http_read_head(p->connections[i]);
            ck_assert_msg(!r || r->status >= 400, "%d: %d", i, r ? r->status : 0);
            http_reply_free(r);
        }
        http_close(p->connections[i]);
    }
    p->count = 0;
    check_alive();
    check_nothing();
}

/* A POST that ends after each of its bytes, by closing and by half closing. */
START_TEST(test_cut_everywhere)
{
    static pending half;
    size_t size;
    char *scene = session_scene(1, 1, ""), *text = post_request(scene, &size);
    for (size_t cut = 0; cut < size; cut++) {
        http_connection *c = http_open(d);
        ck_assert(http_write(c, text, cut));
        if (cut % 4 == 3) {
            shutdown(http_socket(c), SHUT_WR);
            half.connections[half.count++] = c;
        } else {
            http_close(c);
        }
    }
    judge(&half);
    /* And whole it is a good one, also byte by byte. */
    http_connection *c = http_open(d);
    for (size_t at = 0; at < size; at++)
        ck_assert(http_write(c, text + at, 1));
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    http_expect(r, 201);
    http_reply_free(r);
    http_close(c);
    free(text);
    free(scene);
}
END_TEST

/* Each byte of a request changed: a rejection or a close, and no crash. */
START_TEST(test_flipped_bytes)
{
    static pending all;
    size_t size;
    char *text = post_request("{}", &size);
    for (size_t at = 0; at < size; at++) {
        static const char others[] = {'\0', '\n', ' ', '\x7f', '\xff'};
        char kept = text[at];
        text[at] = others[at % sizeof others];
        http_connection *c = all.connections[all.count++] = http_open(d);
        (void)http_write(c, text, size);
        text[at] = kept;
    }
    free(text);
    judge(&all);
}
END_TEST

/* Things that are no requests. */
START_TEST(test_no_requests)
{
    enum { BIG = 300000 };
    static pending all;
    char *big = malloc(BIG + 64), *many = malloc(BIG + 64);
    const char *const texts[] = {
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n folded: x\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        "fffffffffffffffff\r\nx",
        "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        "-1\r\nx",
        big,
        many,
    };
    memset(big, 'a', BIG);
    memcpy(big, "GET /", 5);
    strcpy(big + BIG, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    size_t at = (size_t)sprintf(many, "GET / HTTP/1.1\r\nHost: localhost\r\n");
    while (at + 32 < BIG)
        at += (size_t)sprintf(many + at, "X-%zu: y\r\n", at);
    strcpy(many + at, "\r\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        http_connection *c = all.connections[all.count++] = http_open(d);
        (void)http_write(c, texts[i], strlen(texts[i]));
        check_alive();
    }
    free(big);
    free(many);
    judge(&all);
}
END_TEST

/* An unknown Host: one reply of the daemon, not the library's page (which has two heads). */
START_TEST(test_no_host)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n";
    http_reply *r = http_raw(d, request, sizeof request - 1);
    ck_assert_ptr_nonnull(r);
    http_problem(r, 400, "bad_framing");
    http_reply_free(r);
}
END_TEST

/* ---- large ---- */

/* 100 MB to a daemon that accepts 8: rejected by its head, and memory stays constant. */
START_TEST(test_large_body)
{
    enum { MEGABYTE = 1 << 20, MEGABYTES = 100 };
    char head[512], *block = malloc(MEGABYTE);
    memset(block, ' ', MEGABYTE);
    int64_t before = daemon_fixture_memory(d);
    int n = snprintf(head, sizeof head,
                     "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                     "%sContent-Length: %d\r\n\r\n",
                     d->token, JSON, MEGABYTES * MEGABYTE);
    /* The reply comes before any of the body. */
    http_connection *c = http_open(d);
    ck_assert(http_write(c, head, (size_t)n));
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    http_expect(r, 413);
    http_reply_free(r);
    http_close(c);
    /* A client that sends it all the same, and one without a length. */
    for (int chunked = 0; chunked < 2; chunked++) {
        c = http_open(d);
        n = snprintf(head, sizeof head,
                     "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                     "%s%s\r\n",
                     d->token, JSON,
                     chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: 104857600\r\n");
        bool open = http_write(c, head, (size_t)n);
        for (int i = 0; open && i < MEGABYTES; i++) {
            open = (!chunked || http_write(c, "100000\r\n", 8)) && http_write(c, block, MEGABYTE) &&
                   (!chunked || http_write(c, "\r\n", 2));
        }
        http_close(c);
    }
    check_alive();
    check_memory(before, 32);
    check_nothing();
    free(block);
}
END_TEST

/* Documents that are small on the wire and large in memory or deep. */
START_TEST(test_bombs)
{
    enum { LENGTH = 2 << 20 };
    static const struct {
        const char *begin, *repeat;
    } rows[] = {
        {"", "["},
        {"", "{\"a\":"},
        {"{\"pliant\": 1, \"bodies\": [", "{},"},
        {"{\"pliant\": 1, \"pins\": [", "1,"},
        {"{\"pliant\": 1, \"name\": \"", "\\u0041"},
        {"{\"pliant\": 1, \"gravity\": [", "9"},
        {"\"", "\xf0\x9f\x98\x80"},
    };
    int64_t before = daemon_fixture_memory(d);
    char *text = malloc(LENGTH + 64);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t at = (size_t)sprintf(text, "%s", rows[i].begin);
        while (at < LENGTH)
            at += (size_t)sprintf(text + at, "%s", rows[i].repeat);
        http_reply *r = http_post(d, "/v1/sessions", text);
        http_problem(r, 400, "bad_json");
        http_reply_free(r);
    }
    /* Many unknown keys are many faults, of which a limited number are listed. */
    size_t at = (size_t)sprintf(text, "{\"pliant\": 1");
    for (int i = 0; i < 50000; i++)
        at += (size_t)sprintf(text + at, ", \"key%d\": 0", i);
    strcpy(text + at, "}");
    http_reply *r = http_post(d, "/v1/sessions", text);
    const json_t *faults = http_problem(r, 422, "invalid_scene");
    ck_assert_uint_ge(json_array_size(faults), 10);
    ck_assert_uint_le(json_array_size(faults), 1000);
    http_reply_free(r);
    free(text);
    check_alive();
    check_memory(before, 256);
    check_nothing();
}
END_TEST

/* Scenes that ask for more than the machine has, or than any has. */
START_TEST(test_large_scenes)
{
    static const char *const meshes[] = {
        "{\"box\": {\"cells\": [2000000000, 2000000000, 2000000000]}}",
        "{\"box\": {\"cells\": [8000000, 8000000, 8000000]}}",
        "{\"box\": {\"cells\": [199, 200, 200]}}",
        "{\"sphere\": {\"cells\": 1000000}}",
    };
    char scene[512];
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        snprintf(scene, sizeof scene,
                 "{\"pliant\": 1, \"bodies\": [{\"mesh\": %s}, {\"mesh\": %s}, {\"mesh\": %s}]}",
                 meshes[i], meshes[i], meshes[i]);
        http_reply *r = http_call(d, "POST", "/v1/sessions", JSON "Prefer: wait=60\r\n", scene,
                                  strlen(scene));
        ck_assert_msg(r->status == 422, "%s: %d %s", meshes[i], r->status, r->body);
        ck_assert_uint_ge(json_array_size(http_problem(r, 422, "invalid_scene")), 1);
        http_reply_free(r);
        check_alive();
    }
    check_nothing();
}
END_TEST

/* ---- followers ---- */

static char *large_frames(int frames)
{
    char *scene = NULL;
    ck_assert_int_gt(asprintf(&scene,
                              "{\"pliant\": 1, \"time\": {\"step\": 0.001, \"steps\": %d},"
                              " \"solver\": {\"iterations\": 1, \"tolerance\": 0},"
                              " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [14, 14, 14]}}}]}",
                              frames),
                     0);
    return scene;
}

/* A follower that never reads: the session goes to its end all the same, another follower sees it
 * all, the daemon holds nothing for it, and when it reads at last every frame is there. */
START_TEST(test_reader_that_sleeps)
{
    enum { FRAMES = 250 };
    char id[33], target[96];
    int64_t before = daemon_fixture_memory(d);
    session_post_free(d, large_frames(FRAMES), id);
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0&follow=1", id);
    http_connection *sleepers[4];
    for (int i = 0; i < 4; i++) {
        sleepers[i] = http_open(d);
        http_ask(sleepers[i], d, target, NULL);
    }
    http_stream awake = http_stream_open(d, target, NULL);
    pl_record record;
    char *payload;
    int64_t next = 0;
    while (http_stream_record(&awake, &record, &payload)) {
        if (record.type == PL_RECORD_FRAME)
            ck_assert_int_eq((int64_t)record.frame, next++);
        free(payload);
    }
    ck_assert_int_eq(next, FRAMES + 1);
    http_stream_close(&awake);
    session_await(d, id, "succeeded");
    /* The session's frames are 10 MB; four who do not take them are not four times as much. */
    check_memory(before, 32);
    http_stream late = {sleepers[0], http_read_head(sleepers[0]), .may_be_cut = true};
    ck_assert_ptr_nonnull(late.reply);
    for (next = 0; next <= FRAMES;) {
        while (http_stream_record(&late, &record, &payload)) {
            if (record.type == PL_RECORD_FRAME)
                ck_assert_int_eq((int64_t)record.frame, next++);
            free(payload);
        }
        ck_assert(late.cut == (next <= FRAMES));
        http_stream_close(&late);
        snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=%lld", id, (long long)next);
        late = http_stream_open(d, target, NULL);
        late.may_be_cut = true;
    }
    http_stream_close(&late);
    for (int i = 1; i < 4; i++)
        http_close(sleepers[i]);
    check_alive();
}
END_TEST

/* 200 connections that say nothing, 100 that follow: there is room for others, and all is given
 * back. */
START_TEST(test_many_connections)
{
    enum { IDLE = 200, FOLLOWERS = 100 };
    http_connection *idle[IDLE];
    http_stream followers[FOLLOWERS];
    char id[33], target[96];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0&follow=1", id);
    for (int i = 0; i < IDLE; i++) {
        idle[i] = http_open(d);
        ck_assert(http_write(idle[i], "GET / HTTP/1.1\r\nHo", (size_t)(i % 18)));
    }
    for (int i = 0; i < FOLLOWERS; i++)
        followers[i] = http_stream_open(d, target, NULL);
    check_alive();
    session_tell(d, id, "cancel");
    for (int i = 0; i < FOLLOWERS; i++) {
        pl_record record;
        char *payload;
        int64_t next = 0, last = PL_RECORD_HELLO;
        while (http_stream_record(&followers[i], &record, &payload)) {
            if (record.type == PL_RECORD_FRAME)
                ck_assert_int_eq((int64_t)record.frame, next++);
            last = record.type;
            free(payload);
        }
        ck_assert_int_eq(last, PL_RECORD_END);
        ck_assert_int_ge(next, 2);
        http_stream_close(&followers[i]);
    }
    for (int i = 0; i < IDLE; i++)
        http_close(idle[i]);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        if (session_counter(d, "streams") == 0)
            break;
        ck_assert(daemon_fixture_clock() < end);
    }
    check_alive();
}
END_TEST

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    Suite *suite = suite_create("hostile clients");
    TCase *tests = tcase_create("hostile");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_cut_everywhere);
    tcase_add_test(tests, test_flipped_bytes);
    tcase_add_test(tests, test_no_requests);
    tcase_add_test(tests, test_no_host);
    tcase_add_test(tests, test_large_body);
    tcase_add_test(tests, test_bombs);
    tcase_add_test(tests, test_large_scenes);
    tcase_add_test(tests, test_reader_that_sleeps);
    tcase_add_test(tests, test_many_connections);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
