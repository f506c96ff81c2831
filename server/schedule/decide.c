/* decide.c - one decision: which jobs start, take or give back cores, or are stopped for another. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 16, PASSED = 64 };
static const double least_run =
    30; /* minimum run time, s, before a job is stopped for another user's */

/* Lifetime: one decision. */
typedef struct decision {
    pl_schedule *s;
    double now;
    pl_action *out;
    /* requirements that cannot be met, so neither can those of a job asking for at least as much */
    const pl_job *failed[SHAPES];
    int failed_count;
    pl_job *passed[PASSED]; /* jobs that are first of their users and lack something */
    int passed_count;
} decision;

/* ---- reservations ---- */

static double waited(const pl_job *job, double now)
{
    return job->overtaken < 0 ? -1 : now - job->overtaken;
}

static bool reserves(const pl_schedule *s, const pl_job *job, double now)
{
    return job->blocked >= 0 || waited(job, now) >= s->setup.patience;
}

static bool strict(const pl_schedule *s, const pl_job *job, double now)
{
    return job->blocked >= 0 || (job->promised >= 0 && now >= job->promised + s->setup.patience);
}

static double since(const pl_job *job)
{
    bool earlier = job->overtaken >= 0 && (job->blocked < 0 || job->overtaken < job->blocked);
    return earlier ? job->overtaken : job->blocked;
}

/* Collect the jobs with a reservation, longest first: at most a user's first few jobs, since only those can be
 * overtaken. */
static void collect(pl_schedule *s, double now)
{
    s->reserved_count = 0;
    for (size_t i = 0; i < s->ranked_count; i++) {
        const pl_waiting_list *list = &s->ranked[i]->waiting;
        for (size_t k = 0; k < list->count && k < 16; k++) {
            if (!list->jobs[k].marked) {
                continue;
            }
            pl_job *job = list->jobs[k].job;
            s->read++;
            if (!reserves(s, job, now) || pl_schedule_limit(s, job).reason != PL_WAIT_NONE) {
                continue;
            }
            size_t at = s->reserved_count < RESERVATIONS ? s->reserved_count++ : RESERVATIONS - 1;
            while (at > 0 && since(s->reserved[at - 1]) > since(job)) {
                s->reserved[at] = s->reserved[at - 1];
                at--;
            }
            s->reserved[at] = job;
        }
    }
}

/* Memory on each device that stopping jobs will free. */
typedef struct coming {
    double memory[PL_SCHEDULE_DEVICES];
} coming;

static void add_coming(coming *c, const pl_job *r)
{
    if (r->device >= 0) {
        c->memory[r->device] += r->gpu_charge;
    }
}

static coming find_coming(const pl_schedule *s)
{
    coming c = {0};
    for (size_t i = 0; i < s->running.count; i++) {
        if (s->running.jobs[i]->preempting) {
            add_coming(&c, s->running.jobs[i]);
        }
    }
    return c;
}

/* The device with the most room, including memory about to be freed, and that room. */
typedef struct device_room {
    int32_t device; /* -1: none */
    double memory;
} device_room;

/* Memory reserved for other jobs does not count. */
static device_room most_room(const pl_schedule *s, const pl_job *job, const coming *c)
{
    device_room best = {-1, 0};
    for (int32_t i = 0; i < s->device_count; i++) {
        const pl_device *d = &s->devices[i];
        double held = s->device_holder[i] == job ? 0 : s->device_held[i];
        double left = d->memory - d->others - d->used - held + c->memory[i];
        if (d->up && !d->drained && (best.device < 0 || left > best.memory)) {
            best = (device_room){i, left};
        }
    }
    return best;
}

static bool has_device(const pl_job *job, device_room room)
{
    return job->gpu_memory <= 0 || (room.device >= 0 && room.memory >= job->gpu_memory);
}

