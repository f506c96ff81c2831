/* Workers that die, start late or start twice: committed data stays readable, and a stale worker changes no byte. */
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Every committed frame reads back whole. */
static int64_t readable_frames(const session_fixture *f)
{
    pl_log_reader *reader;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &reader), PL_OK);
    int64_t frames = pl_log_reader_refresh(reader);
    for (int64_t k = 0; k < frames; k++)
        for (int part = PL_LOG_FRAME; part <= PL_LOG_METRICS; part++) {
            char *payload;
            uint64_t length;
            ck_assert_int_eq(pl_log_read(reader, k, (pl_log_part)part, &payload, &length),
                             PL_LOG_OK);
            free(payload);
        }
    pl_log_reader_close(reader);
    return frames;
}

/* Each attempt continues where the previous one was killed. No attempt ends before it is killed; the last gets an
 * end. */
START_TEST(test_killed_worker)
{
    session_fixture f;
    char last[64];
    session_fixture_bar(&f, 1000000, "");
    for (int attempt = 1; attempt <= 4; attempt++) {
        int64_t wanted = session_fixture_frames(&f) + 10;
        pid_t pid = session_fixture_start(&f, attempt);
        ck_assert(session_fixture_await(&f, wanted));
        kill(pid, SIGKILL);
        ck_assert_int_eq(session_fixture_wait(pid), 128 + SIGKILL);
        ck_assert_int_ge(readable_frames(&f), wanted);
        ck_assert(!pl_session_locked(f.directory));
        ck_assert(!session_fixture_has(&f, "exit.json"));
    }
    int64_t frames = session_fixture_frames(&f) + 100;
    snprintf(last, sizeof last, "{\"action\": \"step\", \"until\": %lld}", (long long)frames - 1);
    session_fixture_control(&f, last);
    ck_assert_int_eq(session_fixture_run(&f, 5), 7);
    ck_assert_int_eq(readable_frames(&f), frames);
    session_fixture_destroy(&f);
}
END_TEST

/* The same scene gives the same bytes in every directory. */
START_TEST(test_runs_agree)
{
    session_fixture a, b;
    session_fixture_bar(&a, 10, "");
    session_fixture_bar(&b, 10, "");
    ck_assert_int_eq(session_fixture_run(&a, 1), 0);
    ck_assert_int_eq(session_fixture_run(&b, 1), 0);
    ck_assert_int_eq(session_fixture_frames(&a), 11);
    ck_assert_int_eq(session_compare(&a, &b), -1);
    session_fixture_destroy(&a);
    session_fixture_destroy(&b);
}
END_TEST

START_TEST(test_stale_attempt)
{
    session_fixture f;
    session_fixture_bar(&f, 5, "");
    ck_assert_int_eq(session_fixture_run(&f, 3), 0);
    uint32_t before = session_fixture_fingerprint(&f);
    ck_assert_int_eq(session_fixture_run(&f, 1), 5);
    ck_assert_int_eq(session_fixture_run(&f, 2), 5);
    ck_assert_int_eq(session_fixture_run(&f, 3), 5);
    ck_assert_uint_eq(session_fixture_fingerprint(&f), before);
    session_fixture_destroy(&f);
}
END_TEST

/* The second worker of a live session goes away, even with a higher attempt. */
START_TEST(test_two_workers)
{
    session_fixture f;
    session_fixture_bar(&f, 1000000, "");
    pid_t pid = session_fixture_start(&f, 1);
    ck_assert(session_fixture_await(&f, 2));
    ck_assert(pl_session_locked(f.directory));
    ck_assert_int_eq(session_fixture_run(&f, 2), 5);
    pl_head head;
    ck_assert_int_eq(pl_head_read(f.directory, &head), PL_OK);
    ck_assert_int_eq(head.attempt, 1);
    pl_head_clear(&head);
    int64_t frames = session_fixture_frames(&f);
    ck_assert(session_fixture_await(&f, frames + 2));
    kill(pid, SIGTERM);
    ck_assert_int_eq(session_fixture_wait(pid), 6);
    session_fixture_destroy(&f);
}
END_TEST

/* What an attempt came to is forgotten when the next one begins. */
START_TEST(test_old_exit_is_removed)
{
    session_fixture f;
    session_fixture_bar(&f, 1000000, "");
    session_fixture_control(&f, "{\"action\": \"cancel\"}");
    ck_assert_int_eq(session_fixture_run(&f, 1), 4);
    session_fixture_write(&f, "control.log", "", 0);
    pid_t pid = session_fixture_start(&f, 2);
    ck_assert(session_fixture_await(&f, 20));
    ck_assert(!session_fixture_has(&f, "exit.json"));
    kill(pid, SIGKILL);
    session_fixture_wait(pid);
    session_fixture_destroy(&f);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("crash");
    tcase_set_timeout(tc, 180);
    tcase_add_test(tc, test_killed_worker);
    tcase_add_test(tc, test_runs_agree);
    tcase_add_test(tc, test_stale_attempt);
    tcase_add_test(tc, test_two_workers);
    tcase_add_test(tc, test_old_exit_is_removed);
    Suite *suite = suite_create("worker_crash");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
