#include "tests/scheduler/sim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRIVE, END, CRASH, STOPPED, RESIZED, CANCEL, RELEASE, DEVICE, TICK };
static const double stop_takes = 0.5, device_period = 7200;

void sim_fault(sim *s, const char *format, ...)
{
    va_list arguments;
    char what[200];
    if (!s->result.fault[0]) {
        va_start(arguments, format);
        vsnprintf(what, sizeof what, format, arguments);
        va_end(arguments);
        snprintf(s->result.fault, sizeof s->result.fault, "at %.3f s: %s", s->now, what);
    }
}

/* ---- events ---- */

static bool earlier(const sim_event *a, const sim_event *b)
{
    return a->time != b->time   ? a->time < b->time
           : a->kind != b->kind ? a->kind < b->kind
                                : a->job < b->job;
}

static void post(sim *s, double time, int kind, int64_t job)
{
    if (s->heap_count == s->heap_capacity) {
        s->heap_capacity = 2 * s->heap_capacity + 64;
        s->heap = realloc(s->heap, s->heap_capacity * sizeof *s->heap);
    }
    sim_event event = {time, kind, job, job >= 0 ? s->jobs[job].version : 0};
    size_t at = s->heap_count++;
    while (at > 0 && earlier(&event, &s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = event;
}

static sim_event take(sim *s)
{
    sim_event first = s->heap[0], last = s->heap[--s->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && earlier(&s->heap[child + 1], &s->heap[child])) {
            child++;
        }
        if (!earlier(&s->heap[child], &last)) {
            break;
        }
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = last;
    return first;
}

/* ---- the books ---- */

static void drop(int64_t *list, size_t *count, int64_t job)
{
    for (size_t i = 0; i < *count; i++) {
        if (list[i] == job) {
            memmove(list + i, list + i + 1, (*count - i - 1) * sizeof *list);
            (*count)--;
            return;
        }
    }
}

static void wait_for_turn(sim *s, int64_t index, bool first)
{
    sim_job *j = &s->jobs[index];
    char user[16], group[16];
    snprintf(user, sizeof user, "u%d", j->user);
    snprintf(group, sizeof group, "g%d", s->setup.groups > 1 ? j->user % s->setup.groups : 0);
    j->state = SIM_WAITING;
    s->waiting[s->waiting_count++] = index;
    if (s->setup.policy != SIM_FAIR) {
        return;
    }
    uint64_t after = (uint64_t)j->after + 1;
    bool depends = j->after >= 0 && s->jobs[j->after].state < SIM_ENDED;
    double left = (j->work - j->done) / j->work;
    j->job = pl_schedule_arrive(s->schedule,
                                &(pl_job_wish){.key = (uint64_t)index + 1,
                                               .user = user,
                                               .group = group,
                                               .priority = j->priority,
                                               .cores_least = j->cores_least,
                                               .cores_most = j->cores_most,
                                               .memory = j->memory,
                                               .gpu_memory = j->gpu_memory,
                                               .length = j->estimate * left,
                                               .preemptible = j->preemptible,
                                               .interactive = j->interactive,
                                               .after = &after,
                                               .after_count = depends,
                                               .tag = j},
                                s->now, first);
}

static void leave(sim *s, sim_job *j)
{
    if (j->job) {
        pl_schedule_end(s->schedule, j->job, s->now);
        j->job = NULL;
    }
    j->version++;
    j->told = 0;
    j->stopping = j->rigid = false;
}

/* Work done so far. */
static void settle(sim *s, sim_job *j)
{
    double spent = j->cores * (s->now - j->since);
    j->done += spent;
    j->spent += spent;
    j->since = s->now;
    s->result.used[j->user] += spent;
}

static void stop_running(sim *s, sim_job *j)
{
    settle(s, j);
    s->cores_used -= j->cores;
    s->memory_used -= j->memory;
    if (j->device >= 0) {
        s->device_used[j->device] -= j->gpu_memory;
    }
    drop(s->running, &s->running_count, j - s->jobs);
    leave(s, j);
}

static void end_for_good(sim *s, sim_job *j, sim_state state)
{
    j->state = state;
    j->ended = s->now;
    if (s->schedule) {
        pl_schedule_satisfy(s->schedule, (uint64_t)(j - s->jobs) + 1, s->now);
    }
}

static void post_end(sim *s, const sim_job *j)
{
    double left = j->work - j->done;
    bool crashes = j->crash_at > j->done && j->crashes == 0;
    post(s, s->now + (crashes ? j->crash_at - j->done : left) / j->cores, crashes ? CRASH : END,
         j - s->jobs);
}

static void start(sim *s, sim_job *j, int32_t cores, int32_t device)
{
    int64_t index = j - s->jobs;
    drop(s->waiting, &s->waiting_count, index);
    s->running[s->running_count++] = index;
    j->state = SIM_RUNNING;
    j->cores = cores;
    j->device = device;
    j->since = j->started = s->now;
    j->first_start = j->first_start < 0 ? s->now : j->first_start;
    s->cores_used += cores;
    s->memory_used += j->memory;
    if (device >= 0) {
        s->device_used[device] += j->gpu_memory;
    }
    post_end(s, j);
    s->longest = fmax(s->longest, j->work / j->cores_least);
    s->longest_believed = fmax(s->longest_believed, j->estimate);
    s->result.starts++;
}

/* ---- other cores while it runs ---- */

static void have_cores(sim *s, sim_job *j, int32_t cores)
{
    settle(s, j);
    s->cores_used += cores - j->cores;
    j->cores = cores;
    j->version++;
    post_end(s, j);
}

/* Additional cores are available at once for all other jobs; fewer only after a frame has ended. Of jobs with work
 * left, every ninth cannot be told. */
static void resize(sim *s, sim_job *j, int32_t cores)
{
    sim_check_resize(s, j, cores);
    if ((j - s->jobs) % 9 == 0 && !j->rigid) {
        j->rigid = true;
        pl_schedule_fix(s->schedule, j->job, j->cores, s->now);
        return;
    }
    if (cores > j->cores) {
        s->result.grown++;
        have_cores(s, j, cores);
    } else {
        s->result.shrunk++;
        j->told = cores;
        post(s, s->now + j->answers, RESIZED, j - s->jobs);
    }
}

static void resized(sim *s, sim_job *j)
{
    int32_t cores = j->told;
    if (cores == 0) {
        return; /* it was told twice, and has answered */
    }
    j->told = 0;
    have_cores(s, j, cores);
    pl_schedule_resized(s->schedule, j->job, cores, s->now);
}

/* ---- decisions ---- */

static void carry_out(sim *s, const pl_action *action)
{
    sim_job *j = action->job->tag;
    if (action->kind == PL_ACTION_START) {
        if (action->job->cores < j->cores_least || action->job->cores > j->cores_most) {
            sim_fault(s, "job %td has %d cores, not %d to %d", j - s->jobs, action->job->cores,
                      j->cores_least, j->cores_most);
        }
        sim_check_start(s, j);
        start(s, j, action->job->cores, action->job->device);
    } else if (action->kind == PL_ACTION_RESIZE) {
        resize(s, j, action->job->wanted);
    } else {
        sim_check_preempt(s, j);
        j->stopping = true;
        j->preemptions++;
        s->result.preemptions++;
        post(s, s->now + stop_takes, STOPPED, j - s->jobs);
    }
}

static void decide(sim *s)
{
    pl_action actions[8];
    int n = 0;
    if (s->setup.policy != SIM_FAIR) {
        for (int64_t next; (next = sim_baseline_next(s)) >= 0;) {
            start(s, &s->jobs[next], s->jobs[next].cores_least, -1);
        }
        return;
    }
    do {
        n = pl_schedule_decide(s->schedule, s->now, actions, 1);
        for (int i = 0; i < n; i++) {
            carry_out(s, &actions[i]);
        }
    } while (n > 0 && !s->result.fault[0]);
}

/* ---- what happens ---- */

static void promise(sim *s, sim_job *j)
{
    if (s->setup.promises && j->job && j->job->state == PL_JOB_WAITING) {
        pl_schedule_forecast(s->schedule, s->now);
        j->promised = isinf(j->job->start) ? -1 : j->job->start;
    }
}

static void arrive(sim *s, int64_t index)
{
    sim_job *j = &s->jobs[index];
    wait_for_turn(s, index, false);
    if (j->held_until > 0 && j->job) {
        pl_schedule_hold(s->schedule, j->job, true, s->now);
        post(s, s->now + j->held_until, RELEASE, index);
    }
    if (j->cancelled_at > 0) {
        post(s, s->now + j->cancelled_at, CANCEL, index);
    }
    promise(s, j);
}

static void cancel(sim *s, sim_job *j)
{
    if (j->state == SIM_RUNNING) {
        stop_running(s, j);
    } else if (j->state == SIM_WAITING) {
        drop(s->waiting, &s->waiting_count, j - s->jobs);
        leave(s, j);
    } else {
        return;
    }
    end_for_good(s, j, SIM_CANCELLED);
}

/* One device after the other goes down for a while; its jobs crash. */
static void turn_device(sim *s, int32_t device)
{
    bool up = s->device_up[device] = !s->device_up[device];
    pl_schedule_set_device(s->schedule, device,
                           &(pl_device){.memory = s->setup.device_memory, .up = up});
    for (size_t i = s->running_count; i-- > 0 && !up;) {
        int64_t index = s->running[i];
        if (s->jobs[index].device == device) {
            stop_running(s, &s->jobs[index]);
            wait_for_turn(s, index, true);
        }
    }
    post(s, s->now + (up ? device_period : 600), DEVICE,
         -1 - (device + (up ? 1 : 0)) % SIM_DEVICES);
}

static void happen(sim *s, const sim_event *event)
{
    sim_job *j = event->job >= 0 ? &s->jobs[event->job] : NULL;
    bool stale = j && event->kind != CANCEL && event->kind != RELEASE &&
                 event->version != j->version;
    if (stale) {
        return;
    }
    switch (event->kind) {
    case ARRIVE:
        arrive(s, event->job);
        break;
    case END:
        stop_running(s, j);
        end_for_good(s, j, SIM_ENDED);
        break;
    case CRASH: /* the work since the last checkpoint, a tenth, is repeated */
        stop_running(s, j);
        j->crashes++;
        j->done *= 0.9;
        wait_for_turn(s, event->job, false);
        if (j->job) {
            pl_schedule_delay(s->schedule, j->job, s->now + 10, s->now);
        }
        break;
    case RESIZED:
        resized(s, j);
        break;
    case STOPPED:
        stop_running(s, j);
        wait_for_turn(s, event->job, true);
        break;
    case CANCEL:
        cancel(s, j);
        break;
    case RELEASE:
        if (j->job && j->state == SIM_WAITING) {
            pl_schedule_hold(s->schedule, j->job, false, s->now);
        }
        break;
    case DEVICE:
        if (-1 - event->job < s->setup.devices) {
            turn_device(s, (int32_t)(-1 - event->job));
        }
        break;
    default:
        break;
    }
}

static void tick(sim *s)
{
    double due = s->schedule ? pl_schedule_next_due(s->schedule, s->now) : INFINITY;
    if (!isinf(due) && due > s->now) {
        post(s, due, TICK, -1);
    }
}

static void begin(sim *s)
{
    const sim_setup *x = &s->setup;
    s->waiting = calloc(s->count + 1, sizeof *s->waiting);
    s->running = calloc(s->count + 1, sizeof *s->running);
    for (size_t i = 0; i < s->count; i++) {
        s->jobs[i].first_start = s->jobs[i].promised = s->jobs[i].ended = -1;
        s->jobs[i].device = -1;
        post(s, s->jobs[i].arrives, ARRIVE, (int64_t)i);
    }
    if (x->policy != SIM_FAIR) {
        return;
    }
    s->schedule = pl_schedule_create(&(pl_schedule_setup){.cores = x->cores,
                                                          .memory = x->memory,
                                                          .interactive_cores = x->interactive_cores,
                                                          .half_life = x->half_life,
                                                          .patience = x->patience});
    pl_account_limits none = {INT64_MAX, INT64_MAX, INT64_MAX};
    for (int32_t i = 0; i < x->users; i++) {
        char user[16];
        snprintf(user, sizeof user, "u%d", i);
        pl_schedule_set_user(s->schedule, user, x->share[i], x->limits.cores ? x->limits : none);
    }
    for (int32_t i = 0; i < x->devices; i++) {
        s->device_up[i] = true;
        pl_schedule_set_device(s->schedule, i,
                               &(pl_device){.memory = x->device_memory, .up = true});
    }
    if (x->device_faults) {
        post(s, device_period, DEVICE, -1);
    }
}

static void finish(sim *s)
{
    double used = 0;
    for (size_t i = s->running_count; i-- > 0;) { /* of a run that was cut off */
        stop_running(s, &s->jobs[s->running[i]]);
    }
    for (int32_t i = 0; i < SIM_USERS; i++) {
        used += s->result.used[i];
    }
    s->result.end = s->now;
    s->result.utilisation = s->now > 0 ? used / (s->now * s->setup.cores) : 0;
    pl_schedule_destroy(s->schedule);
    free(s->waiting);
    free(s->running);
    free(s->heap);
}

static bool goes_on(const sim *s, size_t left)
{
    return s->heap_count && !s->result.fault[0] && left > 0 &&
           (s->setup.until <= 0 || s->heap[0].time < s->setup.until);
}

sim_result sim_run(const sim_setup *setup, sim_job *jobs, size_t count)
{
    sim s = {.setup = *setup, .jobs = jobs, .count = count};
    size_t left = count;
    begin(&s);
    while (goes_on(&s, left)) {
        sim_event event = take(&s);
        sim_state before = event.job >= 0 ? jobs[event.job].state : SIM_ENDED;
        if (setup->until > 0 || event.kind != DEVICE || left > 0) {
            s.now = event.time;
        }
        happen(&s, &event);
        left -= event.job >= 0 && before < SIM_ENDED && jobs[event.job].state >= SIM_ENDED;
        decide(&s);
        sim_check_all(&s);
        tick(&s);
        s.result.events++;
    }
    if (left > 0 && setup->until <= 0) {
        sim_fault(&s, "%zu jobs were never run", left);
    }
    if (setup->until > 0 && s.now < setup->until) {
        s.now = setup->until;
    }
    finish(&s);
    return s.result;
}
