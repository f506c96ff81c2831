/* A decision in a long queue of many users reads few of its jobs. */
#include "server/schedule/schedule.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>

enum { USERS = 1000, EACH = 10, FEW = 100 };

static pl_schedule *s;
static uint64_t keys;

static void start(void)
{
    s = pl_schedule_create(&(pl_schedule_setup){.cores = 3, .memory = 1e9, .patience = 60});
    keys = 0;
}

static void stop(void)
{
    pl_schedule_destroy(s);
}

static pl_job *arrive(const char *user, int32_t cores, double length, double now)
{
    pl_job_wish wish = {
        .key = ++keys, .user = user, .cores_least = cores, .memory = 1, .length = length};
    pl_job *job = pl_schedule_arrive(s, &wish, now, false);
    ck_assert_ptr_nonnull(job);
    return job;
}

/* Ten jobs of each of a thousand users. */
static void fill(int32_t cores, double length, double now)
{
    char user[16];
    for (int i = 0; i < USERS * EACH; i++) {
        snprintf(user, sizeof user, "u%d", i % USERS);
        arrive(user, cores, length, now);
    }
}

static int decide(double now)
{
    pl_action actions[8];
    return pl_schedule_decide(s, now, actions, 8);
}

/* One core is free, and all want two. */
START_TEST(test_jobs_that_are_too_large)
{
    fill(2, 100, 0);
    ck_assert_int_eq(decide(0), 1);
    ck_assert_int_eq(decide(1), 0);
    pl_schedule_load load = pl_schedule_get_load(s);
    ck_assert_int_eq((int)load.waiting, USERS * EACH - 1);
    ck_assert_int_gt((int)load.read, 0);
    ck_assert_int_lt((int)load.read, FEW);
}
END_TEST

/* One core is free, and all want one, but they would delay a job that was overtaken long ago. */
START_TEST(test_jobs_that_would_delay_another)
{
    arrive("first", 2, 200, 0);
    ck_assert_int_eq(decide(0), 1);
    pl_job *overtaken = arrive("second", 3, 100, 1);
    pl_job *small = arrive("third", 1, 1, 1);
    ck_assert_int_eq(decide(1), 1);
    pl_schedule_end(s, small, 2);
    fill(1, 1000, 2);
    ck_assert_int_eq(decide(70), 0);
    ck_assert_double_ge(overtaken->promised, 0);
    pl_schedule_load load = pl_schedule_get_load(s);
    ck_assert_int_gt((int)load.read, 0);
    ck_assert_int_lt((int)load.read, FEW);
}
END_TEST

/* A user's queue is as long as that user's own jobs need it, wherever they go: aside, to another group, back. */
START_TEST(test_jobs_that_come_and_go)
{
    pl_job *jobs[20];
    for (int i = 0; i < 20; i++)
        jobs[i] = arrive("anna", 4, 1, 0);
    for (int i = 0; i < 20; i++)
        pl_schedule_hold(s, jobs[i], true, 1);
    for (int i = 0; i < 20; i++)
        ck_assert(pl_schedule_regroup(s, jobs[i], i % 2 ? "lab" : NULL));
    for (int i = 0; i < 20; i++)
        arrive("anna", 4, 1, 2);
    for (int i = 0; i < 20; i++)
        pl_schedule_hold(s, jobs[i], false, 3);
    ck_assert_int_eq((int)pl_schedule_get_load(s).waiting, 40);
    for (int i = 0; i < 20; i++)
        ck_assert(pl_schedule_regroup(s, jobs[i], "lab"));
    for (int i = 0; i < 20; i++)
        pl_schedule_end(s, jobs[i], 4);
    ck_assert_int_eq((int)pl_schedule_get_load(s).waiting, 20);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("decision");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_jobs_that_are_too_large);
    tcase_add_test(cases, test_jobs_that_would_delay_another);
    tcase_add_test(cases, test_jobs_that_come_and_go);
    return run_cases("decision", cases);
}
