/* The supervisor's timed actions: a time limit applies inside a step and to a worker that was stopped, also over a
 * restart of the daemon; a worker without progress is shown as stalled, and eventually killed. */
#include "protocol/log/checkpoint.h"
#include "tests/support/one_daemon.h"
#include "tests/support/pliant_fixture.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One step is a minute of work; `more` goes into the scene. */
static void post_long_step(const char *more, char id[33])
{
    char scene[600];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3},"
             " \"solver\": {\"method\": \"admm\", \"iterations\": 10000, \"tolerance\": 0},"
             " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [16, 16, 16]}}}],"
             " \"pins\": [{\"select\": {\"side\": \"-x\"}}]%s}",
             more);
    session_post(d, scene, id);
}

static void expect_timed_out(const char *id, int64_t frame)
{
    json_t *session = session_show(d, id);
    ck_assert_str_eq(json_text(session, "reason"), "timeout");
    ck_assert_str_eq(json_text(session, "failure/code"), "timeout");
    ck_assert_ptr_nonnull(strstr(json_text(session, "failure/message"), "time limit of"));
    ck_assert_ptr_nonnull(strstr(json_text(session, "failure/advice"), "resources.time_limit"));
    if (frame >= 0)
        ck_assert_int_eq(json_count(session, "failure/frame"), frame);
    ck_assert_int_eq(json_count(session, "failure/frame"), json_count(session, "progress/frame"));
    ck_assert_int_eq(json_count(session, "attempt"), 1);
    json_decref(session);
    ck_assert_int_eq(session_counter(d, "workers_crashed_total"), 0);
}

/* ---- the time limit ---- */

/* Frame 0 is kept; had the step been waited for, there would be a frame 1. */
START_TEST(test_inside_a_step)
{
    char id[33];
    post_long_step(", \"resources\": {\"time_limit\": 1}", id);
    session_await(d, id, "failed");
    expect_timed_out(id, 0);
}
END_TEST

START_TEST(test_stopped_worker)
{
    char id[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"time_limit\": 2}"), id);
    session_await_frame(d, id, 0);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(id), SIGSTOP), 0);
    session_await(d, id, "failed");
    expect_timed_out(id, -1);
}
END_TEST

/* The next daemon continues to count from the worker's time. */
START_TEST(test_adopted)
{
    char id[33];
    post_long_step(", \"resources\": {\"time_limit\": 2}", id);
    session_await_frame(d, id, 0);
    daemon_fixture_end(d, SIGKILL);
    daemon_fixture_resume(d);
    session_await(d, id, "failed");
    expect_timed_out(id, 0);
}
END_TEST

/* Between two steps the worker ends by itself, with a checkpoint of its last frame. */
START_TEST(test_between_steps)
{
    char id[33];
    session_post_free(d, session_scene_endless(", \"resources\": {\"time_limit\": 1}"), id);
    session_await(d, id, "failed");
    expect_timed_out(id, -1);
    json_t *session = session_show(d, id);
    pl_checkpoint newest;
    int dir_fd = open(session_path(d, id, ""), O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(pl_checkpoint_newest(dir_fd, &newest), PL_OK);
    close(dir_fd);
    ck_assert_int_gt(newest.frame, 0);
    ck_assert_int_eq(newest.frame, json_count(session, "failure/frame"));
    json_decref(session);
}
END_TEST

/* Seconds that the session ran before its worker was started, as recorded in its row for the next daemon; -1: not
 * recorded yet. */
static double spent_before(const char *id, int64_t attempt)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    double spent = -1;
    ck_assert_int_eq(sqlite3_open(daemon_fixture_path(d, "pliant.db"), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 20000);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT worker FROM sessions WHERE id = ? AND attempt = ?",
                                        -1, &row, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(row, 1, id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(row, 2, attempt);
    if (sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0))
        sscanf((const char *)sqlite3_column_text(row, 0), "%*s %*s %*s %lf", &spent);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return spent;
}

/* The limit applies to all attempts together: the next worker starts counting at the checkpoint's time. */
START_TEST(test_over_attempts)
{
    char id[33];
    pl_checkpoint newest;
    double spent = -1;
    session_post_free(d, session_scene_endless(", \"resources\": {\"time_limit\": 1000}"), id);
    session_await_frame(d, id, 3);
    session_tell(d, id, "pause");
    session_await(d, id, "paused");
    int dir_fd = open(session_path(d, id, ""), O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(pl_checkpoint_newest(dir_fd, &newest), PL_OK);
    close(dir_fd);
    ck_assert_double_gt(newest.seconds, 0);
    session_tell(d, id, "resume");
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; spent <= 0; daemon_fixture_nap()) {
        spent = spent_before(id, 2);
        ck_assert_msg(daemon_fixture_clock() < end, "%g", spent);
    }
    ck_assert_double_eq_tol(spent, newest.seconds, 1e-3);
    session_tell(d, id, "cancel");
}
END_TEST

/* ---- no progress ---- */

static void start_watchful(void)
{
    static const char *const options[] = {"--cores", "2", "--stalled-after", "2,4", NULL};
    daemon_fixture_start(d, options);
}

/* "" if the session is not stalled. */
static void await_stalled(const char *id, const char *why)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        bool there = strcmp(json_text(session, "stalled/why"), why) == 0;
        if (there && *why) {
            ck_assert_str_eq(json_text(session, "state"), "running");
            ck_assert_str_ne(json_text(session, "stalled/since"), "");
        }
        json_decref(session);
        if (there)
            return;
        ck_assert(daemon_fixture_clock() < end);
    }
}

