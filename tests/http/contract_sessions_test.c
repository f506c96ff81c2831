/* Lists, one session and waiting for it, cancel and delete, and who runs when.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static http_reply *cancel(const char *id)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/cancel", id);
    return http_post(d, target, NULL);
}

static http_reply *delete_session(const char *id)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    return http_call(d, "DELETE", target, NULL, NULL, 0);
}

/* ---- list ---- */

enum { LISTED = 7 };

START_TEST(test_list)
{
    char ids[LISTED][33];
    http_reply *r = http_get(d, "/v1/sessions");
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 0);
    ck_assert(json_is_null(json_object_get(r->json, "next")));
    http_reply_free(r);
    for (int i = 0; i < LISTED; i++)
        session_post_free(d, session_scene(1, 1, ""), ids[i]);
    r = http_get(d, "/v1/sessions");
    http_expect(r, 200);
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), LISTED);
    ck_assert(json_is_null(json_object_get(r->json, "next")));
    for (int i = 0; i < LISTED; i++) {
        const json_t *item = json_array_get(json_at(r->json, "items"), (size_t)i);
        ck_assert_str_eq(json_text(item, "id"), ids[LISTED - 1 - i]);
        ck_assert_str_eq(json_text(item, "name"), "cube");
    }
    http_reply_free(r);
}
END_TEST

/* Pages of 3: each session once, in order, also while newer ones come. */
START_TEST(test_paging)
{
    char ids[LISTED][33], newer[33], target[300] = "/v1/sessions?limit=3";
    for (int i = 0; i < LISTED; i++)
        session_post_free(d, session_scene(1, 1, ""), ids[i]);
    int seen = 0;
    for (int page = 0; page < 3; page++) {
        http_reply *r = http_get(d, target);
        http_expect(r, 200);
        const json_t *items = json_at(r->json, "items"), *next = json_at(r->json, "next");
        ck_assert_uint_eq(json_array_size(items), page < 2 ? 3 : 1);
        for (size_t i = 0; i < json_array_size(items); i++, seen++)
            ck_assert_str_eq(json_text(json_array_get(items, i), "id"), ids[LISTED - 1 - seen]);
        if (page == 0)
            session_post_free(d, session_scene(1, 1, ""), newer);
        ck_assert(page == 2 ? json_is_null(next) : json_is_string(next) || json_is_integer(next));
        if (json_is_string(next))
            snprintf(target, sizeof target, "/v1/sessions?limit=3&cursor=%.200s",
                     json_string_value(next));
        else
            snprintf(target, sizeof target, "/v1/sessions?limit=3&cursor=%lld",
                     (long long)json_integer_value(next));
        http_reply_free(r);
    }
    ck_assert_int_eq(seen, LISTED);
}
END_TEST

START_TEST(test_list_filters)
{
    char done[33], running[33];
    session_run(d, session_scene(1, 1, ""), done);
    session_post_free(d, session_scene_endless(""), running);
    session_await(d, running, "running");
    http_reply *r = http_get(d, "/v1/sessions?state=succeeded");
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 1);
    ck_assert_str_eq(json_text(r->json, "items/0/id"), done);
    http_reply_free(r);
    r = http_get(d, "/v1/sessions?state=running&limit=5");
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 1);
    ck_assert_str_eq(json_text(r->json, "items/0/id"), running);
    http_reply_free(r);
    r = http_get(d, "/v1/sessions?state=failed");
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 0);
    http_reply_free(r);
}
END_TEST

START_TEST(test_list_refusals)
{
    static const char *const bad[] = {
        "?state=runing", "?limit=0",     "?limit=x", "?limit=1e3",
        "?limit=-1",     "?cursor=zzz!", "?limit=",  "?limit=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        http_reply *r = http_getf(d, "/v1/sessions%s", bad[i]);
        http_problem(r, 400, "bad_query");
        if (i == 0)
            ck_assert_ptr_nonnull(strstr(r->body, "running"));
        http_reply_free(r);
    }
}
END_TEST