static void note_claims(pl_schedule *s, const coming *c)
{
    s->claim_count = 0;
    for (size_t i = 0; i < s->reserved_count; i++) {
        const pl_job *job = s->reserved[i];
        if (job->blocked >= 0) {
            s->claims[s->claim_count++] = (pl_claim){job, has_device(job, most_room(s, job, c))};
        }
    }
}

/* Reserve a device for it: the one that will have the most room once the stopping jobs have stopped. */
static void hold_device(pl_schedule *s, const pl_job *job, const coming *c)
{
    int32_t best = -1;
    for (int32_t i = 0; job->gpu_memory > 0 && i < s->device_count; i++) {
        const pl_device *d = &s->devices[i];
        double room = d->memory - d->others;
        if (d->up && !d->drained && room >= job->gpu_memory && s->device_held[i] == 0 &&
            (best < 0 || d->used - c->memory[i] < s->devices[best].used - c->memory[best])) {
            best = i;
        }
    }
    if (best >= 0) {
        s->device_held[best] = job->gpu_memory;
        s->device_holder[best] = job;
    }
}

/* ---- starting ---- */

static pl_job *start(decision *d, pl_job *job, int32_t cores)
{
    pl_schedule_begin(d->s, job, cores, pl_schedule_pick_device(d->s, job), false, job->gpu_memory,
                      d->now);
    *d->out = (pl_action){PL_ACTION_START, job};
    return job;
}

static int32_t smaller(int64_t a, int64_t b)
{
    return (int32_t)(a < b ? a : b);
}

/* An equal part of the free cores for each waiting job, within its range, its limits and the reservations. */
static int32_t cores_for(const decision *d, const pl_job *job)
{
    const pl_schedule *s = d->s;
    int32_t room = pl_schedule_free_cores(s, job);
    int32_t part = room / smaller((int64_t)s->waiting, room > 0 ? room : 1);
    int32_t most = smaller(part, job->cores_most);
    most = smaller(most, job->user->person->limits.cores - job->user->person->cores);
    most = smaller(most, job->user->group->limits.cores - job->user->group->cores);
    while (most > job->cores_least && s->reserved_count && !pl_job_fits(s, job, most)) {
        most--;
    }
    return most > job->cores_least ? most : job->cores_least;
}

/* ---- jobs with a reservation ---- */

/* Subtract the job's requirements from the profile. */
static void reserve(const decision *d, pl_job *job)
{
    pl_schedule *s = d->s;
    bool holds = strict(s, job, d->now);
    double from = holds ? d->now : pl_job_earliest(s, job);
    if (!isinf(from)) {
        job->promised = job->promised < 0 ? from : job->promised;
        pl_job_reserve(s, job, from, holds ? INFINITY : from + pl_job_length(s, job));
    }
}

/* Each in turn is started if it fits with those before it; otherwise resources are reserved. A job that waits for a
 * device reserves no cores: they are found when the device is free. */
static pl_job *start_reserved(decision *d)
{
    pl_schedule *s = d->s;
    memset(s->device_held, 0, sizeof s->device_held);
    memset(s->device_holder, 0, sizeof s->device_holder);
    collect(s, d->now);
    coming c = find_coming(s);
    note_claims(s, &c);
    if (s->reserved_count) {
        pl_profile_begin(s, d->now);
    }
    for (size_t i = 0; i < s->reserved_count; i++) {
        pl_job *job = s->reserved[i];
        if (pl_schedule_gives_way(s, job)) {
            continue;
        }
        bool device = has_device(job, most_room(s, job, &c));
        if (pl_schedule_lack(s, job).reason == PL_WAIT_NONE &&
            pl_job_fits(s, job, job->cores_least)) {
            return start(d, job, job->cores_least);
        }
        hold_device(s, job, &c);
        if (device) {
            reserve(d, job);
        }
    }
    return NULL;
}

/* ---- other jobs ---- */

