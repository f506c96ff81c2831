/* The syncer of a worker's log: requested work is done, even if the syncer is stopped at once. */
#include "server/worker/log_syncer.h"

#include "tests/support/suite.h"
#include "tests/unit/protocol_log_files.h"

#include <unistd.h>

static void count(void *calls)
{
    ++*(int *)calls;
}

/* A session whose device fails in its first frames has its checkpoint by this. */
START_TEST(test_stop)
{
    pl_log_writer *log = open_writer(1, 0);
    for (int n = 1; n <= 200; n++) {
        int calls = 0;
        pl_log_syncer *s;
        ck_assert_int_eq(pl_log_syncer_start(log, false, &s), PL_OK);
        ck_assert(pl_log_syncer_then(s, count, &calls));
        pl_log_syncer_stop(s);
        ck_assert_msg(calls == 1, "called %d times in start %d", calls, n);
    }
    pl_log_writer_close(log);
}
END_TEST

/* Requested again before the first is done: rejected; afterwards: done. */
START_TEST(test_one_at_a_time)
{
    pl_log_writer *log = open_writer(1, 0);
    int calls = 0;
    pl_log_syncer *s;
    ck_assert_int_eq(pl_log_syncer_start(log, false, &s), PL_OK);
    int asked = 0;
    for (int i = 0; i < 1000; i++)
        asked += pl_log_syncer_then(s, count, &calls);
    while (pl_log_syncer_busy(s))
        usleep(1000);
    ck_assert_int_eq(calls, asked);
    ck_assert(pl_log_syncer_then(s, count, &calls));
    pl_log_syncer_stop(s);
    ck_assert_int_eq(calls, asked + 1);
    pl_log_writer_close(log);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker syncer");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_stop);
    tcase_add_test(tests, test_one_at_a_time);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
