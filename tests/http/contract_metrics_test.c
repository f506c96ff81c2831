/* Metrics as lines and as server-sent events, and the worker's log.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char done[33];
enum { LAST = 8 };

static void start(void)
{
    daemon_fixture_start(d, NULL);
    session_run(d,
                session_scene(LAST, 1,
                              ", \"obstacles\": [{\"name\": \"floor\", \"plane\": "
                              "{\"offset\": -5}}]"),
                done);
}

static const char *target_of(const char *id, const char *query)
{
    static char target[160];
    snprintf(target, sizeof target, "/v1/sessions/%s/metrics%s", id, query);
    return target;
}

/* ---- a metrics record ---- */

static void check_number_or_null(const json_t *m, const char *path)
{
    const json_t *value = json_at(m, path);
    ck_assert_msg(json_is_number(value) || json_is_null(value), "%s", path);
}

static void check_vector(const json_t *m, const char *path)
{
    const json_t *value = json_at(m, path);
    ck_assert_msg(json_array_size(value) == 3, "%s", path);
    for (size_t i = 0; i < 3; i++)
        ck_assert(json_is_number(json_array_get(value, i)));
}

/* Null, or all there is. */
static void check_contact(const json_t *contact)
{
    ck_assert(json_is_null(contact) || json_is_object(contact));
    if (json_is_null(contact))
        return;
    ck_assert(json_is_integer(json_object_get(contact, "pairs")));
    ck_assert(json_is_integer(json_object_get(contact, "rounds")));
    check_number_or_null(contact, "gap");
    ck_assert(json_is_number(json_object_get(contact, "friction_work")));
    ck_assert(json_is_array(json_object_get(contact, "forces")));
}