static bool asks_as_much(const pl_schedule *s, const pl_waiting *w, const pl_job *failed)
{
    return w->cores_least >= failed->cores_least && w->memory >= failed->memory &&
           w->gpu_memory >= failed->gpu_memory && w->interactive <= failed->interactive &&
           pl_length_or_mean(s, w->length) >= pl_job_length(s, failed);
}

static bool failed_alike(const decision *d, const pl_waiting *w)
{
    for (int i = 0; i < d->failed_count; i++) {
        if (asks_as_much(d->s, w, d->failed[i])) {
            return true;
        }
    }
    return false;
}

static bool startable(decision *d, const pl_job *job)
{
    const pl_schedule *s = d->s;
    bool fits = pl_schedule_lack(s, job).reason == PL_WAIT_NONE &&
                (s->reserved_count == 0 || pl_job_fits(s, job, job->cores_least));
    if (!fits && d->failed_count < SHAPES) {
        d->failed[d->failed_count++] = job;
    }
    return fits;
}

/* Jobs that `job` passed because they did not fit are now overtaken. */
static pl_job *overtake(decision *d, pl_job *job)
{
    for (int i = 0; i < d->passed_count; i++) {
        if (d->passed[i]->overtaken < 0) {
            d->passed[i]->overtaken = d->now;
            pl_schedule_mark(d->passed[i]);
        }
    }
    return start(d, job, cores_for(d, job));
}

/* Free cores, for ordinary and for interactive jobs, and free memory. */
typedef struct free_room {
    int32_t cores[2];
    double memory;
} free_room;

static free_room room_of(const pl_schedule *s)
{
    return (free_room){{pl_schedule_free_cores(s, &(pl_job){.interactive = false}),
                        pl_schedule_free_cores(s, &(pl_job){.interactive = true})},
                       s->setup.memory - s->memory_used};
}

/* Try one user's jobs in order: all, or only those with priority above 0. */
static pl_job *try_user(decision *d, const pl_account *user, const free_room *room, bool express)
{
    bool first = d->passed_count < PASSED;
    for (size_t i = 0; i < user->waiting.count; i++) {
        const pl_waiting *at = &user->waiting.jobs[i];
        pl_job *job = at->job;
        if (express && job->priority <= 0) {
            return NULL;
        }
        /* In a long queue this skips nearly all jobs without reading them. */
        if (!first && (at->cores_least > room->cores[at->interactive] ||
                       at->memory > room->memory || failed_alike(d, at))) {
            continue;
        }
        d->s->read++;
        if (pl_schedule_limit(d->s, job).reason != PL_WAIT_NONE ||
            pl_schedule_gives_way(d->s, job)) {
            continue;
        }
        if ((!first || !failed_alike(d, at)) && startable(d, job)) {
            return overtake(d, job);
        }
        if (first) {
            d->passed[d->passed_count++] = job;
        }
        first = false;
    }
    return NULL;
}

/* True if anything could start at all: on a full machine the queue is not searched. */
static bool has_room(const pl_schedule *s)
{
    return s->cores_used < s->setup.cores && s->memory_used < s->setup.memory;
}

static pl_job *start_any(decision *d)
{
    pl_schedule *s = d->s;
    pl_job *started = NULL;
    free_room left = room_of(s);
    for (size_t i = 0; s->express && !started && i < s->ranked_count; i++) {
        started = try_user(d, s->ranked[i], &left, true);
    }
    for (size_t i = 0; !started && i < s->ranked_count; i++) {
        started = try_user(d, s->ranked[i], &left, false);
    }
    return started;
}

/* ---- preemption ---- */

static bool yields(const pl_job *victim, const pl_job *job, double now)
{
    if (!victim->preemptible || victim->preempting || victim->beside || victim->cores == 0) {
        return false;
    }
    if (victim->user->person == job->user->person || job->priority > 0) {
        return pl_job_yields_at_once(victim, job);
    }
    return job->user->key < victim->user->key && now - victim->started >= least_run;
}

