/* profile.c - what will be free when, by the lengths of what runs and of what has a reservation. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pl_job_length(const pl_schedule *s, const pl_job *job)
{
    return job->length > 0 ? job->length : s->mean_length;
}

/* One that runs for longer than it should is expected to go on for a tenth of what it has taken. */
double pl_job_expected_end(const pl_schedule *s, const pl_job *job, double now)
{
    double end = job->started + pl_job_length(s, job);
    double late = now + fmax(0.1 * (now - job->started), 1);
    return end > now ? end : late;
}

static bool reserve(pl_profile *p, size_t more)
{
    if (p->count + more <= p->capacity) {
        return true;
    }
    size_t capacity = 2 * (p->count + more);
    pl_change *grown = realloc(p->changes, capacity * sizeof *grown);
    if (grown) {
        p->changes = grown;
        p->capacity = capacity;
    }
    return grown;
}

static void insert(pl_profile *p, pl_change change)
{
    size_t at = p->count++;
    while (at > 0 && p->changes[at - 1].time > change.time) {
        p->changes[at] = p->changes[at - 1];
        at--;
    }
    p->changes[at] = change;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const pl_change *)a)->time, y = ((const pl_change *)b)->time;
    return x < y ? -1 : x > y;
}

void pl_profile_begin(pl_schedule *s, double now)
{
    pl_profile *p = &s->profile;
    p->count = 0;
    p->now = now;
    p->cores = s->setup.cores - s->cores_used;
    p->memory = s->setup.memory - s->memory_used;
    if (!reserve(p, s->running.count)) {
        return; /* then reservations are made later than they could be */
    }
    for (size_t i = 0; i < s->running.count; i++) {
        const pl_job *job = s->running.jobs[i];
        int32_t soon = pl_job_excess(job) + pl_job_leaving(job); /* had back for the asking */
        p->cores += soon;
        p->changes[p->count++] = (pl_change){pl_job_expected_end(s, job, now), job->memory,
                                             job->cores - soon};
    }
    if (p->count) {
        qsort(p->changes, p->count, sizeof *p->changes, by_time);
    }
}

/* From `from`, which is one of the changes' times or now: the first time at which it does not fit; INFINITY: it does,
 * for all its length. */
static double fails_at(const pl_profile *p, double from, int32_t cores, double memory,
                       double length)
{
    int32_t free_cores = p->cores;
    double free_memory = p->memory, time = p->now;
    for (size_t i = 0;; i++) {
        bool last = i == p->count || p->changes[i].time > time;
        if (last && time >= from && (free_cores < cores || free_memory < memory)) {
            return time;
        }
        if (i == p->count || p->changes[i].time >= from + length) {
            return INFINITY;
        }
        time = p->changes[i].time;
        free_cores += p->changes[i].cores;
        free_memory += p->changes[i].memory;
    }
}

bool pl_profile_fits(const pl_profile *p, int32_t cores, double memory, double length)
{
    return isinf(fails_at(p, p->now, cores, memory, length));
}

double pl_profile_earliest(const pl_profile *p, int32_t cores, double memory, double length)
{
    if (pl_profile_fits(p, cores, memory, length)) {
        return p->now;
    }
    for (size_t i = 0; i < p->count; i++) {
        double from = p->changes[i].time;
        if (isinf(fails_at(p, from, cores, memory, length))) {
            return from;
        }
    }
    return INFINITY;
}

void pl_profile_take(pl_profile *p, double from, double until, int32_t cores, double memory)
{
    if (from <= p->now) {
        p->cores -= cores;
        p->memory -= memory;
    } else if (reserve(p, 2)) {
        insert(p, (pl_change){from, -memory, -cores});
    }
    if (!isinf(until) && reserve(p, 1)) {
        insert(p, (pl_change){until, memory, cores});
    }
}

void pl_profile_clear(pl_profile *p)
{
    free(p->changes);
}