/* Every documented member; values that are always known are numbers, and 0 is not a placeholder. */
static void check_metrics(const json_t *m, int64_t frame)
{
    static const char *const integers[] = {"iterations", "halved", "inverted", "contacts",
                                           "obstacle_contacts/floor"};
    static const char *const numbers[] = {"energy/kinetic", "energy/elastic", "energy/gravity",
                                          "max_stretch", "ms/step"};
    static const char *const others[] = {
        "unconverged", "objective",         "primal_residual", "dual_residual", "gradient_norm",
        "decrement",   "energy/dissipated", "ms/local",        "ms/global",     "ms/collision",
        "ms/output",   "newton_iterations", "imbalance",       "by_euler"};
    ck_assert_ptr_null(json_object_get(m, "event"));
    ck_assert_int_eq(json_count(m, "seq"), frame);
    ck_assert_int_eq(json_count(m, "frame"), frame);
    ck_assert_double_eq_tol(json_number_value(json_at(m, "time")), 0.01 * (double)frame, 1e-12);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        ck_assert_msg(json_is_integer(json_at(m, integers[i])), "%s", integers[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ck_assert_msg(json_is_number(json_at(m, numbers[i])), "%s", numbers[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_number_or_null(m, others[i]);
    check_vector(m, "momentum/linear");
    check_vector(m, "momentum/angular");
    check_vector(m, "reactions/pins/wall");
    check_vector(m, "reactions/obstacles/floor");
    check_contact(json_object_get(m, "contact"));
    ck_assert_ptr_null(json_at(m, "iterations_detail"));
    if (frame == 0) { /* nothing was solved for the initial state */
        ck_assert(json_is_null(json_at(m, "primal_residual")));
        ck_assert(json_is_null(json_at(m, "objective")));
    } else {
        ck_assert_int_eq(json_count(m, "iterations"), 5);
        ck_assert(json_is_null(json_at(m, "primal_residual"))); /* auto splits nothing */
        ck_assert(json_is_null(json_at(m, "imbalance")));       /* tolerance is 0 */
        ck_assert(json_number_value(json_at(m, "decrement")) > 0);
        ck_assert_int_eq(json_count(m, "newton_iterations"), 0);
        ck_assert(json_number_value(json_at(m, "energy/kinetic")) > 0);
    }
}

/* ---- lines ---- */

static json_t *next_line(http_stream *s)
{
    char *line = http_stream_line(s);
    if (!line)
        return NULL;
    json_error_t error;
    json_t *value = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(value != NULL, "%s: %s", error.text, line);
    free(line);
    return value;
}

/* All metrics lines from `from` on, every frame once, hello before and end after them. */
static int64_t read_lines(http_stream *s, int64_t from, const char *reason)
{
    int64_t next = from;
    bool ended = false;
    json_t *line = next_line(s);
    ck_assert_str_eq(json_text(line, "event"), "hello");
    ck_assert_int_eq(json_count(line, "from"), from);
    json_decref(line);
    while ((line = next_line(s))) {
        const char *event = json_text(line, "event");
        ck_assert(!ended);
        if (strcmp(event, "end") == 0) {
            ck_assert_str_eq(json_text(line, "reason"), reason);
            ended = true;
        } else if (strcmp(event, "heartbeat") != 0) {
            check_metrics(line, next++);
        }
        json_decref(line);
    }
    ck_assert(ended);
    http_stream_close(s);
    return next - 1;
}

START_TEST(test_lines)
{
    static const struct {
        const char *query, *accept;
        int64_t from, last;
        const char *reason;
    } rows[] = {
        {"", "", 0, LAST, "succeeded"},
        {"?from=0&follow=1", "Accept: application/x-ndjson\r\n", 0, LAST, "succeeded"},
        {"?from=5", "Accept: */*\r\n", 5, LAST, "succeeded"},
        {"?from=9&follow=1", "", 9, 8, "succeeded"},
        {"?from=2&to=4", "", 2, 4, "limit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_stream s = http_stream_open(d, target_of(done, rows[i].query), rows[i].accept);
        ck_assert_str_eq(http_header(s.reply, "Content-Type"), "application/x-ndjson");
        ck_assert_int_eq(read_lines(&s, rows[i].from, rows[i].reason), rows[i].last);
    }
}
END_TEST

START_TEST(test_lines_follow)
{
    char id[33];
    session_post_free(d,
                      session_scene(20, 1,
                                    ", \"obstacles\": [{\"name\": \"floor\", \"plane\": "
                                    "{\"offset\": -5}}]"),
                      id);
    http_stream s = http_stream_open(d, target_of(id, "?follow=1"), NULL);
    ck_assert_int_eq(read_lines(&s, 0, "succeeded"), 20);
}
END_TEST

/* With "metrics": "iteration" every iteration is listed, the initial guess first. */
START_TEST(test_iterations)
{
    char id[33];
    char *scene = session_scene(2, 1, ""), *at = strstr(scene, "\"every\": 1"), *more = NULL;
    ck_assert_int_gt(
        asprintf(&more, "%.*s\"metrics\": \"iteration\", %s", (int)(at - scene), scene, at), 0);
    free(scene);
    session_run(d, more, id);
    http_stream s = http_stream_open(d, target_of(id, "?from=1"), NULL);
    json_decref(next_line(&s));
    json_t *m = next_line(&s);
    const json_t *detail = json_at(m, "iterations_detail");
    ck_assert_int_eq(json_count(m, "iterations"), 5);
    ck_assert_uint_eq(json_array_size(detail), 6);
    for (size_t i = 0; i < json_array_size(detail); i++)
        ck_assert(json_is_object(json_array_get(detail, i)));
    json_decref(m);
    http_stream_close(&s);
}
END_TEST

/* Buckets: every frame is in one of them, with the minimum and maximum of each number. */
START_TEST(test_buckets)
{
    http_reply *lines = http_get(d, target_of(done, "?from=1"));
    double least = 1e300, greatest = -1e300;
    int frame = 0;
    for (char *at = strchr(lines->body, '\n') + 1, *end; (end = strchr(at, '\n')); at = end + 1) {
        json_t *m = json_loadb(at, (size_t)(end - at), 0, NULL);
        double v = json_number_value(json_at(m, "energy/elastic"));
        if (!json_at(m, "event") && json_count(m, "frame") <= 4) {
            least = v < least ? v : least;
            greatest = v > greatest ? v : greatest;
            frame++;
        }
        json_decref(m);
    }
    ck_assert_int_eq(frame, 4);
    http_reply *r = http_get(d, target_of(done, "?buckets=2&from=1"));
    http_expect(r, 200);
    static const char *const events[] = {"hello", "", "", "end"};
    char *at = r->body;
    int64_t next = 1;
    for (int i = 0; i < 4; i++) {
        char *end = strchr(at, '\n');
        json_t *b = json_loadb(at, (size_t)(end - at), 0, NULL);
        ck_assert_str_eq(json_text(b, "event"), events[i]);
        if (!*events[i]) {
            ck_assert_int_eq(json_count(b, "from"), next);
            ck_assert_int_eq(json_count(b, "count"), 4);
            next = json_count(b, "to") + 1;
            ck_assert_ptr_nonnull(json_object_get(json_at(b, "max"), "momentum/linear/1"));
        }
        if (i == 1) {
            const json_t *lo = json_object_get(json_at(b, "min"), "energy/elastic");
            const json_t *hi = json_object_get(json_at(b, "max"), "energy/elastic");
            ck_assert_double_eq_tol(json_number_value(lo), least, 1e-8 * least);
            ck_assert_double_eq_tol(json_number_value(hi), greatest, 1e-8 * greatest);
        }
        json_decref(b);
        at = end + 1;
    }
    ck_assert_int_eq(next, LAST + 1);
    ck_assert_int_eq(*at, 0);
    http_reply_free(lines);
    http_reply_free(r);
    static const char *const bad[] = {"?buckets=0", "?buckets=2001", "?buckets=2&follow=1"};
    for (size_t i = 0; i < 3; i++) {
        r = http_get(d, target_of(done, bad[i]));
        http_problem(r, 400, "bad_query");
        http_reply_free(r);
    }
}
END_TEST

START_TEST(test_refusals)
{
    static const char *const bad[] = {"?from=-1", "?form=1", "?follow=2", "?from=1&from=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        http_reply *r = http_get(d, target_of(done, bad[i]));
        http_problem(r, 400, "bad_query");
        http_reply_free(r);
    }
    http_reply *r = http_get_as(d, target_of(done, ""), "text/html");
    http_problem(r, 406, "not_acceptable");
    ck_assert_ptr_nonnull(strstr(r->body, "text/event-stream"));
    ck_assert_ptr_nonnull(strstr(r->body, "application/x-ndjson"));
    http_reply_free(r);
}
END_TEST

/* ---- server-sent events ---- */

typedef struct sse {
    char event[32], id[32], retry[32];
    json_t *data;
} sse;

/* The next block that a blank line ends, as an EventSource reads it. False at the end. */
static bool next_event(http_stream *s, sse *e)
{
    char *line;
    *e = (sse){0};
    while ((line = http_stream_line(s)) && *line) {
        char *value = strchr(line, ':');
        ck_assert_ptr_nonnull(value);
        *value++ = 0;
        value += *value == ' ';
        if (strcmp(line, "event") == 0)
            snprintf(e->event, sizeof e->event, "%s", value);
        else if (strcmp(line, "id") == 0)
            snprintf(e->id, sizeof e->id, "%s", value);
        else if (strcmp(line, "retry") == 0)
            snprintf(e->retry, sizeof e->retry, "%s", value);
        else if (strcmp(line, "data") == 0)
            ck_assert_ptr_nonnull(e->data = json_loads(value, JSON_REJECT_DUPLICATES, NULL));
        else
            ck_abort_msg("field '%s'", line);
        free(line);
    }
    free(line);
    return line != NULL;
}

static int64_t read_events(http_stream *s, int64_t from, const char *reason)
{
    int64_t next = from;
    bool ended = false;
    sse e;
    ck_assert_str_eq(http_header(s->reply, "Content-Type"), "text/event-stream");
    ck_assert(next_event(s, &e));
    ck_assert_str_eq(e.retry, "1000");
    while (next_event(s, &e)) {
        ck_assert(!ended);
        if (strcmp(e.event, "metrics") == 0) {
            ck_assert_int_eq(strtoll(e.id, NULL, 10), next);
            check_metrics(e.data, next++);
        } else if (strcmp(e.event, "end") == 0) {
            ck_assert_str_eq(json_text(e.data, "reason"), reason);
            ended = true;
        } else {
            ck_assert_str_eq(e.event, "heartbeat");
        }
        json_decref(e.data);
    }
    ck_assert(ended);
    http_stream_close(s);
    return next - 1;
}

#define SSE "Accept: text/event-stream\r\n"

START_TEST(test_events)
{
    static const struct {
        const char *query, *headers;
        int64_t from;
    } rows[] = {
        {"", SSE, 0},
        {"?from=3", SSE, 3},
        {"?follow=1", SSE "Last-Event-ID: 4\r\n", 5},
        {"?from=1&follow=1", SSE "Last-Event-ID: 6\r\n", 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_stream s = http_stream_open(d, target_of(done, rows[i].query), rows[i].headers);
        ck_assert_int_eq(read_events(&s, rows[i].from, "succeeded"), LAST);
    }
    /* Everything was read: 204 tells an EventSource not to reconnect. */
    http_reply *r = http_call(d, "GET", target_of(done, "?follow=1"), SSE "Last-Event-ID: 8\r\n",
                              NULL, 0);
    http_expect(r, 204);
    http_reply_free(r);
}
END_TEST

/* A viewer that loses its connection and comes back sees every frame once. */
START_TEST(test_events_resume)
{
    char id[33], headers[96];
    session_post_free(d,
                      session_scene(30, 1,
                                    ", \"obstacles\": [{\"name\": \"floor\", \"plane\": "
                                    "{\"offset\": -5}}]"),
                      id);
    http_stream s = http_stream_open(d, target_of(id, "?follow=1"), SSE);
    sse e;
    int64_t seen = -1;
    ck_assert(next_event(&s, &e));
    while (seen < 10) {
        ck_assert(next_event(&s, &e));
        if (strcmp(e.event, "heartbeat") !=
            0) { /* one is sent while the first frame takes its time */
            ck_assert_str_eq(e.event, "metrics");
            check_metrics(e.data, ++seen);
        }
        json_decref(e.data);
    }
    http_stream_close(&s);
    snprintf(headers, sizeof headers, SSE "Last-Event-ID: %lld\r\n", (long long)seen);
    s = http_stream_open(d, target_of(id, "?follow=1"), headers);
    ck_assert_int_eq(read_events(&s, seen + 1, "succeeded"), 30);
}
END_TEST

/* ---- the log ---- */

START_TEST(test_log)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/log", done);
    http_expect(r, 200);
    ck_assert(strncmp(http_header(r, "Content-Type"), "text/plain", 10) == 0);
    ck_assert_ptr_nonnull(strstr(r->body, "pliant-worker"));
    ck_assert_ptr_nonnull(strstr(r->body, "succeeded"));
    http_reply_free(r);
}
END_TEST

/* A stream with nothing to say sends a heartbeat at least every 15 s. */
START_TEST(test_heartbeat)
{
    char blocker[33], id[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), blocker);
    session_await(d, blocker, "running");
    session_post_free(d, session_scene(1, 1, ""), id);
    http_stream s = http_stream_open(d, target_of(id, "?follow=1"), NULL);
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?follow=1", id);
    http_stream frames = http_stream_open(d, target, NULL);
    json_decref(next_line(&s));
    double began = daemon_fixture_clock();
    json_t *line = next_line(&s);
    ck_assert_str_eq(json_text(line, "event"), "heartbeat");
    ck_assert_double_lt(daemon_fixture_clock() - began, 20);
    json_decref(line);
    /* Both kinds at once: hello, then a bare record of type heartbeat. */
    unsigned char bytes[1024];
    pl_record record;
    size_t have = 0, at = 0;
    for (int beats = 0; beats == 0;) {
        ssize_t n = http_read_some(frames.connection, frames.reply, bytes + have,
                                   sizeof bytes - have);
        ck_assert_int_gt(n, 0);
        have += (size_t)n;
        while (pl_record_decode(bytes + at, have - at, &record) == PL_RECORD_GOOD &&
               at + pl_record_size(record.length) <= have) {
            beats += record.type == PL_RECORD_HEARTBEAT;
            at += pl_record_size(record.length);
        }
    }
    ck_assert_double_lt(daemon_fixture_clock() - began, 25);
    http_stream_close(&frames);
    http_stream_close(&s);
    session_tell(d, blocker, "cancel");
    session_await(d, id, "succeeded");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: metrics");
    TCase *tests = tcase_create("metrics");
    tcase_set_timeout(tests, 180);
    tcase_add_unchecked_fixture(tests, start, stop_daemon);
    tcase_add_test(tests, test_lines);
    tcase_add_test(tests, test_lines_follow);
    tcase_add_test(tests, test_iterations);
    tcase_add_test(tests, test_refusals);
    tcase_add_test(tests, test_buckets);
    tcase_add_test(tests, test_events);
    tcase_add_test(tests, test_events_resume);
    tcase_add_test(tests, test_log);
    tcase_add_test(tests, test_heartbeat);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
