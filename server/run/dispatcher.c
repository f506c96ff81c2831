#include "server/run/dispatcher.h"

#include "engine/scene/output.h"
#include "server/base/logger.h"
#include "server/run/gpus.h"
#include "server/run/disk_pause.h"
#include "server/run/dispatcher_inside.h"
#include "server/run/session_job.h"
#include "server/sessions/batch_state.h"
#include "server/sessions/sessions_locked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MEMORY 1e18
static const double half_life = 86400; /* half-life of usage, s */

static double now_s(void)
{
    return pl_dispatcher_now();
}

pl_schedule *pl_dispatcher_schedule_of(const pl_dispatcher *d, const pl_session *s)
{
    return s->executor ? d->batch : d->schedule;
}

static pl_schedule *of(const pl_dispatcher *d, const pl_session *s)
{
    return pl_dispatcher_schedule_of(d, s);
}

static bool arrive(pl_dispatcher *d, pl_session *s, bool first)
{
    uint64_t after[PL_AFTER_MAX];
    s->cores = s->cores_least;
    s->preempting = false;
    const pl_job_wish wish = pl_session_wish(d->sessions, s, after);
    s->job = pl_schedule_arrive(of(d, s), &wish, now_s(), first);
    d->gpu_waits += s->job && s->job->gpu_memory > 0;
    d->changes++;
    return s->job;
}

/* ---- the queue of the table ---- */

static bool push(void *context, pl_session *s, bool first)
{
    return arrive(context, s, first);
}

static bool delay(void *context, pl_session *s)
{
    pl_dispatcher *d = context;
    if (!arrive(d, s, false)) {
        return false;
    }
    pl_schedule_delay(of(d, s), s->job, 1e-3 * (double)s->due_ms, now_s());
    return true;
}

static void move(void *context, pl_session *s)
{
    pl_dispatcher *d = context;
    if (s->job && s->job->state != PL_JOB_RUNNING) {
        if (s->job->priority != s->priority) {
            pl_schedule_prioritise(of(d, s), s->job, s->priority, now_s());
        }
        pl_schedule_regroup(of(d, s), s->job, s->group);
        d->changes++;
    }
}

static void end_job(pl_dispatcher *d, pl_session *s)
{
    pl_schedule_end(of(d, s), s->job, now_s());
    s->job = NULL;
    d->changes++;
}

static void remove_session(void *context, pl_session *s)
{
    pl_dispatcher *d = context;
    bool submitted = s->job && s->executor && s->job->state == PL_JOB_RUNNING;
    if (submitted || (s->job && s->job->state != PL_JOB_RUNNING)) {
        d->gpu_waits -= !submitted && s->job->gpu_memory > 0;
        end_job(d, s);
        s->due_ms = 0;
    }
}

static void note_usage(pl_dispatcher *d, const pl_usage_span *span)
{
    if (!pl_usage_note(d->store, span)) {
        pl_logf(PL_LEVEL_WARN, "session %s: its usage is not counted: the database is behind",
                span->session);
    }
}

/* ---- CPUs ---- */

/* Give it this many CPUs, taken from or added to its present ones. */
static void change_cpus(pl_dispatcher *d, pl_session *s, int64_t cores)
{
    char *now = pl_cpus_change(d->cpus, s->cpus, cores);
    free(s->cpus);
    s->cpus = now;
}

static void release_cpus(pl_dispatcher *d, pl_session *s)
{
    change_cpus(d, s, 0);
    d->repins -= s->repin;
    s->repin = false;
}

char *pl_dispatcher_cpus(pl_dispatcher *d, const pl_session *s)
{
    pl_sessions_lock(d->sessions);
    char *cpus = s->cpus ? strdup(s->cpus) : NULL;
    pl_sessions_unlock(d->sessions);
    return cpus;
}

void pl_dispatcher_unpin(pl_dispatcher *d, pl_session *s)
{
    pl_sessions_lock(d->sessions);
    release_cpus(d, s);
    pl_sessions_unlock(d->sessions);
}