/* Room for a claim: free now, free after the stopping jobs have stopped, and with `all` also after stopping more
 * jobs. */
typedef struct claim_room {
    int32_t cores;
    double memory;
    device_room on;
} claim_room;

static claim_room count_room(const pl_schedule *s, const pl_job *job, double now, bool all)
{
    coming c = {0};
    claim_room room = {.cores = pl_schedule_free_cores(s, job),
                       .memory = s->setup.memory - s->memory_used};
    for (size_t i = 0; i < s->running.count; i++) {
        const pl_job *r = s->running.jobs[i];
        if (r->preempting || (all && yields(r, job, now))) {
            room.cores += r->cores;
            room.memory += r->memory;
            add_coming(&c, r);
        } else {
            room.cores += pl_job_leaving(r) + (all ? pl_job_excess(r) : 0);
        }
    }
    room.on = most_room(s, job, &c);
    return room;
}

static bool enough(const pl_job *job, const claim_room *room)
{
    return room->cores >= job->cores_least && room->memory >= job->memory &&
           has_device(job, room->on);
}

/* True if it would start before all earlier reservations, assuming that the yielding jobs have stopped. */
static bool fits_then(const decision *d, const pl_job *job)
{
    pl_schedule *s = d->s;
    if (s->reserved_count == 0) {
        return true;
    }
    pl_profile now = s->profile;
    s->profile = (pl_profile){0};
    pl_profile_begin(s, d->now);
    for (size_t i = 0; i < s->running.count; i++) {
        const pl_job *r = s->running.jobs[i];
        if (r->preempting || yields(r, job, d->now)) {
            pl_profile_release(s, r, d->now);
        }
    }
    for (size_t i = 0; i < s->reserved_count && s->reserved[i] != job; i++) {
        if (!pl_schedule_gives_way(s, s->reserved[i]) && s->reserved[i]->gpu_memory <= 0) {
            reserve(d, s->reserved[i]);
        }
    }
    bool fits = pl_job_fits(s, job, job->cores_least);
    pl_profile_clear(&s->profile);
    s->profile = now;
    return fits;
}

/* The youngest job that yields, on that device (-1: any); NULL: none. */
static pl_job *pick_victim(const pl_schedule *s, const pl_job *job, int32_t device, double now)
{
    pl_job *youngest = NULL;
    for (size_t i = 0; i < s->running.count; i++) {
        pl_job *victim = s->running.jobs[i];
        if (yields(victim, job, now) && (device < 0 || victim->device == device) &&
            (!youngest || victim->started > youngest->started)) {
            youngest = victim;
        }
    }
    return youngest;
}

/* The job whose turn it is and, depending on its need of a GPU, the next job that needs one or the next that needs
 * none: others may be stopped for these. They hold what becomes free. Of a user's jobs, only one with the highest
 * priority; preemptible jobs displace nobody. Returns how many. */
static int find_claims(const pl_schedule *s, pl_job *claims[2])
{
    int count = 0;
    for (size_t i = 0; i < s->ranked_count; i++) {
        const pl_waiting_list *list = &s->ranked[i]->waiting;
        for (size_t k = 0; k < list->count && k < 8; k++) {
            pl_job *job = list->jobs[k].job;
            bool gpu = job->gpu_memory > 0;
            if (job->priority != list->jobs[0].job->priority || job->preemptible ||
                (gpu && s->device_count == 0) ||
                (count > 0 && gpu == (claims[0]->gpu_memory > 0)) ||
                pl_schedule_limit(s, job).reason != PL_WAIT_NONE) {
                continue;
            }
            claims[count++] = job;
            if (count == 2 || s->device_count == 0) {
                return count;
            }
        }
    }
    return count;
}

