/* baselines.c - first come, first served, without and with backfill (EASY: one reservation), to be measured against. */
#include "tests/scheduler/sim.h"

#include <math.h>

static bool fits(const sim *s, const sim_job *j)
{
    return s->cores_used + j->cores_least <= s->setup.cores &&
           s->memory_used + j->memory <= s->setup.memory;
}

/* When the first job fits, by the estimates of the running ones, and the cores then left. */
static double shadow(const sim *s, const sim_job *first, int32_t *spare)
{
    int32_t cores = s->setup.cores - s->cores_used;
    double memory = s->setup.memory - s->memory_used, time = s->now;
    while (cores < first->cores_least || memory < first->memory) {
        double next = INFINITY;
        for (size_t i = 0; i < s->running_count; i++) {
            const sim_job *r = &s->jobs[s->running[i]];
            double end = fmax(r->started + r->estimate, s->now + 1);
            next = end > time && end < next ? end : next;
        }
        if (isinf(next)) {
            break;
        }
        for (size_t i = 0; i < s->running_count; i++) {
            const sim_job *r = &s->jobs[s->running[i]];
            if (fmax(r->started + r->estimate, s->now + 1) == next) {
                cores += r->cores;
                memory += r->memory;
            }
        }
        time = next;
    }
    *spare = cores - first->cores_least;
    return time;
}

int64_t sim_baseline_next(const sim *s)
{
    if (s->waiting_count == 0) {
        return -1;
    }
    const sim_job *first = &s->jobs[s->waiting[0]];
    if (fits(s, first)) {
        return s->waiting[0];
    }
    if (s->setup.policy == SIM_FIRST_COME || s->cores_used == s->setup.cores) {
        return -1;
    }
    int32_t spare;
    double begins = shadow(s, first, &spare);
    for (size_t i = 1; i < s->waiting_count; i++) {
        const sim_job *j = &s->jobs[s->waiting[i]];
        if (fits(s, j) && (s->now + j->estimate <= begins || j->cores_least <= spare)) {
            return s->waiting[i];
        }
    }
    return -1;
}
