/* forecast.c - information about waiting jobs: positions, reasons and estimated starts. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

/* A heap of the users that have waiting jobs left, smallest `planned` key first. */
static bool sooner(const pl_account *a, const pl_account *b)
{
    const pl_job *x = a->waiting.jobs[a->next].job, *y = b->waiting.jobs[b->next].job;
    int64_t px = x->priority > 0 ? x->priority : 0, py = y->priority > 0 ? y->priority : 0;
    if (px != py) {
        return px > py;
    }
    if (a->group != b->group && a->group->planned != b->group->planned) {
        return a->group->planned < b->group->planned;
    }
    return a->planned != b->planned ? a->planned < b->planned : x->order < y->order;
}

static void sink(pl_account **heap, size_t count, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1;
        for (size_t child = left; child < left + 2 && child < count; child++) {
            least = sooner(heap[child], heap[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        pl_account *moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static void begin_order(pl_schedule *s, double now)
{
    pl_schedule_rank(s, now);
    for (size_t i = 0; i < s->groups.count; i++) {
        s->groups.list[i]->planned = s->groups.list[i]->key;
    }
    for (size_t i = 0; i < s->ranked_count; i++) {
        s->ranked[i]->planned = s->ranked[i]->key;
        s->ranked[i]->next = 0;
    }
    s->order.count = 0;
}

/* Charge the job's future usage to its user. */
static void plan_usage(const pl_schedule *s, pl_account *user, const pl_job *job)
{
    double use = pl_job_weight(s, job->cores_least, job->gpu_memory > 0) *
                 fmin(pl_job_length(s, job), s->setup.half_life);
    user->planned += use / user->person->share;
    user->group->planned += use / user->group->parts;
}

/* A job changes the order of several groups together, so a heap is valid for one group only; with more groups, the
 * minimum is searched. */
static size_t least_user(pl_account **users, size_t count)
{
    size_t least = 0;
    for (size_t i = 1; i < count; i++) {
        least = sooner(users[i], users[least]) ? i : least;
    }
    return least;
}

static void make_order(pl_schedule *s, double now)
{
    begin_order(s, now);
    bool heap = s->groups.count < 2;
    size_t left = s->ranked_count;
    while (left > 0) {
        size_t at = heap ? 0 : least_user(s->ranked, left);
        pl_account *user = s->ranked[at];
        pl_job *job = user->waiting.jobs[user->next++].job;
        s->order.jobs[s->order.count++] = job;
        job->position = (int64_t)s->order.count;
        plan_usage(s, user, job);
        if (user->next == user->waiting.count) {
            s->ranked[at] = s->ranked[--left];
        }
        if (heap && left) {
            sink(s->ranked, left, 0);
        }
    }
}

/* ---- the starts ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* `free_at`[cores]: when each core becomes free, sorted. Take the first `count` until `end`. */
static void take_cores(double *free_at, int32_t cores, int32_t count, double end)
{
    int32_t at = 0;
    for (int32_t i = count; i < cores && free_at[i] < end; i++) {
        free_at[at++] = free_at[i];
    }
    while (at < cores && count > 0) {
        free_at[at++] = end;
        count--;
    }
}

/* Earliest start of a job that is at a limit of its user or group: when one of their jobs ends. */
static double limited_until(const pl_schedule *s, const pl_job *job, bool group, double now)
{
    double until = INFINITY;
    for (size_t i = 0; i < s->running.count; i++) {
        const pl_job *r = s->running.jobs[i];
        if (group ? r->user->group == job->user->group : r->user->person == job->user->person) {
            until = fmin(until, pl_job_expected_end(s, r, now));
        }
    }
    return until;
}

static void plan_starts(pl_schedule *s, double now, double *free_at)
{
    int32_t cores = s->setup.cores, n = 0;
    for (size_t i = 0; i < s->running.count; i++) {
        const pl_job *r = s->running.jobs[i];
        double end = pl_job_expected_end(s, r, now);
        int32_t kept = r->cores - pl_job_excess(r) - pl_job_leaving(r);
        for (int32_t k = 0; k < kept && n < cores; k++) {
            free_at[n++] = end;
        }
    }
    while (n < cores) {
        free_at[n++] = now;
    }
    qsort(free_at, (size_t)cores, sizeof *free_at, by_value);
    for (size_t i = 0; i < s->order.count; i++) {
        pl_job *job = s->order.jobs[i];
        bool never = job->cores_least > cores || job->memory > s->setup.memory || s->draining ||
                     (job->gpu_memory > 0 && s->device_count == 0);
        job->start = never ? INFINITY : free_at[job->cores_least - 1];
        if (never) {
            continue;
        }
        pl_wait_reason limit = pl_schedule_limit(s, job).reason;
        if (limit != PL_WAIT_NONE) {
            job->start = fmax(job->start, limited_until(s, job, limit == PL_WAIT_GROUP, now));
        }
        take_cores(free_at, cores, job->cores_least,
                   fmin(job->start, 1e300) + pl_job_length(s, job));
    }
}

void pl_schedule_forecast(pl_schedule *s, double now)
{
    make_order(s, now);
    double *free_at = malloc((size_t)(s->setup.cores > 0 ? s->setup.cores : 1) * sizeof *free_at);
    if (free_at) {
        plan_starts(s, now, free_at);
    }
    free(free_at);
    for (size_t i = 0; i < s->aside.count; i++) {
        pl_job *job = s->aside.jobs[i];
        job->start = job->held || job->after_count || job->due <= 0 ? INFINITY : job->due;
    }
}

pl_job *const *pl_schedule_order(const pl_schedule *s, size_t *count)
{
    *count = s->order.count;
    return s->order.jobs;
}

/* ---- reasons ---- */

static pl_wait wait_aside(const pl_job *job, double now)
{
    if (job->held) {
        return (pl_wait){PL_WAIT_HELD, 0, 0, PL_WAIT_NONE};
    }
    if (job->after_count) {
        return (pl_wait){PL_WAIT_AFTER, (double)job->after_count, 0, PL_WAIT_NONE};
    }
    return (pl_wait){PL_WAIT_DUE, fmax(job->due - now, 0), 0, PL_WAIT_NONE};
}

pl_wait pl_schedule_wait(pl_schedule *s, const pl_job *job, double now)
{
    if (job->state == PL_JOB_RUNNING) {
        return (pl_wait){.reason = PL_WAIT_NONE};
    }
    if (job->state == PL_JOB_ASIDE) {
        return wait_aside(job, now);
    }
    if (s->draining) {
        return (pl_wait){PL_WAIT_DRAINING, 0, 0, PL_WAIT_NONE};
    }
    pl_wait why = pl_schedule_limit(s, job);
    if (why.reason != PL_WAIT_NONE) {
        return why;
    }
    why = pl_schedule_lack(s, job);
    bool device = why.reason == PL_WAIT_NO_GPU || why.reason == PL_WAIT_GPU_MEMORY;
    if (job->position > 1 && !device) {
        return (pl_wait){PL_WAIT_TURN, (double)(job->position - 1), 0, PL_WAIT_NONE};
    }
    bool delays = s->reserved_count && job->overtaken < 0 && !pl_job_fits(s, job, job->cores_least);
    if (why.reason == PL_WAIT_NONE && (delays || pl_schedule_gives_way(s, job))) {
        return (pl_wait){PL_WAIT_RESERVED, 0, 0, PL_WAIT_NONE};
    }
    return why;
}

const char *pl_wait_name(pl_wait_reason reason)
{
    static const char *const names[] = {"starts",      "draining",   "held",         "after",
                                        "restarts",    "user_cores", "user_running", "user_gpus",
                                        "group_limit", "no_gpu",     "gpu_memory",   "turn",
                                        "cores",       "memory",     "reserved"};
    return names[reason];
}