static void free_held(void *context, pl_session *s)
{
    pl_dispatcher *d = context;
    release_cpus(d, s);
    if (s->job) {
        pl_usage_span span = pl_session_span(s);
        note_usage(d, &span);
        s->ended_ms = s->held_ms = 0;
        if (s->job->device >= 0) {
            pl_gpus_give(d->gpus, s->gpu, s->job->gpu_charge);
        }
        end_job(d, s);
    }
}

/* Count this many cores for it from now on. The time until now becomes a separate run. */
static void hold_cores(pl_dispatcher *d, pl_session *s, int64_t cores)
{
    pl_usage_span span = pl_session_span(s);
    span.cores = s->cores_held;
    note_usage(d, &span);
    s->held_ms = span.to_ms;
    pl_sessions_count_cores(d->sessions, cores - s->cores_held);
    s->cores = s->cores_held = cores;
    d->changes++;
    if (s->cpus) {
        change_cpus(d, s, cores);
    }
}

/* Only the answer to the newest request counts; additional cores were counted when requested. */
static bool resized(void *context, pl_session *s, int64_t number, int64_t cores)
{
    pl_dispatcher *d = context;
    bool fewer = s->job && s->job->state == PL_JOB_RUNNING && number == s->resizes &&
                 cores < s->job->cores && s->cores_held > 0;
    if (fewer) {
        pl_schedule_resized(d->schedule, s->job, (int32_t)cores, now_s());
        hold_cores(d, s, cores);
        d->repins += s->cpus && !s->repin;
        s->repin = s->cpus;
    }
    return fewer;
}

static void changed(void *context, pl_session *ended)
{
    pl_dispatcher *d = context;
    if (ended) {
        pl_sessions_lock(d->sessions);
        pl_schedule_satisfy(d->schedule, (uint64_t)ended->created_us, now_s());
        pl_schedule_satisfy(d->batch, (uint64_t)ended->created_us, now_s());
        d->changes++;
        pl_sessions_unlock(d->sessions);
    }
    d->changed(d->context, ended);
}

const pl_session_queue pl_dispatcher_queue = {
    push, delay, move, remove_session, free_held, resized, pl_dispatcher_place, changed};

/* ---- up and down ---- */

static void watch_gpus(pl_dispatcher *d)
{
    for (int i = 0; i < pl_gpus_count(d->gpus) && i < PL_SCHEDULE_DEVICES; i++) {
        pl_gpu_load load = pl_gpus_load(d->gpus, i);
        pl_schedule_set_device(d->schedule, i,
                               &(pl_device){.memory = load.memory,
                                            .others = load.others,
                                            .up = !load.lost,
                                            .drained = load.draining});
    }
}

static void remember(void *context, const char *user, const char *group, double core_seconds,
                     double gpu_seconds)
{
    pl_dispatcher *d = context;
    pl_schedule_remember(d->schedule, user, group, core_seconds, gpu_seconds, now_s());
    pl_schedule_remember(d->batch, user, group, core_seconds, gpu_seconds, now_s());
}

pl_dispatcher *pl_dispatcher_create(const pl_dispatcher_setup *setup)
{
    pl_dispatcher *d = calloc(1, sizeof *d);
    if (!d) {
        return NULL;
    }
    d->schedule = pl_schedule_create(
        &(pl_schedule_setup){.cores = (int32_t)setup->machine.cores,
                             .memory = setup->machine.memory,
                             .interactive_cores = (int32_t)setup->interactive_cores,
                             .half_life = half_life});
    d->batch = pl_schedule_create(
        &(pl_schedule_setup){.cores = (int32_t)setup->batch_cores,
                             .memory = BATCH_MEMORY, /* memory per session is unknown */
                             .half_life = half_life});
    if (!d->schedule || !d->batch) {
        pl_schedule_destroy(d->schedule);
        free(d);
        return NULL;
    }
    d->has_batch = setup->has_batch;
    d->cpus = setup->cpus;
    d->gpus = setup->machine.gpus;
    d->disk = setup->disk;
    d->store = setup->store;
    d->limits_of = setup->limits_of;
    d->limits_version = setup->limits_version;
    d->known.version = d->batch_known.version = -1;
    d->changed = setup->changed;
    d->context = setup->context;
    watch_gpus(d);
    if (!pl_usage_recall(d->store, pl_clock_us() / 1000, half_life, remember, d)) {
        pl_logf(PL_LEVEL_WARN, "earlier usage could not be read: fair shares start from zero");
    }
    return d;
}