/* ---- one session ---- */

START_TEST(test_no_such_session)
{
    static const char *const ids[] = {"00000000000000000000000000000000", "x", "..%2f..%2ftoken",
                                      "%00", "0000000000000000000000000000000000000000"};
    static const char *const below[] = {"",         "/topology", "/frames", "/frames/0",
                                        "/metrics", "/scene",    "/log",    "/files"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        for (size_t k = 0; k < sizeof below / sizeof *below; k++) {
            http_reply *r = http_getf(d, "/v1/sessions/%s%s", ids[i], below[k]);
            ck_assert_msg(r->status == 404, "%s%s: %d", ids[i], below[k], r->status);
            ck_assert_str_eq(http_header(r, "Content-Type"), "application/problem+json");
            http_reply_free(r);
        }
    http_reply *r = cancel(ids[0]);
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
    r = delete_session(ids[0]);
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
}
END_TEST

/* An ended session answers at once; another when its state or its progress changes. */
START_TEST(test_wait)
{
    char id[33], blocked[33], done[33];
    session_run(d, session_scene(1, 1, ""), done);
    http_reply *r = http_getf(d, "/v1/sessions/%s?wait=60", done);
    ck_assert_str_eq(json_text(r->json, "state"), "succeeded");
    http_reply_free(r);
    r = http_getf(d, "/v1/sessions/%s?wait=soon", done);
    http_problem(r, 400, "bad_query");
    http_reply_free(r);
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), id);
    session_await(d, id, "running");
    /* Nothing changes in a session that waits for the first: the reply comes when the time is over. */
    session_post_free(d, session_scene(1, 1, ""), blocked);
    r = http_getf(d, "/v1/sessions/%s?wait=1", blocked);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "state"), "queued");
    http_reply_free(r);
    /* The state changes while a request waits. */
    http_connection *c = http_open(d);
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s?wait=60", blocked);
    http_ask(c, d, target, NULL);
    session_tell(d, blocked, "cancel");
    r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    ck_assert(http_read_body(c, r));
    ck_assert_ptr_nonnull(strstr(r->body, "\"cancelled\""));
    http_reply_free(r);
    http_close(c);
}
END_TEST

START_TEST(test_wait_for_progress)
{
    char id[33];
    session_post_free(d, session_scene(100000000, 300, ""), id);
    session_await(d, id, "running");
    json_t *before = session_show(d, id);
    double began = daemon_fixture_clock();
    http_reply *r = http_getf(d, "/v1/sessions/%s?wait=60", id);
    http_expect(r, 200);
    ck_assert_str_eq(json_text(r->json, "state"), "running");
    ck_assert_int_gt(json_count(r->json, "progress/frame"), json_count(before, "progress/frame"));
    /* Not a speed: it answers at a frame, and not when its time is over. */
    ck_assert_double_lt(daemon_fixture_clock() - began, 50);
    json_decref(before);
    http_reply_free(r);
}
END_TEST

/* ---- cancel ---- */

START_TEST(test_cancel_running)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 2);
    http_reply *r = cancel(id);
    http_expect(r, 202);
    ck_assert_str_eq(json_text(r->json, "id"), id);
    http_reply_free(r);
    session_await(d, id, "cancelled");
    json_t *first = session_show(d, id);
    int64_t last = json_count(first, "progress/frame");
    ck_assert_int_ge(last, 2);
    ck_assert(json_is_null(json_at(first, "failure")));
    r = http_getf(d, "/v1/sessions/%s/frames/%lld", id, (long long)last);
    http_expect(r, 200);
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_worker(id), 0);
    r = cancel(id);
    http_expect(r, 202);
    http_reply_free(r);
    json_t *second = session_show(d, id);
    ck_assert(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}
END_TEST

