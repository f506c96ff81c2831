/* What happens to sessions, as events and by long polls; and one stream for a whole page. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sse[] = "Accept: text/event-stream\r\n";

/* ---- events ---- */

typedef struct event {
    char type[16];
    long long id; /* 0: none */
    json_t *data;
} event;

/* The next one; type "" at the orderly end of the stream. */
static event next_event(http_stream *s)
{
    event e = {0};
    for (char *line; (line = http_stream_line(s)); free(line)) {
        sscanf(line, "event: %15s", e.type);
        sscanf(line, "id: %lld", &e.id);
        if (strncmp(line, "data: ", 6) == 0)
            e.data = json_loads(line + 6, 0, NULL);
        if (!*line && e.data) {
            free(line);
            break;
        }
    }
    return e;
}

static void expect_event(http_stream *s, const char *type, const char *id, const char *state)
{
    event e = next_event(s);
    ck_assert_str_eq(e.type, type);
    ck_assert_str_eq(json_text(e.data, "session/id"), id);
    ck_assert_msg(strcmp(json_text(e.data, "session/state"), state) == 0, "%s, not %s",
                  json_text(e.data, "session/state"), state);
    ck_assert_int_eq(json_count(e.data, "seq"), e.id);
    json_decref(e.data);
}

/* A session's whole life, as told to who listens to all and to who listens to it. */
START_TEST(test_life)
{
    char id[33], other[33];
    http_stream all = http_stream_open(d, "/v1/events", sse);
    ck_assert_str_eq(http_header(all.reply, "Content-Type"), "text/event-stream");
    session_post_free(d, session_scene_endless(""), id);
    session_await(d, id, "running");
    http_stream one = http_stream_open(d, session_target(id, "events"), sse);
    session_post_free(d, session_scene(1, 1, ""), other); /* causes no event there */
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    char whole[64];
    snprintf(whole, sizeof whole, "/v1/sessions/%s", id);
    http_reply_free(http_call(d, "DELETE", whole, NULL, NULL, 0));
    expect_event(&all, "created", id, "queued");
    expect_event(&all, "state", id, "running");
    expect_event(&one, "now", id, "running");
    bool stopped = false;
    event e = next_event(&all);
    for (; strcmp(e.type, "deleted") != 0; e = next_event(&all)) {
        stopped = stopped || (strcmp(e.type, "state") == 0 &&
                              strcmp(json_text(e.data, "session/id"), id) == 0 &&
                              strcmp(json_text(e.data, "session/state"), "paused") == 0);
        json_decref(e.data);
    }
    ck_assert(stopped);
    json_decref(e.data);
    bool paused = false;
    for (e = next_event(&one); strcmp(e.type, "end") != 0; e = next_event(&one)) {
        ck_assert_str_eq(json_text(e.data, "session/id"), id);
        paused = paused || strcmp(json_text(e.data, "session/state"), "paused") == 0;
        json_decref(e.data);
    }
    ck_assert(paused);
    ck_assert_str_eq(json_text(e.data, "reason"), "deleted");
    json_decref(e.data);
    ck_assert_ptr_null(http_stream_line(&one));
    http_stream_close(&one);
    http_stream_close(&all);
}
END_TEST

/* A reader continues where it stopped; if that is no longer in the list, it is told so. */
START_TEST(test_resume)
{
    char id[33], headers[128];
    http_stream s = http_stream_open(d, "/v1/events", sse);
    session_run(d, session_scene(2, 1, ""), id);
    event e = next_event(&s);
    ck_assert_str_eq(e.type, "created");
    json_decref(e.data);
    http_stream_close(&s);
    snprintf(headers, sizeof headers, "%sLast-Event-ID: %lld\r\n", sse, e.id);
    s = http_stream_open(d, "/v1/events", headers);
    expect_event(&s, "state", id, "running");
    expect_event(&s, "state", id, "succeeded");
    http_stream_close(&s);
    s = http_stream_open(d, "/v1/events?since=5", sse);
    e = next_event(&s);
    ck_assert_str_eq(e.type, "gap");
    ck_assert_str_eq(json_text(e.data, "reason"), "missed");
    json_decref(e.data);
    e = next_event(&s);
    ck_assert_str_eq(e.type, "created"); /* the oldest that is known */
    json_decref(e.data);
    http_stream_close(&s);
}
END_TEST

