/* Pause and resume, and the wait for a restart: cores are free meanwhile, followers stay and miss
 * nothing, cancel and delete work at once, and a restart of the daemon changes none of it.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MACHINE ", \"resources\": {\"cores\": 2}"

/* Restarts wait for a minute. A worker that is told to pause has time for its checkpoint. */
static void start_patient(void)
{
    static const char *const options[] = {
        "--cores", "2", "--restart-delays", "60,60,60", "--patience", "60", NULL};
    daemon_fixture_start(d, options);
}

/* Workers get a second to react. */
static void start_impatient(void)
{
    static const char *const options[] = {"--cores", "2", "--patience", "1", NULL};
    daemon_fixture_start(d, options);
}

static void refuse(const char *id, const char *verb, const char *code)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/%s", id, verb);
    http_reply *r = http_post(d, target, NULL);
    http_problem(r, 409, code);
    http_reply_free(r);
}

static http_stream follow(const char *id, const char *what)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/sessions/%s/%s?follow=1", id, what);
    return http_stream_open(d, target, NULL);
}

/* Read a stream of frames until its end: each once, from 0. Returns the last. */
static int64_t read_frames(http_stream *s, char reason[32])
{
    pl_record record;
    char *payload;
    int64_t next = 0;
    while (http_stream_record(s, &record, &payload)) {
        if (record.type == PL_RECORD_FRAME)
            ck_assert_int_eq((int64_t)record.frame, next++);
        if (record.type == PL_RECORD_END) {
            json_t *end = json_loads(payload, 0, NULL);
            snprintf(reason, 32, "%s", json_text(end, "reason"));
            json_decref(end);
        }
        free(payload);
    }
    http_stream_close(s);
    return next - 1;
}

/* The next heartbeat of a stream of metrics that tells that it is paused, or that it is not, checking that frames come
 * in order: one may have been on its way since before. */
static void await_heartbeat(http_stream *s, int64_t *next, bool paused)
{
    for (char *line; (line = http_stream_line(s)); free(line)) {
        json_t *value = json_loads(line, 0, NULL);
        bool told = strcmp(json_text(value, "event"), "heartbeat") == 0 &&
                    (strcmp(json_text(value, "state"), "paused") == 0) == paused;
        if (!json_object_get(value, "event"))
            ck_assert_int_eq(json_count(value, "frame"), (*next)++);
        json_decref(value);
        if (told) {
            free(line);
            return;
        }
    }
    ck_abort_msg("the stream ended");
}

START_TEST(test_pause_running)
{
    char id[33], other[33], reason[32];
    int64_t next = 0;
    session_post_free(d, session_scene_endless(WHOLE_MACHINE), id);
    http_stream frames = follow(id, "frames"), metrics = follow(id, "metrics");
    session_await_frame(d, id, 3);
    session_post_free(d, session_scene(2, 1, WHOLE_MACHINE), other);
    session_tell(d, id, "pause");
    session_tell(d, id, "pause"); /* again is no change */
    session_await(d, id, "paused");
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "paused/by"), "user");
    ck_assert(json_is_null(json_at(session, "desired")));
    int64_t before = json_count(session, "progress/frame");
    json_decref(session);
    session_await(d, other, "succeeded"); /* the cores are free */
    await_heartbeat(&metrics, &next, true);
    session = session_show(d, id);
    ck_assert_int_eq(json_count(session, "progress/frame"), before);
    json_decref(session);
    session_tell(d, id, "resume");
    session_tell(d, id, "resume");
    session_await_frame(d, id, before + 3);
    session = session_show(d, id);
    ck_assert(json_is_null(json_at(session, "paused")));
    ck_assert_int_eq(json_count(session, "attempt"), 2);
    json_decref(session);
    await_heartbeat(&metrics, &next, false);
    session_tell(d, id, "cancel");
    ck_assert_int_ge(read_frames(&frames, reason), before + 3);
    ck_assert_str_eq(reason, "cancelled");
    session_await(d, id, "cancelled");
    http_stream_close(&metrics);
}
END_TEST

START_TEST(test_pause_queued)
{
    char blocker[33], id[33], last[33];
    session_post_free(d, session_scene_endless(WHOLE_MACHINE), blocker);
    session_await(d, blocker, "running");
    session_post_free(d, session_scene(2, 1, ""), id);
    session_post_free(d, session_scene(2, 1, ""), last);
    ck_assert_str_eq(session_tell(d, id, "pause"), "paused");
    json_t *session = session_show(d, last);
    ck_assert_int_eq(json_count(session, "queue/position"), 1);
    json_decref(session);
    session_tell(d, blocker, "cancel");
    session_await(d, last, "succeeded");
    session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "state"), "paused");
    json_decref(session);
    session_tell(d, id, "resume");
    session_await(d, id, "succeeded");
}
END_TEST

/* Only the impossible is refused. */
START_TEST(test_refused)
{
    char id[33], running[33];
    session_run(d, session_scene(2, 1, ""), id);
    refuse(id, "pause", "session_over");
    refuse(id, "resume", "session_over");
    session_post_free(d, session_scene_endless(""), running);
    session_await_frame(d, running, 1);
    ck_assert_str_eq(session_tell(d, running, "resume"), "running");
    http_reply *r = http_post(d, "/v1/sessions/00000000000000000000000000000000/pause", NULL);
    http_problem(r, 404, "no_such_session");
    http_reply_free(r);
}
END_TEST