/* The next job to stop for it; NULL: none, or it only has to wait for stopping jobs. */
static pl_job *claim(const decision *d, const pl_job *job)
{
    claim_room soon = count_room(d->s, job, d->now, false);
    if (enough(job, &soon)) {
        return NULL;
    }
    claim_room all = count_room(d->s, job, d->now, true);
    if (!enough(job, &all) || !fits_then(d, job)) {
        return NULL;
    }
    /* First make room on a device. */
    return pick_victim(d->s, job, has_device(job, soon.on) ? -1 : all.on.device, d->now);
}

static pl_job *preempt(decision *d)
{
    pl_job *claims[2];
    int count = d->s->preemptible ? find_claims(d->s, claims) : 0;
    for (int i = 0; i < count; i++) {
        pl_job *job = claims[i], *victim = claim(d, job);
        if (victim) {
            victim->preempting = true;
            job->blocked = job->blocked < 0 ? d->now : job->blocked;
            pl_schedule_mark(job);
            *d->out = (pl_action){PL_ACTION_PREEMPT, victim};
            return victim;
        }
    }
    return NULL;
}

/* ---- the decision ---- */

/* True if something is idle, or could be taken back. */
static bool has_cores(const pl_schedule *s)
{
    return has_room(s) || pl_schedule_any_excess(s);
}

static pl_job *resize(decision *d)
{
    pl_job *job = pl_schedule_resize(d->s, d->now);
    if (job) {
        *d->out = (pl_action){PL_ACTION_RESIZE, job};
    }
    return job;
}

static pl_job *start_or_resize(decision *d)
{
    pl_job *job = start_reserved(d);
    job = job || !has_room(d->s) ? job : start_any(d);
    return job ? job : resize(d);
}

static bool may_act(const pl_schedule *s)
{
    return !s->draining &&
           (s->waiting ? has_cores(s) || s->preemptible : s->running.count > 0 && has_cores(s));
}

int pl_schedule_decide(pl_schedule *s, double now, pl_action *out, int most)
{
    int count = 0;
    for (size_t i = s->aside.count; i-- > 0;) {
        if (s->aside.jobs[i]->due > 0 && s->aside.jobs[i]->due <= now) {
            pl_schedule_delay(s, s->aside.jobs[i], 0, now);
        }
    }
    while (count < most && may_act(s)) {
        decision d = {.s = s, .now = now, .out = out + count};
        s->read = 0;
        pl_schedule_rank(s, now);
        pl_job *done = has_cores(s) ? start_or_resize(&d) : start_reserved(&d);
        if (!done && !preempt(&d)) {
            break;
        }
        count++;
    }
    return count;
}

static bool may_run_more(const pl_account *a)
{
    return a->running < a->limits.running;
}

pl_job *pl_schedule_beside(pl_schedule *s, pl_job *host, double context, double now)
{
    pl_job *job = host->user->waiting.count ? host->user->waiting.jobs[0].job : NULL;
    if (!job || s->draining || !job->shares || job->cores_least > host->cores || host->device < 0 ||
        !may_run_more(job->user->person) || !may_run_more(job->user->group) ||
        s->memory_used + job->memory > s->setup.memory) {
        return NULL;
    }
    const pl_device *d = &s->devices[host->device];
    double charge = job->gpu_memory - context;
    if (d->others + d->used + charge + s->device_held[host->device] > d->memory) {
        return NULL;
    }
    pl_schedule_begin(s, job, 0, host->device, true, charge, now);
    return job;
}

double pl_schedule_next_due(const pl_schedule *s, double now)
{
    double next = INFINITY;
    for (size_t i = 0; i < s->aside.count; i++) {
        const pl_job *job = s->aside.jobs[i];
        if (job->due > 0 && !job->held && job->after_count == 0) {
            next = fmin(next, job->due);
        }
    }
    for (size_t i = 0; s->waiting && s->preemptible && i < s->running.count; i++) {
        const pl_job *r = s->running.jobs[i];
        double yields_at = r->started + least_run;
        if (r->preemptible && !r->preempting && yields_at > now) {
            next = fmin(next, yields_at);
        }
    }
    return next;
}