START_TEST(test_cancel_queued)
{
    char id[33], waiting[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), id);
    session_await(d, id, "running");
    session_post_free(d, session_scene(1, 1, ""), waiting);
    http_reply *r = cancel(waiting);
    http_expect(r, 202);
    ck_assert_str_eq(json_text(r->json, "state"), "cancelled");
    ck_assert_int_eq(json_count(r->json, "queue/position"), 0);
    http_reply_free(r);
    r = http_getf(d, "/v1/sessions/%s/frames/latest", waiting);
    http_problem(r, 404, "no_such_frame");
    http_reply_free(r);
    /* Its place is free, and it never ran. */
    session_tell(d, id, "cancel");
    session_await(d, id, "cancelled");
    json_t *session = session_show(d, waiting);
    ck_assert_str_eq(json_text(session, "state"), "cancelled");
    ck_assert(json_is_null(json_at(session, "progress/frame")));
    ck_assert_int_ne(access(session_path(d, waiting, "head.json"), F_OK), 0);
    json_decref(session);
}
END_TEST

/* After the end there is nothing to change, and that is no error. */
START_TEST(test_cancel_after_end)
{
    char id[33];
    session_run(d, session_scene(2, 1, ""), id);
    json_t *first = session_show(d, id);
    http_reply *r = cancel(id);
    http_expect(r, 202);
    http_reply_free(r);
    json_t *second = session_show(d, id);
    ck_assert(json_equal(first, second));
    ck_assert_str_eq(json_text(second, "state"), "succeeded");
    json_decref(first);
    json_decref(second);
}
END_TEST

/* ---- delete ---- */

START_TEST(test_delete_ended)
{
    char id[33], kept[33];
    session_run(d, session_scene(2, 1, ""), kept);
    session_run(d, session_scene(2, 1, ""), id);
    ck_assert_int_eq(access(session_path(d, id, "scene.json"), F_OK), 0);
    http_reply *r = delete_session(id);
    http_expect(r, 204);
    ck_assert_uint_eq(r->length, 0);
    http_reply_free(r);
    ck_assert_int_ne(access(session_path(d, id, ""), F_OK), 0);
    session_await_gone(d, id);
    r = delete_session(id);
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
    r = http_get(d, "/v1/sessions");
    ck_assert_uint_eq(json_array_size(json_at(r->json, "items")), 1);
    ck_assert_str_eq(json_text(r->json, "items/0/id"), kept);
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_sessions(d), 1);
    /* Gone for good. */
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    session_await_gone(d, id);
}
END_TEST

START_TEST(test_delete_live)
{
    char id[33], waiting[33], target[96];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), id);
    session_await_frame(d, id, 1);
    session_post_free(d, session_scene(1, 1, ""), waiting);
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?from=0&follow=1", id);
    http_stream s = http_stream_open(d, target, NULL);
    (void)daemon_fixture_await_worker(id);
    http_reply *r = delete_session(id);
    http_expect(r, 202);
    http_reply_free(r);
    pl_record record;
    char *payload;
    bool deleted = false;
    while (http_stream_record(&s, &record, &payload)) {
        ck_assert(!deleted);
        if (record.type == PL_RECORD_END) {
            ck_assert_ptr_nonnull(strstr(payload, "\"deleted\""));
            deleted = true;
        }
        free(payload);
    }
    ck_assert(deleted);
    http_stream_close(&s);
    session_await_gone(d, id);
    ck_assert_int_eq(daemon_fixture_worker(id), 0);
    session_await(d, waiting, "succeeded");
}
END_TEST

START_TEST(test_delete_queued)
{
    char id[33], waiting[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"cores\": 2}"), id);
    session_await(d, id, "running");
    session_post_free(d, session_scene(1, 1, ""), waiting);
    http_reply *r = delete_session(waiting);
    ck_assert_msg(r->status == 202 || r->status == 204, "%d", r->status);
    http_reply_free(r);
    session_await_gone(d, waiting);
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "state"), "running");
    json_decref(session);
}
END_TEST

