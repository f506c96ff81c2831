/* profile.c - free resources over time, from the lengths of running jobs and of jobs with reservations. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pl_length_or_mean(const pl_schedule *s, double length)
{
    return length > 0 ? length : s->mean_length;
}

double pl_job_length(const pl_schedule *s, const pl_job *job)
{
    return pl_length_or_mean(s, job->length);
}

/* A job that has exceeded its length is expected to run for another tenth of its time so far. */
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

/* Cores kept free for interactive jobs while such jobs use `interactive_used`. */
static int32_t kept(const pl_schedule *s, int32_t interactive_used)
{
    int32_t left = s->setup.interactive_cores - interactive_used;
    return left > 0 ? left : 0;
}

/* Cores that other jobs gain when it ends, without its excess, which already counts as free. */
static int32_t returns(const pl_schedule *s, const pl_job *job, int32_t *interactive_used)
{
    int32_t cores = job->cores - pl_job_excess(job) - pl_job_leaving(job);
    if (job->interactive) {
        cores += kept(s, *interactive_used) - kept(s, *interactive_used - job->cores);
        *interactive_used -= job->cores;
    }
    return cores;
}

void pl_profile_begin(pl_schedule *s, double now)
{
    pl_profile *p = &s->profile;
    int32_t interactive_used = s->interactive_used;
    p->count = 0;
    p->now = now;
    p->cores = s->setup.cores - s->cores_used - kept(s, s->interactive_used);
    p->memory = s->setup.memory - s->memory_used;
    if (!reserve(p, s->running.count)) {
        return; /* reservations are then later than they could be */
    }
    for (size_t i = 0; i < s->running.count; i++) {
        const pl_job *job = s->running.jobs[i];
        p->cores += pl_job_excess(job) + pl_job_leaving(job);
        p->changes[p->count++] = (pl_change){pl_job_expected_end(s, job, now), job->memory,
                                             returns(s, job, &interactive_used)};
    }
    if (p->count) {
        qsort(p->changes, p->count, sizeof *p->changes, by_time);
    }
}

/* The first time, starting at `from` (a change's time or now), at which it does not fit; INFINITY: it fits for its
 * whole length. */
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

static bool fits(const pl_profile *p, int32_t cores, double memory, double length)
{
    return isinf(fails_at(p, p->now, cores, memory, length));
}

static double earliest(const pl_profile *p, int32_t cores, double memory, double length)
{
    if (fits(p, cores, memory, length)) {
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

static void take(pl_profile *p, double from, double until, int32_t cores, double memory)
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

void pl_profile_release(pl_schedule *s, const pl_job *job, double now)
{
    int32_t interactive_used = s->interactive_used;
    int32_t cores = returns(s, job, &interactive_used);
    s->profile.cores += cores;
    s->profile.memory += job->memory;
    take(&s->profile, pl_job_expected_end(s, job, now), INFINITY, cores, job->memory);
}

/* Cores that the job takes from the profile, which leaves out those kept for interactive jobs. */
static int32_t counted(const pl_schedule *s, const pl_job *job, int32_t cores)
{
    int32_t left = cores - (job->interactive ? kept(s, s->interactive_used) : 0);
    return left > 0 ? left : 0;
}

bool pl_job_fits(const pl_schedule *s, const pl_job *job, int32_t cores)
{
    return fits(&s->profile, counted(s, job, cores), job->memory, pl_job_length(s, job));
}

double pl_job_earliest(const pl_schedule *s, const pl_job *job)
{
    return earliest(&s->profile, counted(s, job, job->cores_least), job->memory,
                    pl_job_length(s, job));
}

void pl_job_reserve(pl_schedule *s, const pl_job *job, double from, double until)
{
    take(&s->profile, from, until, counted(s, job, job->cores_least), job->memory);
}

void pl_profile_clear(pl_profile *p)
{
    free(p->changes);
}
