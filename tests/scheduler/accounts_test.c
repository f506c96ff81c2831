/* Users in several groups: whose turn it is, limits of a user and of a group, and usage from before. */
#include "server/schedule/schedule.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static pl_schedule *s;
static uint64_t keys;

static void start(void)
{
    s = pl_schedule_create(&(pl_schedule_setup){.cores = 4, .memory = 1e9, .half_life = 3600});
    keys = 0;
}

static void stop(void)
{
    pl_schedule_destroy(s);
}

static pl_job *arrive(const char *user, const char *group, double now)
{
    pl_job_wish wish = {.key = ++keys, .user = user, .group = group, .cores_least = 1, .memory = 1};
    pl_job *job = pl_schedule_arrive(s, &wish, now, false);
    ck_assert_ptr_nonnull(job);
    return job;
}

/* Start everything that may start; returns the first. */
static pl_job *decide(double now, int *count)
{
    pl_action actions[8];
    *count = pl_schedule_decide(s, now, actions, 8);
    return *count ? actions[0].job : NULL;
}

static const pl_account_limits none = {INT64_MAX, INT64_MAX, INT64_MAX};

/* One user's jobs of two groups count together against the user's limit, each against its group's. */
START_TEST(test_limits_of_both)
{
    int count;
    pl_schedule_set_user(s, "anna", 1, (pl_account_limits){2, INT64_MAX, INT64_MAX});
    pl_job *a = arrive("anna", "lab", 0);
    arrive("anna", "shop", 0);
    pl_job *third = arrive("anna", NULL, 0);
    decide(0, &count);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq((int)pl_schedule_wait(s, third, 0).reason, PL_WAIT_USER_RUNNING);
    pl_schedule_end(s, a, 1);
    decide(1, &count);
    ck_assert_int_eq(count, 1);
    pl_schedule_set_user(s, "anna", 1, none);
    pl_schedule_set_group(s, "lab", 1, (pl_account_limits){1, INT64_MAX, INT64_MAX});
    arrive("bob", "lab", 2);
    pl_job *held = arrive("anna", "lab", 2);
    decide(2, &count);
    ck_assert_int_eq(count, 1);
    pl_job *waits = held->state == PL_JOB_WAITING ? held : NULL;
    ck_assert_ptr_nonnull(waits);
    pl_wait why = pl_schedule_wait(s, waits, 2);
    ck_assert_int_eq((int)why.reason, PL_WAIT_GROUP);
    ck_assert_int_eq((int)why.within, PL_WAIT_USER_RUNNING);
    ck_assert_double_eq(why.of, 1);
}
END_TEST

/* A session that goes to another group leaves the limit of the first. */
START_TEST(test_regroup)
{
    int count;
    pl_schedule_set_group(s, "lab", 1, (pl_account_limits){1, INT64_MAX, INT64_MAX});
    arrive("anna", "lab", 0);
    pl_job *second = arrive("anna", "lab", 0);
    decide(0, &count);
    ck_assert_int_eq(count, 1);
    ck_assert(pl_schedule_regroup(s, second, "shop"));
    ck_assert_str_eq(pl_job_group(second), "shop");
    ck_assert_ptr_eq(decide(1, &count), second);
    pl_schedule_end(s, second, 2);
    arrive("bob", "shop", 2);
    decide(2, &count);
    ck_assert_int_eq(count, 1);
}
END_TEST

enum { USERS = 4, STEPS = 3600, STEP_S = 10 };
typedef struct user {
    const char *name, *group;
    int waiting, ran;
} user;

static void fill_queues(user who[USERS], double now)
{
    for (int u = 0; u < USERS; u++) {
        for (; who[u].waiting < 5; who[u].waiting++) {
            pl_job_wish wish = {.key = ++keys,
                                .user = who[u].name,
                                .group = who[u].group,
                                .cores_least = 1,
                                .memory = 1,
                                .tag = &who[u]};
            pl_schedule_arrive(s, &wish, now, false);
        }
    }
}

/* Ten half-lives of users who always want more; counts jobs of 10 s that each had in the second half. */
static void saturate(user who[USERS])
{
    for (int step = 0; step < STEPS; step++) {
        double now = STEP_S * step;
        pl_job *const *running;
        size_t count;
        while (running = pl_schedule_running(s, &count), count > 0) {
            ((user *)running[0]->tag)->ran += step > STEPS / 2;
            pl_schedule_end(s, running[0], now);
        }
        fill_queues(who, now);
        pl_action actions[8];
        ck_assert_int_eq(pl_schedule_decide(s, now, actions, 8), 4);
        for (int i = 0; i < 4; i++) {
            ((user *)actions[i].job->tag)->waiting--;
        }
    }
}

/* Groups share first, by their shares: the lab's 2 of 4 for its two users; each user without a group counts 1. */
START_TEST(test_groups_share)
{
    user who[USERS] = {{.name = "anna", .group = "lab"},
                       {.name = "bob", .group = "lab"},
                       {.name = "carl"},
                       {.name = "dora"}};
    static const double expected[] = {0.125, 0.375, 0.25, 0.25};
    pl_schedule_set_group(s, "lab", 2, none);
    pl_schedule_set_user(s, "bob", 3, none);
    saturate(who);
    for (int u = 0; u < USERS; u++) {
        double part = who[u].ran / (4.0 * (STEPS / 2 - 1));
        ck_assert_msg(part > 0.95 * expected[u] && part < 1.05 * expected[u], "%s: %.4f, not %.4f",
                      who[u].name, part, expected[u]);
    }
}
END_TEST

/* Usage from before decides whose turn it is, and is halved as usage is. */
START_TEST(test_remember)
{
    int count;
    pl_job *a = arrive("anna", "", 0);
    arrive("bob", "", 0);
    ck_assert(pl_schedule_remember(s, "anna", "", 1000, 0, 0));
    ck_assert_double_eq_tol(pl_schedule_usage(s, "anna", 3600), 500, 1e-9);
    pl_schedule_set_cores(s, 1);
    pl_job *first = decide(0, &count);
    ck_assert_int_eq(count, 1);
    ck_assert_ptr_ne(first, a);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("accounts");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_limits_of_both);
    tcase_add_test(cases, test_regroup);
    tcase_add_test(cases, test_groups_share);
    tcase_add_test(cases, test_remember);
    return run_cases("accounts", cases);
}
