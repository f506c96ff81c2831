/* elastic.c - running jobs with a range of cores: which ones take idle cores, and which ones give cores back. */
#include "server/schedule/inside.h"

#include <limits.h>
#include <stdlib.h>

/* ---- cores above the minimum ---- */

static bool is_elastic(const pl_job *job)
{
    return job->cores > 0 && job->cores_most > job->cores_least && !job->rigid &&
           !job->preempting && !job->beside;
}

int32_t pl_job_excess(const pl_job *job)
{
    return is_elastic(job) && job->wanted > job->cores_least ? job->wanted - job->cores_least : 0;
}

int32_t pl_job_leaving(const pl_job *job)
{
    return job->wanted < job->cores ? job->cores - job->wanted : 0;
}

bool pl_schedule_any_excess(const pl_schedule *s)
{
    for (size_t i = 0; i < s->running.count; i++) {
        if (pl_job_excess(s->running.jobs[i]) > 0) {
            return true;
        }
    }
    return false;
}

/* ---- giving back ---- */

/* Lifetime: one decision. */
typedef struct giving {
    pl_schedule *s;
    /* of the cores free now or soon: claimed by the waiting jobs examined so far */
    int32_t claimed;
    int32_t failed; /* no non-interactive job that needs this many cores can have them */
    bool awaited;   /* a waiting job has everything that it needs, now or soon */
    pl_job *victim;
} giving;

/* True if the waiting job can use cores that the running one gives back; they may be reserved for interactive jobs. */
static bool counts_for(const pl_schedule *s, const pl_job *running, const pl_job *job)
{
    return job->interactive || !running->interactive || s->setup.interactive_cores == 0;
}

/* For the running jobs of an account, or all (NULL): cores that will be free once pending changes are done, cores that
 * could also be given back, and the job with the most. */
typedef struct stock {
    int64_t coming, excess;
    pl_job *richest;
} stock;

static bool belongs(const pl_job *r, const pl_account *account)
{
    return !account || r->user->person == account || r->user->group == account;
}

static stock take_stock(const pl_schedule *s, const pl_job *job, const pl_account *account)
{
    stock found = {0, 0, NULL};
    for (size_t i = 0; i < s->running.count; i++) {
        pl_job *r = s->running.jobs[i];
        if (!belongs(r, account) || !counts_for(s, r, job)) {
            continue;
        }
        found.coming += r->preempting ? r->cores : pl_job_leaving(r);
        found.excess += pl_job_excess(r);
        if (pl_job_excess(r) > 0 && (!found.richest || r->wanted > found.richest->wanted)) {
            found.richest = r;
        }
    }
    return found;
}

/* Asks a job to give cores back if `missing` is above zero. False if the stock holds fewer. */
static bool ask(giving *g, const stock *from, int64_t missing)
{
    if (missing > from->excess) {
        return false;
    }
    if (missing > 0) {
        int32_t excess = pl_job_excess(from->richest);
        g->victim = from->richest;
        g->victim->wanted -= missing < excess ? (int32_t)missing : excess;
    }
    return true;
}

/* The same for the limit of its user or group, using only their own jobs. */
static bool ask_account(giving *g, const pl_job *job, const pl_account *account)
{
    int64_t over = account->cores + job->cores_least - account->limits.cores;
    if (over <= 0) {
        return true;
    }
    stock own = take_stock(g->s, job, account);
    return ask(g, &own, over - own.coming);
}

static bool could_start(const pl_schedule *s, const pl_job *job, bool reserved)
{
    return pl_schedule_may_run(job) && !pl_schedule_gives_way(s, job) &&
           s->memory_used + job->memory <= s->setup.memory &&
           (job->gpu_memory <= 0 || pl_schedule_pick_device(s, job) >= 0) &&
           (reserved || s->reserved_count == 0 || pl_job_fits(s, job, job->cores_least));
}