static json_t *poll_events(const char *path, int64_t since, int wait)
{
    http_reply *r = since < 0 ? http_getf(d, "%s", path)
                              : http_getf(d, "%s?since=%lld&wait=%d", path, (long long)since, wait);
    http_expect(r, 200);
    json_t *page = json_incref(r->json);
    http_reply_free(r);
    return page;
}

START_TEST(test_poll)
{
    char id[33];
    json_t *page = poll_events("/v1/events", -1, 0);
    int64_t since = json_count(page, "next");
    ck_assert_uint_eq(json_array_size(json_at(page, "items")), 0);
    json_decref(page);
    session_post_free(d, session_scene(300, 100, ""), id);
    bool over = false;
    int states = 0;
    for (int polls = 0; !over && polls < 50; polls++) {
        page = poll_events("/v1/events", since, 30);
        ck_assert(json_is_false(json_at(page, "missed")));
        ck_assert_uint_gt(json_array_size(json_at(page, "items")), 0);
        size_t i;
        json_t *item;
        json_array_foreach(json_at(page, "items"), i, item)
        {
            ck_assert_int_gt(json_count(item, "seq"), since);
            since = json_count(item, "seq");
            ck_assert_str_eq(json_text(item, "session/id"), id);
            states += strcmp(json_text(item, "event"), "state") == 0;
            over = over || strcmp(json_text(item, "session/state"), "succeeded") == 0;
        }
        ck_assert_int_eq(json_count(page, "next"), since);
        json_decref(page);
    }
    ck_assert(over);
    ck_assert_int_eq(states, 2);
    /* Nothing more happens: the poll waits as long as requested. */
    double begin = daemon_fixture_clock();
    page = poll_events(session_target(id, "events"), since, 1);
    ck_assert_double_ge(daemon_fixture_clock() - begin, 0.9);
    ck_assert_uint_eq(json_array_size(json_at(page, "items")), 0);
    json_decref(page);
    page = poll_events("/v1/events", 1, 0);
    ck_assert(json_is_true(json_at(page, "missed")));
    json_decref(page);
}
END_TEST

START_TEST(test_refusals)
{
    static const char *const bad[] = {"since=-1", "since=x", "wait=61", "from=0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        http_reply *r = http_getf(d, "/v1/events?%s", bad[i]);
        http_problem(r, 400, "bad_query");
        http_reply_free(r);
    }
    http_reply *r = http_getf(d, "/v1/sessions/%032d/events", 7);
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
    r = http_call(d, "GET", "/v1/events", "Authorization: Bearer no\r\n", NULL, 0);
    http_problem(r, 401, "unauthorized");
    http_reply_free(r);
}
END_TEST

/* More events than are kept: a reader that was away is told so, and one that reads continuously sees all. */
START_TEST(test_many)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await(d, id, "running");
    json_t *page = poll_events("/v1/events", -1, 0);
    int64_t since = json_count(page, "next");
    json_decref(page);
    for (int i = 0; i < 60; i++)
        session_rename(d, id, i);
    page = poll_events("/v1/events", since, 0);
    ck_assert_uint_eq(json_array_size(json_at(page, "items")), 60);
    ck_assert_str_eq(json_text(page, "items/59/session/name"), "turn 59");
    ck_assert_str_eq(json_text(page, "items/59/event"), "changed");
    json_decref(page);
    session_tell(d, id, "cancel");
}
END_TEST

/* ---- a page's one stream ---- */

typedef struct seen {
    int64_t frame, metrics; /* the last of each; -1: none */
    int frames, states;
    char state[16], reason[16];
} seen;