/* A pause that is taken back before the worker has heard of it. */
START_TEST(test_changed_mind)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    for (int i = 0; i < 5; i++) {
        session_tell(d, id, "pause");
        session_tell(d, id, "resume");
    }
    json_t *session = session_show(d, id);
    int64_t frame = json_count(session, "progress/frame");
    json_decref(session);
    session_await_frame(d, id, frame + 3);
}
END_TEST

START_TEST(test_end_paused)
{
    char cancelled[33], deleted[33];
    session_post_free(d, session_scene_endless(""), cancelled);
    session_post_free(d, session_scene_endless(""), deleted);
    session_await_frame(d, cancelled, 1);
    session_await_frame(d, deleted, 1);
    session_tell(d, cancelled, "pause");
    session_tell(d, deleted, "pause");
    session_await(d, cancelled, "paused");
    session_await(d, deleted, "paused");
    ck_assert_str_eq(session_tell(d, cancelled, "cancel"), "cancelled");
    refuse(cancelled, "resume", "session_over");
    char target[64];
    snprintf(target, sizeof target, "/v1/sessions/%s", deleted);
    http_reply *r = http_call(d, "DELETE", target, NULL, NULL, 0);
    http_expect(r, 204);
    http_reply_free(r);
    session_await_gone(d, deleted);
}
END_TEST

/* Paused stays paused under the next daemon, and goes on there. */
START_TEST(test_paused_over_restart)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 2);
    session_tell(d, id, "pause");
    if (_i)
        session_await(d, id, "paused");
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    session_await(d, id, "paused");
    json_t *session = session_show(d, id);
    int64_t before = json_count(session, "progress/frame");
    ck_assert_int_ge(before, 2);
    json_decref(session);
    session_tell(d, id, "resume");
    session_await_frame(d, id, before + 2);
}
END_TEST

/* ---- waiting for a restart ---- */

/* The delay is 60 s; what is left of it on a slow machine is not the test's to say. */
static void expect_restart(const char *reason, int attempt)
{
    int left, which, end = 0;
    sscanf(reason,
           "restarts in %d s: the worker was killed by signal 9 (Killed) (attempt %d of 4)%n",
           &left, &which, &end);
    ck_assert_msg(end > 0 && left <= 60 && left > 20 && which == attempt, "%s", reason);
}

static void crash(const char *id, int attempt)
{
    ck_assert_int_eq(kill(daemon_fixture_await_worker(id), SIGKILL), 0);
    session_await(d, id, "queued");
    json_t *session = session_show(d, id);
    const char *reason = json_text(session, "queue/reason");
    expect_restart(reason, attempt);
    ck_assert_str_eq(json_text(session, "reason"), "worker_crashed");
    json_decref(session);
}

START_TEST(test_waiting_for_restart)
{
    char id[33], other[33];
    session_post_free(d, session_scene_endless(WHOLE_MACHINE), id);
    session_await_frame(d, id, 1);
    crash(id, 2);
    session_run(d, session_scene(2, 1, WHOLE_MACHINE), other); /* the cores are free */
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    daemon_fixture_resume(d);
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "state"), "queued");
    expect_restart(json_text(session, "queue/reason"), 2);
    json_decref(session);
    /* A pause and a resume do not wait for it. */
    ck_assert_str_eq(session_tell(d, id, "pause"), "paused");
    session_tell(d, id, "resume");
    session_await(d, id, "running");
    session_await_frame(d, id, 2);
    crash(id, 3);
    /* After a new checkpoint, here through a pause, the count starts again. */
    session_tell(d, id, "pause");
    session_tell(d, id, "resume");
    session_await(d, id, "running");
    session = session_show(d, id);
    int64_t frame = json_count(session, "progress/frame");
    json_decref(session);
    session_await_frame(d, id, frame + 2);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    session_tell(d, id, "resume");
    session_await_frame(d, id, frame + 4);
    crash(id, 2);
    ck_assert_str_eq(session_tell(d, id, "cancel"), "cancelled");
}
END_TEST

/* A worker that does not react is killed; the session is paused all the same and goes on. */
START_TEST(test_deaf_worker)
{
    char id[33], other[33];
    session_post_free(d, session_scene_endless(""), id);
    session_post_free(d, session_scene_endless(""), other);
    session_await_frame(d, id, 1);
    session_await_frame(d, other, 1);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(id), SIGSTOP), 0);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(other), SIGSTOP), 0);
    session_tell(d, id, "pause");
    session_tell(d, other, "cancel");
    session_await(d, id, "paused");
    session_await(d, other, "cancelled");
    json_t *session = session_show(d, other);
    ck_assert_str_eq(json_text(session, "reason"), "killed");
    json_decref(session);
    session = session_show(d, id);
    ck_assert_ptr_nonnull(strstr(json_text(session, "message"), "did not react within 1 s"));
    int64_t before = json_count(session, "progress/frame");
    json_decref(session);
    session_tell(d, id, "resume");
    session_await_frame(d, id, before + 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: lifecycle");
    TCase *tests = tcase_create("pause");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_pause_running);
    tcase_add_test(tests, test_pause_queued);
    tcase_add_test(tests, test_refused);
    tcase_add_test(tests, test_changed_mind);
    tcase_add_test(tests, test_end_paused);
    tcase_add_loop_test(tests, test_paused_over_restart, 0, 2);
    suite_add_tcase(suite, tests);
    tests = tcase_create("waiting");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_patient, stop_daemon);
    tcase_add_test(tests, test_waiting_for_restart);
    suite_add_tcase(suite, tests);
    tests = tcase_create("deaf");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_impatient, stop_daemon);
    tcase_add_test(tests, test_deaf_worker);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