/* ---- who runs when ---- */

/* Two sessions of one core run on two cores at the same time; the third waits and gives its reason. */
START_TEST(test_two_at_once)
{
    char ids[4][33];
    for (int i = 0; i < 2; i++)
        session_post_free(d, session_scene_endless(""), ids[i]);
    for (int i = 2; i < 4; i++)
        session_post_free(d, session_scene(3, 1, ""), ids[i]);
    session_await_frame(d, ids[0], 1);
    session_await_frame(d, ids[1], 1);
    /* Both progress within a period in which neither ended. */
    for (int i = 0; i < 2; i++) {
        json_t *session = session_show(d, ids[i]);
        session_await_frame(d, ids[i], json_count(session, "progress/frame") + 2);
        json_decref(session);
    }
    for (int i = 0; i < 2; i++) {
        json_t *session = session_show(d, ids[i]);
        ck_assert_str_eq(json_text(session, "state"), "running");
        ck_assert_int_eq(json_count(session, "queue/position"), 0);
        (void)daemon_fixture_await_worker(ids[i]);
        json_decref(session);
    }
    for (int i = 2; i < 4; i++) {
        json_t *session = session_show(d, ids[i]);
        ck_assert_str_eq(json_text(session, "state"), "queued");
        ck_assert_int_eq(json_count(session, "queue/position"), i - 1);
        ck_assert_str_ne(json_text(session, "queue/reason"), "");
        ck_assert_int_eq(daemon_fixture_worker(ids[i]), 0);
        json_decref(session);
    }
    session_tell(d, ids[0], "cancel");
    for (int i = 2; i < 4; i++)
        session_await(d, ids[i], "succeeded");
    json_t *session = session_show(d, ids[1]);
    ck_assert_str_eq(json_text(session, "state"), "running");
    json_decref(session);
}
END_TEST

enum { CROWD = 20 };

START_TEST(test_twenty)
{
    char ids[CROWD][33], head[512];
    http_connection *connections[CROWD];
    char *scene = session_scene(5, 1, "");
    int n = snprintf(head, sizeof head,
                     "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                     "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     d->port, d->token, strlen(scene));
    for (int i = 0; i < CROWD; i++) {
        connections[i] = http_open(d);
        ck_assert(http_write(connections[i], head, (size_t)n));
        ck_assert(http_write(connections[i], scene, strlen(scene)));
    }
    for (int i = 0; i < CROWD; i++) {
        http_reply *r = http_read_head(connections[i]);
        ck_assert_ptr_nonnull(r);
        ck_assert(http_read_body(connections[i], r));
        http_expect(r, 201);
        snprintf(ids[i], sizeof ids[i], "%.32s", http_header(r, "Location") + 13);
        http_reply_free(r);
        http_close(connections[i]);
    }
    for (int i = 0; i < CROWD; i++) {
        session_await(d, ids[i], "succeeded");
        json_t *session = session_show(d, ids[i]);
        ck_assert_int_eq(json_count(session, "progress/frame"), 5);
        json_decref(session);
    }
    ck_assert_int_eq(daemon_fixture_sessions(d), CROWD);
    free(scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: sessions");
    TCase *tests = tcase_create("sessions");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_list);
    tcase_add_test(tests, test_paging);
    tcase_add_test(tests, test_list_filters);
    tcase_add_test(tests, test_list_refusals);
    tcase_add_test(tests, test_no_such_session);
    tcase_add_test(tests, test_wait);
    tcase_add_test(tests, test_wait_for_progress);
    tcase_add_test(tests, test_cancel_running);
    tcase_add_test(tests, test_cancel_queued);
    tcase_add_test(tests, test_cancel_after_end);
    tcase_add_test(tests, test_delete_ended);
    tcase_add_test(tests, test_delete_live);
    tcase_add_test(tests, test_delete_queued);
    tcase_add_test(tests, test_two_at_once);
    tcase_add_test(tests, test_twenty);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