static bool take_record(http_stream *s, seen *t)
{
    pl_record r;
    char *payload;
    if (!http_stream_record(s, &r, &payload))
        return false;
    json_t *value = r.type == PL_RECORD_FRAME ? NULL
                                              : json_loadb(payload, (size_t)r.length, 0, NULL);
    ck_assert_str_eq(t->reason, ""); /* nothing after the end */
    switch (r.type) {
    case PL_RECORD_FRAME:
        ck_assert_int_gt((int64_t)r.frame, t->frame);
        t->frame = (int64_t)r.frame;
        t->frames++;
        break;
    case PL_RECORD_METRICS:
        ck_assert_int_eq((int64_t)r.frame, t->metrics + 1);
        ck_assert_int_eq(json_count(value, "frame"), (int64_t)r.frame);
        t->metrics = (int64_t)r.frame;
        break;
    case PL_RECORD_STATE:
        t->states++;
        snprintf(t->state, sizeof t->state, "%s", json_text(value, "state"));
        break;
    case PL_RECORD_END:
        snprintf(t->reason, sizeof t->reason, "%s", json_text(value, "reason"));
        break;
    default:
        ck_abort_msg("a record of type %d", r.type);
    }
    json_decref(value);
    free(payload);
    return true;
}

static http_stream open_page(const char *id, const char *rest)
{
    http_stream s = http_stream_open(d, session_target(id, rest), NULL);
    pl_record r;
    char *payload;
    ck_assert(http_stream_record(&s, &r, &payload));
    ck_assert_int_eq(r.type, PL_RECORD_HELLO);
    free(payload);
    return s;
}

/* All metrics once, the newest frames, and each state, whatever happens to the session. */
START_TEST(test_page)
{
    char id[33];
    seen t = {.frame = -1, .metrics = -1};
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 2);
    http_stream s = open_page(id, "stream?from=0&dtype=u16&vertices=surface");
    while (t.metrics < 4)
        ck_assert(take_record(&s, &t));
    ck_assert_int_ge(t.frame, 2);
    ck_assert_str_eq(t.state, "running");
    session_tell(d, id, "pause");
    while (strcmp(t.state, "paused") != 0)
        ck_assert(take_record(&s, &t));
    session_tell(d, id, "resume");
    while (strcmp(t.state, "running") != 0)
        ck_assert(take_record(&s, &t));
    session_tell(d, id, "cancel");
    while (take_record(&s, &t))
        ;
    ck_assert_str_eq(t.reason, "cancelled");
    ck_assert_str_eq(t.state, "cancelled");
    json_t *session = session_show(d, id);
    ck_assert_int_eq(json_count(session, "progress/frame"), t.metrics);
    ck_assert_int_eq(t.frame, t.metrics);
    json_decref(session);
    http_stream_close(&s);
}
END_TEST

/* Of a session that is over: its last frame, its last metrics or all that are asked for, its end. */
START_TEST(test_page_after)
{
    char id[33];
    session_run(d, session_scene(5, 1, ""), id);
    for (int from = 0; from < 2; from++) {
        seen t = {.frame = -1, .metrics = from ? -1 : 4};
        http_stream s = open_page(id, from ? "stream?from=0" : "stream");
        while (take_record(&s, &t))
            ;
        ck_assert(t.frame == 5 && t.metrics == 5 && t.frames == 1 && t.states == 1);
        ck_assert_str_eq(t.reason, "succeeded");
        http_stream_close(&s);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("events");
    tcase_set_timeout(t, 25); /* a wake-up that is lost costs 10 s and more */
    tcase_add_checked_fixture(t, start_daemon, stop_daemon);
    tcase_add_test(t, test_life);
    tcase_add_test(t, test_resume);
    tcase_add_test(t, test_poll);
    tcase_add_test(t, test_refusals);
    tcase_add_test(t, test_many);
    tcase_add_test(t, test_page);
    tcase_add_test(t, test_page_after);
    return run_cases("contract: events", t);
}