void pl_dispatcher_destroy(pl_dispatcher *d)
{
    if (d) {
        pl_schedule_destroy(d->schedule);
        pl_schedule_destroy(d->batch);
        pl_cpus_destroy(d->cpus);
        free(d);
    }
}

void pl_dispatcher_attach(pl_dispatcher *d, pl_sessions *sessions)
{
    d->sessions = sessions;
}

/* ---- starting ---- */

static double share_of(const pl_limits *most)
{
    int64_t share = most->value[PL_LIMIT_SHARE];
    return share == INT64_MAX ? 1 : (double)share;
}

static pl_account_limits account_limits(const pl_limits *most)
{
    return (pl_account_limits){most->value[PL_LIMIT_RUNNING], most->value[PL_LIMIT_CORES],
                               most->value[PL_LIMIT_GPUS]};
}

/* Of all users and groups after a change of limits, otherwise only of new ones. */
static void renew_limits(pl_dispatcher *d, pl_schedule *schedule, pl_limits_known *known)
{
    int64_t version = d->limits_version(d->context);
    const char *name;
    if (version != known->version) {
        *known = (pl_limits_known){.version = version};
    }
    for (; (name = pl_schedule_user(schedule, known->users)); known->users++) {
        pl_limits most = d->limits_of(d->context, name, false);
        pl_schedule_limit_user(schedule, known->users, share_of(&most), account_limits(&most));
    }
    for (; (name = pl_schedule_group(schedule, known->groups)); known->groups++) {
        pl_limits most = d->limits_of(d->context, name, true);
        pl_schedule_limit_group(schedule, known->groups, share_of(&most), account_limits(&most));
    }
}

/* Take over changed limits and devices. */
static void look_around(pl_dispatcher *d)
{
    renew_limits(d, d->schedule, &d->known);
    renew_limits(d, d->batch, &d->batch_known);
    watch_gpus(d);
}

/* Start the session of a job that has just begun. */
static void begin(pl_dispatcher *d, pl_job *job)
{
    pl_session *s = job->tag;
    if (job->device >= 0) {
        pl_gpu_load gpu = pl_gpus_load(d->gpus, job->device);
        if (!pl_gpus_place_on(d->gpus, gpu.uuid, job->gpu_charge)) {
            pl_gpus_take(d->gpus, gpu.uuid, job->gpu_charge); /* other programs took it meanwhile */
        }
        pl_session_set_text(&s->gpu, gpu.uuid);
    }
    d->gpu_waits -= s->gpu_memory > 0;
    d->changes++;
    s->due_ms = 0;
    s->cores = job->beside ? s->cores_least : job->cores;
    s->cores_held = job->cores;
    s->resizes = 0;
    if (job->cores > 0) {
        change_cpus(d, s, job->cores);
    }
    pl_sessions_count_cores(d->sessions, s->cores_held);
    pl_sessions_run_locked(d->sessions, s);
}

/* The same for the batch system; the session stays queued until its worker begins. */
static void submit(pl_dispatcher *d, pl_job *job)
{
    pl_session *s = job->tag;
    d->changes++;
    s->due_ms = 0;
    s->cores = job->cores;
    s->cores_held = s->resizes = 0;
    pl_batch_state_submit_locked(d->sessions, s);
}

