/* decide.c - one decision: who starts, who takes or gives back cores, who is stopped for another. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 16, PASSED = 64 };
static const double least_run =
    30; /* s that a job has run before it is stopped for another user's */

/* Lifetime: one decision. */
typedef struct decision {
    pl_schedule *s;
    double now;
    pl_action *out;
    const pl_job *failed[SHAPES]; /* what no job that asks for at least as much can have */
    int failed_count;
    pl_job *passed[PASSED]; /* first of their users, that lack something */
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

/* Those with a reservation, longest first: a user's first few jobs at the most, since only those are overtaken. */
static void collect(pl_schedule *s, double now)
{
    s->reserved_count = 0;
    for (size_t i = 0; i < s->ranked_count; i++) {
        const pl_job_list *list = &s->ranked[i]->waiting;
        for (size_t k = 0; k < list->count && k < 16; k++) {
            pl_job *job = list->jobs[k];
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

/* Memory of each device that jobs told to stop will free. */
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

/* The device with most room, with what comes, and that room. */
typedef struct device_room {
    int32_t device; /* -1: none */
    double memory;
} device_room;

/* With what is reserved for others taken off. */
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

/* Its device is kept for it: the one that will have most room once those that were told have stopped. */
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

/* Of what is free, an equal part for each job that waits, within its range, its limits and the reservations. */
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

/* ---- those with a reservation ---- */

/* What it needs is taken out of the profile. */
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

/* Each in turn: started where it fits beside those before it, else it is reserved for. One that waits for a device
 * takes no cores: they are kept for it when there is one. */
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

/* ---- all others ---- */

static bool asks_as_much(const pl_schedule *s, const pl_job *job, const pl_job *failed)
{
    return job->cores_least >= failed->cores_least && job->memory >= failed->memory &&
           job->gpu_memory >= failed->gpu_memory && job->interactive <= failed->interactive &&
           pl_job_length(s, job) >= pl_job_length(s, failed);
}

static bool failed_alike(const decision *d, const pl_job *job)
{
    for (int i = 0; i < d->failed_count; i++) {
        if (asks_as_much(d->s, job, d->failed[i])) {
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

/* What went before it because it did not fit was overtaken. */
static pl_job *overtake(decision *d, pl_job *job)
{
    for (int i = 0; i < d->passed_count; i++) {
        if (d->passed[i]->overtaken < 0) {
            d->passed[i]->overtaken = d->now;
        }
    }
    return start(d, job, cores_for(d, job));
}

/* Free cores, for jobs that are not interactive and for those that are, and free memory. */
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

/* One user's jobs in their order; only those of a priority above 0, or all. */
static pl_job *try_user(decision *d, const pl_account *user, const free_room *room, bool express)
{
    bool first = true;
    for (size_t i = 0; i < user->waiting.count; i++) {
        pl_job *job = user->waiting.jobs[i];
        if (express && job->priority <= 0) {
            return NULL;
        }
        /* Nearly all of a long queue: they are passed over before anything else is asked. */
        if (!first &&
            (job->cores_least > room->cores[job->interactive] || job->memory > room->memory)) {
            continue;
        }
        if (pl_schedule_limit(d->s, job).reason != PL_WAIT_NONE ||
            pl_schedule_gives_way(d->s, job)) {
            continue;
        }
        if (!failed_alike(d, job) && startable(d, job)) {
            return overtake(d, job);
        }
        if (first && d->passed_count < PASSED) {
            d->passed[d->passed_count++] = job;
        }
        first = false;
    }
    return NULL;
}

/* Whether anything could be started at all: on a full machine the queue is not looked through. */
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

/* Room for a claim: what is free, what will be when those that were told have stopped, and with `all` what more could
 * be. */
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

/* Whether it starts before all that have a reservation before it, where those that yield have stopped. */
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

/* The youngest of those that yield, on that device (-1: any); NULL: none. */
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

/* The job whose turn it is, and the next of those that need a GPU, or need none, where it does not: others may be
 * stopped for them. They then hold what becomes free. Of a user's jobs one of the highest priority; preemptible jobs
 * themselves displace nobody. How many. */
static int find_claims(const pl_schedule *s, pl_job *claims[2])
{
    int count = 0;
    for (size_t i = 0; i < s->ranked_count; i++) {
        const pl_job_list *list = &s->ranked[i]->waiting;
        for (size_t k = 0; k < list->count && k < 8; k++) {
            pl_job *job = list->jobs[k];
            bool gpu = job->gpu_memory > 0;
            if (job->priority != list->jobs[0]->priority || job->preemptible ||
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

/* Who is stopped for it next; NULL: nobody, or it only has to wait for those that were told. */
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
    /* Room is made on a device first. */
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
            *d->out = (pl_action){PL_ACTION_PREEMPT, victim};
            return victim;
        }
    }
    return NULL;
}

/* ---- the decision ---- */

/* Something is idle, or could be had back. */
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
    pl_job *job = host->user->waiting.count ? host->user->waiting.jobs[0] : NULL;
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