/* Ask jobs above their minimum for what a waiting job lacks. False ends the search. */
static bool consider(giving *g, const pl_job *job, bool reserved)
{
    pl_schedule *s = g->s;
    if ((job->cores_least >= g->failed && !job->interactive) || !could_start(s, job, reserved)) {
        return true;
    }
    if (!ask_account(g, job, job->user->person) || !ask_account(g, job, job->user->group)) {
        return true;
    }
    stock all = take_stock(s, job, NULL);
    int64_t room = pl_schedule_free_cores(s, job) + all.coming - g->claimed;
    if (!g->victim && !ask(g, &all, job->cores_least - room)) {
        g->failed = job->interactive ? g->failed : job->cores_least;
        return true;
    }
    g->awaited = true;
    g->claimed += job->cores_least;
    return !g->victim;
}

static void give_back(giving *g)
{
    pl_schedule *s = g->s;
    for (size_t i = 0; i < s->reserved_count; i++) {
        if (!consider(g, s->reserved[i], true)) {
            return;
        }
    }
    for (size_t i = 0; i < s->ranked_count; i++) {
        const pl_waiting_list *list = &s->ranked[i]->waiting;
        for (size_t k = 0; k < list->count; k++) {
            const pl_waiting *at = &list->jobs[k];
            bool hopeless = at->cores_least >= g->failed && !at->interactive;
            if (!hopeless && !consider(g, at->job, false)) {
                return;
            }
        }
    }
}

/* ---- taking more ---- */

static int64_t room_of(const pl_account *a)
{
    return a->limits.cores - a->cores;
}

static bool may_grow(const pl_job *job)
{
    return is_elastic(job) && job->wanted == job->cores && job->cores < job->cores_most &&
           room_of(job->user->person) > 0 && room_of(job->user->group) > 0;
}

/* Of the jobs that may take more cores, the one with the fewest. */
static pl_job *poorest(const pl_schedule *s)
{
    pl_job *found = NULL;
    for (size_t i = 0; i < s->running.count; i++) {
        pl_job *job = s->running.jobs[i];
        if (may_grow(job) && (!found || job->cores < found->cores)) {
            found = job;
        }
    }
    return found;
}

/* Assign idle cores one by one, each to the job with the fewest. The first job gets its total at once; the rest is
 * assigned in later decisions, with the same result. */
static pl_job *grow(pl_schedule *s, double now)
{
    static const pl_job none = {.interactive = false};
    pl_job *first = poorest(s);
    int32_t idle = first ? pl_schedule_free_cores(s, &none) : 0;
    if (idle <= 0) {
        return NULL;
    }
    int32_t level = first->cores, parts = 0, above = INT32_MAX;
    for (size_t i = 0; i < s->running.count; i++) {
        const pl_job *job = s->running.jobs[i];
        if (may_grow(job) && job->cores == level) {
            parts++;
        } else if (may_grow(job) && job->cores < above) {
            above = job->cores;
        }
    }
    int64_t more = idle / parts > 0 ? idle / parts : 1;
    more = more < above - level ? more : above - level;
    more = more < first->cores_most - level ? more : first->cores_most - level;
    more = more < room_of(first->user->person) ? more : room_of(first->user->person);
    more = more < room_of(first->user->group) ? more : room_of(first->user->group);
    pl_schedule_give(s, first, level + (int32_t)more, now);
    return first;
}

/* ---- evening out ---- */

/* If nothing is idle, a job with at least two cores more than one that may take more gives back half of the
 * difference. */
static pl_job *even_out(const pl_schedule *s)
{
    static const pl_job none = {.interactive = false};
    const pl_job *poor = poorest(s);
    stock all = take_stock(s, &none, NULL);
    if (!poor || !all.richest || all.coming > 0 || all.richest->wanted - poor->cores < 2) {
        return NULL;
    }
    int32_t half = (all.richest->wanted - poor->cores) / 2, excess = pl_job_excess(all.richest);
    all.richest->wanted -= half < excess ? half : excess;
    return all.richest;
}

pl_job *pl_schedule_resize(pl_schedule *s, double now)
{
    giving g = {.s = s, .failed = INT32_MAX};
    if (!pl_schedule_any_excess(s) && !poorest(s)) {
        return NULL; /* no job could give back, or none may take more */
    }
    give_back(&g);
    if (g.victim || g.awaited) {
        return g.victim;
    }
    pl_job *job = grow(s, now);
    return job ? job : even_out(s);
}
