/* Simulated days of a shared machine: after every event nothing is over-committed, nobody starves, no core is idle
 * beside a job that fits, priorities are respected and preempted work is kept (checks.c); users get their shares;
 * estimates are accurate; and a trace in the Standard Workload Format runs as well. */
#include "tests/scheduler/sim.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 2000, SEEDS = 50, SEEDS_LONG = 1000 };

static int seeds(void)
{
    return getenv("PLIANT_LONG") ? SEEDS_LONG : SEEDS;
}

static sim_setup machine(uint64_t seed)
{
    static const int32_t cores[] = {2, 4, 8, 16, 64};
    return (sim_setup){.cores = cores[seed % 5],
                       .interactive_cores = seed % 3 == 0 && seed % 5 > 0,
                       .devices = (int32_t)(seed % 4),
                       .users = 3 + (int32_t)(seed % 20),
                       .groups = 1 + (int32_t)(seed % 3),
                       .memory = 64e9,
                       .device_memory = 16e9,
                       .half_life = 3600,
                       .patience = 120,
                       .device_faults = seed % 2};
}

static void check_ends(const sim_job *jobs, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        const sim_job *j = &jobs[i];
        ck_assert_msg(j->state >= SIM_ENDED, "seed %llu: job %zu never ended",
                      (unsigned long long)seed, i);
        if (j->state == SIM_ENDED) {
            ck_assert_double_le(fabs(j->done - j->work), 1e-6 * j->work);
            if (j->crashes == 0) {
                ck_assert_double_le(fabs(j->spent - j->work), 1e-6 * j->work);
            }
        }
    }
}

START_TEST(test_properties)
{
    size_t preemptions = 0, devices = 0, crashes = 0, events = 0, grown = 0, shrunk = 0;
    int most = 0; /* preemptions of one job */
    for (int seed = 1; seed <= seeds(); seed++) {
        sim_setup x = machine((uint64_t)seed);
        double days = JOBS * 500.0 * 2.2 / x.cores / 86400; /* as much as it can do, about */
        sim_job *jobs = sim_workload((uint64_t)seed, &x, JOBS, days);
        for (int i = 0; i < JOBS; i++) {
            jobs[i].gpu_memory = x.devices ? jobs[i].gpu_memory : 0;
        }
        sim_result result = sim_run(&x, jobs, JOBS);
        ck_assert_msg(!result.fault[0], "seed %d, %d cores: %s", seed, x.cores, result.fault);
        check_ends(jobs, JOBS, (uint64_t)seed);
        preemptions += result.preemptions;
        devices += result.gpu_preemptions;
        events += result.events;
        grown += result.grown;
        shrunk += result.shrunk;
        for (int i = 0; i < JOBS; i++) {
            crashes += jobs[i].crashes > 0;
            most = jobs[i].preemptions > most ? jobs[i].preemptions : most;
        }
        free(jobs);
    }
    printf("%d seeds, %zu events, %zu preemptions, %zu of them for a GPU, at most %d of a job, %zu "
           "crashes; cores taken %zu, given back %zu times\n",
           seeds(), events, preemptions, devices, most, crashes, grown, shrunk);
    ck_assert_uint_gt(preemptions, 0);
    ck_assert_int_le(most, 100);
    ck_assert_uint_gt(devices, 0);
    ck_assert_uint_gt(crashes, 0);
    ck_assert_uint_gt(grown, 0);
    ck_assert_uint_gt(shrunk, 0);
}
END_TEST

/* Limits of each user, because of which cores may be idle beside jobs that fit. */
START_TEST(test_limits)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        sim_setup x = machine(seed);
        x.limits = (pl_account_limits){2, x.cores > 2 ? x.cores - 1 : 2, INT64_MAX};
        sim_job *jobs = sim_workload(seed, &x, 500, 1);
        for (int i = 0; i < 500; i++) {
            jobs[i].gpu_memory = x.devices ? jobs[i].gpu_memory : 0;
            int64_t most = x.limits.cores;
            jobs[i].cores_least = (int32_t)(jobs[i].cores_least < most ? jobs[i].cores_least
                                                                       : most);
        }
        sim_result result = sim_run(&x, jobs, 500);
        ck_assert_msg(!result.fault[0], "seed %d: %s", (int)seed, result.fault);
        check_ends(jobs, 500, seed);
        free(jobs);
    }
}
END_TEST

/* A day of saturation: each user gets their share of it, to 5 %. */
START_TEST(test_shares)
{
    const uint64_t machines = getenv("PLIANT_LONG") ? 5 : 2;
    for (uint64_t seed = 1; seed <= machines; seed++) {
        sim_setup x = {.cores = 8,
                       .users = 5,
                       .memory = 1e9,
                       .half_life = 3600,
                       .patience = 120,
                       .until = 86400,
                       .share = {1, 2, 1, 4, 2}};
        size_t count = 20000;
        sim_job *jobs = sim_saturation(seed, &x, count);
        sim_result result = sim_run(&x, jobs, count);
        ck_assert_msg(!result.fault[0], "%s", result.fault);
        ck_assert_double_gt(result.utilisation, 0.99);
        for (int i = 0; i < x.users; i++) {
            double part = result.used[i] / (86400.0 * x.cores), share = x.share[i] / 10;
            ck_assert_msg(fabs(part - share) < 0.05 * share,
                          "user %d: %.4f of the machine, not %.4f", i, part, share);
        }
        free(jobs);
    }
}
END_TEST