START_TEST(test_stalled)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    pid_t worker = daemon_fixture_await_worker(id);
    ck_assert_int_eq(kill(worker, SIGSTOP), 0);
    await_stalled(id, "stopped");
    http_reply *r = http_get(d, "/v1/sessions");
    ck_assert_str_eq(json_text(r->json, "items/0/stalled/why"), "stopped");
    http_reply_free(r);
    ck_assert_int_eq(session_counter(d, "workers_stalled_total"), 1);
    pliant_setup_beside(d);
    ck_assert_int_eq(pliant("list"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "stalled: its worker was stopped by a signal"));
    ck_assert_int_eq(pliant("show %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, ": its worker was stopped by a signal"));
    ck_assert_int_eq(kill(worker, SIGCONT), 0);
    await_stalled(id, "");
    json_t *session = session_show(d, id);
    ck_assert_int_eq(json_count(session, "attempt"), 1);
    session_await_frame(d, id, json_count(session, "progress/frame") + 2);
    json_decref(session);
}
END_TEST

/* Eventually it is killed, which counts as a crash: it continues from its checkpoint. */
START_TEST(test_killed)
{
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(id), SIGSTOP), 0);
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        json_t *session = session_show(d, id);
        bool again = json_count(session, "attempt") == 2;
        json_decref(session);
        if (again)
            break;
        ck_assert(daemon_fixture_clock() < end);
    }
    session_await_frame(d, id, 2);
    await_stalled(id, "");
    ck_assert_int_eq(session_counter(d, "workers_crashed_total"), 1);
    ck_assert(daemon_fixture_said(d, "made no progress for 4 s and was killed"));
}
END_TEST

/* A step of a minute is progress, and so is waiting for the wall clock: as long as this takes, neither is stalled. */
START_TEST(test_no_false_alarm)
{
    char busy[33], waits[33], stopped[33];
    post_long_step("", busy);
    session_post(d,
                 "{\"pliant\": 1, \"time\": {\"step\": 1000, \"steps\": 3, \"pace\": \"realtime\"},"
                 " \"bodies\": [{\"mesh\": {\"box\": {}}}],"
                 " \"pins\": [{\"select\": {\"side\": \"-x\"}}]}",
                 waits);
    session_await_frame(d, busy, 0);
    session_await_frame(d, waits, 0);
    for (double end = daemon_fixture_clock() + 3.5; daemon_fixture_clock() < end;
         daemon_fixture_nap()) {
    }
    ck_assert_int_eq(session_counter(d, "workers_stalled_total"), 0);
    session_tell(d, busy, "cancel");
    session_post_free(d, session_scene_endless(""), stopped);
    session_await_frame(d, stopped, 0);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(stopped), SIGSTOP), 0);
    await_stalled(stopped, "stopped");
    ck_assert_int_eq(session_counter(d, "workers_stalled_total"), 1);
    json_t *session = session_show(d, waits);
    ck_assert(json_is_null(json_at(session, "stalled")));
    json_decref(session);
}
END_TEST

static long score_of(pid_t pid)
{
    char path[64];
    long score = -2000;
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    FILE *file = fopen(path, "r");
    ck_assert(file && fscanf(file, "%ld", &score) == 1);
    fclose(file);
    return score;
}

/* Out of memory, the kernel takes a worker before the daemon. */
START_TEST(test_score)
{
    char id[33];
    long own = score_of(d->pid);
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 0);
    if (own >= 1000)
        skip_test("worker watch: the score of this process is the highest that there is");
    ck_assert_int_gt(score_of(daemon_fixture_await_worker(id)), own);
}
END_TEST

/* ---- looking at the log ---- */

/* Writes the first byte of a file of the log again. */
static void write_again(const char *id, const char *name)
{
    char byte;
    int fd = open(session_path(d, id, name), O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pread(fd, &byte, 1, 0), 1);
    ck_assert_int_eq(pwrite(fd, &byte, 1, 0), 1);
    close(fd);
}

/* A frame's writes to the segment are one look: when the index is written after them, or else a little later. */
START_TEST(test_one_look)
{
    enum { WRITES = 40 };
    char id[33];
    session_post_free(d, session_scene_endless(""), id);
    session_await_frame(d, id, 1);
    ck_assert_int_eq(kill(daemon_fixture_await_worker(id), SIGSTOP), 0);
    int64_t before, looks = session_counter(d, "log_looks_total");
    do {
        before = looks;
        usleep(100000);
        looks = session_counter(d, "log_looks_total");
    } while (looks > before);
    for (int i = 0; i < WRITES; i++) {
        write_again(id, "log/0001-0000.seg");
        usleep(2000);
    }
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S; looks == before; usleep(1000)) {
        ck_assert(daemon_fixture_clock() < end);
        looks = session_counter(d, "log_looks_total");
    }
    ck_assert_int_le(looks - before, WRITES / 2);
    json_t *session = session_show(d, id);
    ck_assert(json_is_null(
        json_object_get(session, "stalled"))); /* which would be another reason to look */
    json_decref(session);
    write_again(id, "log/0001-0000.idx");
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
         session_counter(d, "log_looks_total") == looks; usleep(1000))
        ck_assert(daemon_fixture_clock() < end);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker watch");
    TCase *tests = tcase_create("time limit");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_inside_a_step);
    tcase_add_test(tests, test_stopped_worker);
    tcase_add_test(tests, test_adopted);
    tcase_add_test(tests, test_between_steps);
    tcase_add_test(tests, test_over_attempts);
    suite_add_tcase(suite, tests);
    tests = tcase_create("looks");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_daemon, stop_daemon);
    tcase_add_test(tests, test_one_look);
    suite_add_tcase(suite, tests);
    tests = tcase_create("no progress");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start_watchful, stop_daemon);
    tcase_add_test(tests, test_score);
    tcase_add_test(tests, test_stalled);
    tcase_add_test(tests, test_killed);
    tcase_add_test(tests, test_no_false_alarm);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
