/* Which jobs are stopped for another: on the device where there is then room, and never in vain. */
#include "server/schedule/schedule.h"
#include "tests/support/suite.h"

#include <check.h>

static pl_schedule *s;
static uint64_t keys;
static double length; /* of jobs to come; 0: not known */

/* Eight cores, two devices of 16 units. */
static void start(void)
{
    s = pl_schedule_create(&(pl_schedule_setup){.cores = 8, .memory = 1e9, .half_life = 3600});
    for (int32_t i = 0; i < 2; i++) {
        pl_schedule_set_device(s, i, &(pl_device){.memory = 16, .up = true});
    }
    keys = 0;
    length = 0;
}

static void stop(void)
{
    pl_schedule_destroy(s);
}

static pl_job *arrive(const char *user, int32_t cores, double gpu_memory, bool preemptible,
                      double now)
{
    pl_job_wish wish = {.key = ++keys,
                        .user = user,
                        .cores_least = cores,
                        .memory = 1,
                        .gpu_memory = gpu_memory,
                        .length = length,
                        .preemptible = preemptible};
    pl_job *job = pl_schedule_arrive(s, &wish, now, false);
    ck_assert_ptr_nonnull(job);
    return job;
}

/* The only pending action; NULL: none. */
static pl_job *decide(double now, pl_action_kind kind)
{
    pl_action actions[8];
    int count = pl_schedule_decide(s, now, actions, 8);
    ck_assert_int_le(count, 1);
    if (count == 0) {
        return NULL;
    }
    ck_assert_int_eq((int)actions[0].kind, (int)kind);
    return actions[0].job;
}

static pl_job *run(const char *user, int32_t cores, double gpu_memory, bool preemptible, double now)
{
    pl_job *job = arrive(user, cores, gpu_memory, preemptible, now);
    ck_assert_ptr_eq(decide(now, PL_ACTION_START), job);
    return job;
}

/* Only on the device that then has room; nobody takes what it gives back. */
START_TEST(test_device)
{
    pl_job *fixed = run("anna", 1, 12, false, 0), *victim = run("anna", 1, 13, true, 1);
    pl_job *other = run("anna", 1, 4, true, 2); /* beside 12 of 16: no room for 8 there */
    ck_assert_int_eq(other->device, fixed->device);
    pl_job *job = arrive("bob", 1, 8, false, 10);
    ck_assert_ptr_null(decide(10, PL_ACTION_PREEMPT)); /* each runs 30 s before it yields */
    ck_assert_double_eq(pl_schedule_next_due(s, 10), 31);
    ck_assert_ptr_eq(decide(40, PL_ACTION_PREEMPT), victim);
    ck_assert_ptr_null(decide(40, PL_ACTION_PREEMPT));
    pl_job *small = arrive("carl", 1, 9, false, 41); /* it would fit once the victim has stopped */
    ck_assert_ptr_null(decide(41, PL_ACTION_START));
    int32_t device = victim->device;
    pl_schedule_end(s, victim, 42);
    ck_assert_ptr_eq(decide(42, PL_ACTION_START), job);
    ck_assert_int_eq(job->device, device);
    ck_assert_int_eq((int)small->state, (int)PL_JOB_WAITING);
    ck_assert(!other->preempting);
}
END_TEST

/* Two on one device are stopped, as many as it takes; the room of the first is kept until the second has stopped, though
 * jobs use less of the other device. */
START_TEST(test_two_victims)
{
    pl_job *fixed = run("anna", 1, 11, false, 0);
    pl_schedule_set_device(s, fixed->device, &(pl_device){.memory = 16, .others = 4, .up = true});
    pl_job *first = run("anna", 1, 11, true, 1), *second = run("anna", 1, 3, true, 2);
    ck_assert_int_eq(first->device, second->device);
    pl_job *job = arrive("bob", 1, 12, false, 40);
    pl_action actions[8];
    ck_assert_int_eq(pl_schedule_decide(s, 40, actions, 8), 2);
    ck_assert_ptr_eq(actions[0].job, second); /* the youngest first */
    ck_assert_ptr_eq(actions[1].job, first);
    pl_schedule_end(s, second, 41);
    pl_job *small = arrive("carl", 1, 4, false, 41);
    ck_assert_ptr_null(decide(41, PL_ACTION_START));
    pl_schedule_end(s, first, 42);
    ck_assert_int_eq(pl_schedule_decide(s, 42, actions, 8), 2);
    ck_assert_ptr_eq(actions[0].job, job);
    ck_assert_ptr_eq(actions[1].job, small);
}
END_TEST

/* No room can be made for it: nothing is stopped, and a job that needs no GPU may still claim cores. */
START_TEST(test_in_vain)
{
    run("anna", 1, 10, false, 0);
    run("anna", 1, 10, false, 0);
    pl_job *on_device = run("anna", 1, 4, true, 1), *victim = run("anna", 5, 0, true, 2);
    arrive("bob", 1, 12, false, 40);
    ck_assert_ptr_null(decide(40, PL_ACTION_PREEMPT));
    pl_job *job = arrive("bob", 5, 0, false, 41);
    ck_assert_ptr_eq(decide(41, PL_ACTION_PREEMPT), victim);
    pl_schedule_end(s, victim, 42);
    ck_assert_ptr_eq(decide(42, PL_ACTION_START), job);
    ck_assert(!on_device->preempting);
}
END_TEST

/* A device that is drained or down is no place for a claim, even with more room. */
START_TEST(test_drained)
{
    pl_job *first = run("anna", 1, 14, true, 0), *second = run("anna", 1, 14, true, 1);
    pl_schedule_set_device(s, first->device, &(pl_device){.memory = 16, .others = 1, .up = true});
    int32_t drained = second->device;
    pl_schedule_set_device(s, drained, &(pl_device){.memory = 16, .up = true, .drained = true});
    arrive("bob", 1, 8, false, 40);
    ck_assert_ptr_eq(decide(40, PL_ACTION_PREEMPT), first);
    pl_schedule_set_device(s, drained, &(pl_device){.memory = 16, .up = false});
    ck_assert_ptr_null(decide(41, PL_ACTION_PREEMPT));
}
END_TEST

/* Nothing is stopped for a job that would delay another's reservation even then. */
START_TEST(test_reserved)
{
    length = 100;
    run("anna", 3, 0, false, 0);
    pl_job *victim = run("anna", 4, 0, true, 0);
    pl_job *big = arrive("bob", 8, 0, false, 1);
    run("carl", 1, 0, false, 2); /* goes before it */
    length = 1000;
    pl_job *job = arrive("dora", 4, 8, false, 70);
    ck_assert_ptr_null(decide(70, PL_ACTION_PREEMPT)); /* bob's begins at 102 */
    ck_assert_double_ge(big->overtaken, 0);
    pl_schedule_end(s, job, 70);
    length = 20;
    arrive("dora", 4, 8, false, 71);
    ck_assert_ptr_eq(decide(71, PL_ACTION_PREEMPT), victim);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("preemption");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, test_device);
    tcase_add_test(cases, test_two_victims);
    tcase_add_test(cases, test_in_vain);
    tcase_add_test(cases, test_drained);
    tcase_add_test(cases, test_reserved);
    return run_cases("preemption", cases);
}