/* One user's 500 sessions wait; each of 20 others sends a first one, and has it started within a mean length. If all
 * lengths are equal, that holds on a single core too. */
START_TEST(test_first_session)
{
    enum { MANY = 500, OTHERS = 20, COUNT = MANY + OTHERS };
    static const int32_t cores[] = {1, 4, 16};
    for (int k = 0; k < 3; k++) {
        sim_setup one = {.users = 1};
        sim_setup x = {.cores = cores[k],
                       .users = 1 + OTHERS,
                       .memory = 1e9,
                       .half_life = 3600,
                       .patience = 120};
        sim_job *jobs = sim_saturation(5, &one, COUNT);
        double mean = 0;
        for (int i = 0; i < COUNT; i++) {
            sim_job *j = &jobs[i];
            j->cores_least = j->cores_most = 1;
            j->work = j->estimate = x.cores == 1 ? 300 : j->estimate;
            mean += j->work / COUNT;
            if (i >= MANY) {
                j->user = 1 + i - MANY;
                j->arrives = 17 + 411.0 * (i - MANY) / x.cores;
            }
        }
        sim_result result = sim_run(&x, jobs, COUNT);
        ck_assert_msg(!result.fault[0], "%s", result.fault);
        for (int i = MANY; i < COUNT; i++) {
            ck_assert_msg(
                jobs[i].first_start - jobs[i].arrives <= mean,
                "%d cores: user %d's first session waited %.0f s, the mean length is %.0f", x.cores,
                jobs[i].user, jobs[i].first_start - jobs[i].arrives, mean);
            ck_assert_double_lt(jobs[i].arrives, result.end / 2); /* most of the 500 still wait */
        }
        free(jobs);
    }
}
END_TEST

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The first estimate of each job's start against its start: median of the errors, by the median of the waits. */
static double promise_error(const sim_job *jobs, size_t count)
{
    double *errors = malloc(count * sizeof *errors), *waits = malloc(count * sizeof *waits);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const sim_job *j = &jobs[i];
        if (j->promised >= 0 && j->first_start - j->arrives > 1) {
            errors[n] = fabs(j->promised - j->first_start);
            waits[n++] = j->first_start - j->arrives;
        }
    }
    ck_assert_uint_gt(n, 20);
    qsort(errors, n, sizeof *errors, by_value);
    qsort(waits, n, sizeof *waits, by_value);
    double error = errors[n / 2] / waits[n / 2];
    free(errors);
    free(waits);
    return error;
}

/* For one user with known lengths the estimate is exact, except for later arrivals. */
START_TEST(test_estimates)
{
    sim_setup x = {.cores = 4, .users = 1, .memory = 1e9, .patience = 120, .promises = true};
    sim_job *jobs = sim_saturation(3, &x, 400);
    for (int i = 0; i < 400; i++) {
        jobs[i].cores_least = jobs[i].cores_most = 1;
        jobs[i].work = jobs[i].estimate;
    }
    sim_result result = sim_run(&x, jobs, 400);
    ck_assert_msg(!result.fault[0], "%s", result.fault);
    double known = promise_error(jobs, 400);
    free(jobs);
    x = machine(7);
    x.promises = true;
    jobs = sim_workload(7, &x, JOBS, JOBS * 500.0 * 2.2 / x.cores / 86400);
    result = sim_run(&x, jobs, JOBS);
    ck_assert_msg(!result.fault[0], "%s", result.fault);
    double mixed = promise_error(jobs, JOBS);
    printf("median error of the first estimated start, of the median wait: %.4f where lengths are "
           "known, %.2f with wrong ones, crashes and later arrivals\n",
           known, mixed);
    ck_assert_double_lt(known, 0.01);
    ck_assert_double_lt(mixed, 2);
    free(jobs);
}
END_TEST

START_TEST(test_trace)
{
    char fault[160], path[64];
    size_t count;
    sim_job *jobs = sim_read_swf("tests/scheduler/lab.swf", 16, &count, fault);
    ck_assert_msg(jobs, "lab.swf: %s", fault);
    ck_assert_uint_eq(count, 240);
    ck_assert_double_eq(jobs[0].arrives, 12);
    ck_assert_int_eq(jobs[0].cores_least, 2);
    sim_setup x = {.cores = 16, .users = SIM_USERS, .memory = 64e9, .patience = 600};
    sim_result result = sim_run(&x, jobs, count);
    ck_assert_msg(!result.fault[0], "%s", result.fault);
    check_ends(jobs, count, 0);
    free(jobs);
    snprintf(path, sizeof path, "/tmp/pliant-swf-%d", (int)getpid());
    FILE *file = fopen(path, "w");
    fputs("; a comment\n1 2 three\n", file);
    fclose(file);
    jobs = sim_read_swf(path, 16, &count, fault);
    unlink(path);
    ck_assert_ptr_null(jobs);
    ck_assert_str_eq(fault, "line 2 has not the 18 numbers of a job");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("simulate");
    tcase_add_test(cases, test_properties);
    tcase_add_test(cases, test_limits);
    tcase_add_test(cases, test_shares);
    tcase_add_test(cases, test_first_session);
    tcase_add_test(cases, test_estimates);
    tcase_add_test(cases, test_trace);
    tcase_set_timeout(cases, 1800);
    return run_cases("simulate", cases);
}