static pl_action decide(pl_dispatcher *d, const pl_session *host)
{
    pl_action action = {PL_ACTION_START, NULL};
    look_around(d);
    if (host) {
        action.job = host->job ? pl_schedule_beside(d->schedule, host->job, PL_GPU_CONTEXT, now_s())
                               : NULL;
        return action;
    }
    int found = pl_schedule_decide(d->schedule, now_s(), &action, 1);
    if (found == 0 && d->gpu_waits > 0) {
        pl_gpus_await(d->gpus);
    }
    if (found == 0 && d->has_batch) {
        pl_schedule_decide(d->batch, now_s(), &action, 1);
    }
    return action;
}

static pl_task carry_out(pl_dispatcher *d, const pl_action *action)
{
    pl_session *s = action->job->tag;
    if (action->kind == PL_ACTION_PREEMPT) {
        s->preempting = true;
        return (pl_task){.kind = PL_TASK_STOP, .session = s};
    }
    if (action->kind == PL_ACTION_RESIZE) {
        pl_task task = {PL_TASK_RESIZE, s, ++s->resizes, action->job->wanted, s->cores_held};
        if (task.cores > task.had) {
            hold_cores(d, s, task.cores);
        }
        return task;
    }
    if (s->executor) {
        submit(d, action->job);
    } else {
        begin(d, action->job);
    }
    return (pl_task){.kind = PL_TASK_START, .session = s};
}

/* Before other sessions are put on the CPUs that it gave back. */
static pl_task next_pin(pl_dispatcher *d)
{
    size_t count = 0;
    pl_job *const *running = pl_schedule_running(d->schedule, &count);
    for (size_t i = 0; d->repins > 0 && i < count; i++) {
        pl_session *s = running[i]->tag;
        if (s->repin) {
            s->repin = false;
            d->repins--;
            return (pl_task){.kind = PL_TASK_PIN, .session = s};
        }
    }
    return (pl_task){.session = NULL};
}

static pl_task next(pl_dispatcher *d, const pl_session *host)
{
    pl_sessions_lock(d->sessions);
    pl_task task = next_pin(d);
    pl_action action = {.job = NULL};
    if (host || !task.session) {
        action = decide(d, host);
    }
    if (action.job) {
        task = carry_out(d, &action);
    }
    if (task.session) {
        pl_session_acquire(task.session);
    }
    pl_sessions_unlock(d->sessions);
    if (task.session) {
        pl_sessions_wake(d->sessions, task.session);
    }
    return task;
}

pl_task pl_dispatcher_next(pl_dispatcher *d)
{
    return next(d, NULL);
}

pl_session *pl_dispatcher_start_beside(pl_dispatcher *d, const pl_session *host)
{
    return pl_session_may_share(host) ? next(d, host).session : NULL;
}

void pl_dispatcher_fix(pl_dispatcher *d, const pl_task *task)
{
    pl_session *s = task->session;
    pl_sessions_lock(d->sessions);
    if (s->job && s->job->state == PL_JOB_RUNNING && s->resizes == task->number) {
        pl_schedule_fix(d->schedule, s->job, (int32_t)task->had, now_s());
        hold_cores(d, s, task->had);
    }
    pl_sessions_unlock(d->sessions);
}

void pl_dispatcher_keep(pl_dispatcher *d, pl_session *s)
{
    pl_sessions_lock(d->sessions);
    s->preempting = false;
    if (s->job) {
        pl_schedule_keep(of(d, s), s->job);
    }
    pl_sessions_unlock(d->sessions);
}

void pl_dispatcher_transfer(pl_dispatcher *d, pl_session *host, pl_common_hold *out)
{
    pl_sessions_lock(d->sessions);
    out->cores = 0;
    out->since_ms = pl_session_held_since(host);
    snprintf(out->session, sizeof out->session, "%s", host->id);
    snprintf(out->group, sizeof out->group, "%s", host->job ? pl_job_group(host->job) : "");
    if (host->job) {
        out->cores = pl_schedule_transfer(d->schedule, host->job, PL_GPU_CONTEXT, now_s());
    }
    host->cores_held -= out->cores;
    release_cpus(d, host); /* they hold cores together, not pinned */
    pl_sessions_unlock(d->sessions);
}

static int32_t device_of(pl_dispatcher *d, const char *uuid)
{
    for (int i = 0; uuid && i < pl_gpus_count(d->gpus); i++) {
        pl_gpu_load load = pl_gpus_load(d->gpus, i);
        if (strcmp(load.uuid, uuid) == 0) {
            return i;
        }
    }
    return -1;
}

void pl_dispatcher_reclaim(pl_dispatcher *d, const pl_common_hold *held)
{
    pl_sessions_lock(d->sessions);
    pl_schedule_give_back(d->schedule, held->owner, held->group, (int32_t)held->cores,
                          device_of(d, held->gpu), PL_GPU_CONTEXT, now_s());
    pl_gpus_give_context(d->gpus, held->gpu);
    pl_sessions_count_cores(d->sessions, -held->cores);
    note_usage(d, &(pl_usage_span){.session = held->session,
                                   .user = held->owner,
                                   .group = held->group,
                                   .from_ms = held->since_ms,
                                   .to_ms = pl_clock_us() / 1000,
                                   .cores = held->cores,
                                   .shared = true});
    d->changes++;
    pl_sessions_unlock(d->sessions);
}

int64_t pl_dispatcher_next_due(pl_dispatcher *d)
{
    pl_sessions_lock(d->sessions);
    double due = pl_schedule_next_due(d->schedule, now_s());
    due = d->has_batch ? fmin(due, pl_schedule_next_due(d->batch, now_s())) : due;
    pl_sessions_unlock(d->sessions);
    return isinf(due) ? INT64_MAX : (int64_t)ceil(1e3 * due);
}

/* Its usage before this daemon started is not stored in any row yet. */
static void remember_run(pl_dispatcher *d, const pl_session *s)
{
    pl_usage_span span = pl_session_span(s);
    double seconds = pl_usage_decayed(span.from_ms, span.to_ms, pl_clock_us() / 1000, half_life);
    remember(d, span.user, span.group, seconds * (double)span.cores, span.gpu ? seconds : 0);
}

/* Create a job for a session that already has its cores, unless it has a job. */
static bool arrive_as_it_is(pl_dispatcher *d, pl_session *s)
{
    int64_t cores = s->cores;
    if (!s->job) {
        arrive(d, s, false);
    }
    s->cores = cores;
    return s->job;
}

void pl_dispatcher_adopt(pl_dispatcher *d, pl_session *s, bool beside, bool rigid, const char *cpus)
{
    pl_sessions_lock(d->sessions);
    if (arrive_as_it_is(d, s)) {
        int32_t cores = (int32_t)s->cores;
        int32_t device = s->gpu_memory > 0 ? device_of(d, s->gpu) : -1;
        double memory = s->gpu_memory - (beside ? PL_GPU_CONTEXT : 0);
        d->gpu_waits -= s->gpu_memory > 0;
        pl_schedule_adopt(d->schedule, s->job, cores, device, memory, beside, now_s());
        if (device >= 0) {
            pl_gpus_take(d->gpus, s->gpu, memory);
        }
        if (rigid) {
            pl_schedule_fix(d->schedule, s->job, s->job->cores, now_s());
        }
        s->cores_held = s->job->cores;
        if (pl_cpus_claim(d->cpus, cpus, s->cores_held)) {
            pl_session_set_text(&s->cpus, cpus);
        }
        s->due_ms = 0;
        d->changes++;
    }
    pl_sessions_count_cores(d->sessions, s->cores_held);
    pl_sessions_adopt_locked(d->sessions, s);
    if (s->job) {
        remember_run(d, s);
    }
    pl_sessions_unlock(d->sessions);
}

void pl_dispatcher_adopt_job(pl_dispatcher *d, pl_session *s)
{
    pl_sessions_lock(d->sessions);
    if (arrive_as_it_is(d, s)) {
        pl_schedule_adopt(d->batch, s->job, (int32_t)s->cores, -1, 0, false, now_s());
        s->due_ms = 0;
        d->changes++;
    }
    if (s->job && s->state == PL_STATE_RUNNING) {
        remember_run(d, s);
    }
    pl_sessions_unlock(d->sessions);
}
