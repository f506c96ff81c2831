/* checks.c - what must hold after every event, by the simulator's own books. */
#include "tests/scheduler/sim.h"

#include <math.h>

/* ---- at a start ---- */

static bool has_turn(const sim_job *j)
{
    return j->state == SIM_WAITING && j->job && j->job->state == PL_JOB_WAITING;
}

/* Whether whatever lets b start would let a start. */
static bool asks_no_more(const sim_job *a, const sim_job *b)
{
    return a->cores_least <= b->cores_least && a->memory <= b->memory &&
           a->gpu_memory <= b->gpu_memory && a->estimate > 0 && b->estimate > 0 &&
           a->job->length <= b->job->length && a->interactive >= b->interactive;
}

static bool goes_before(const sim_job *a, const sim_job *b)
{
    return a->user == b->user ? a->priority > b->priority
                              : a->priority > 0 && a->priority > b->priority;
}

/* It would be stopped at once for a job that others were stopped for. */
static bool gives_way(const sim *s, const sim_job *j)
{
    for (size_t i = 0; j->preemptible && i < s->waiting_count; i++) {
        const sim_job *k = &s->jobs[s->waiting[i]];
        if (k != j && has_turn(k) && k->job->blocked >= 0 && k->priority >= j->priority &&
            (k->user == j->user || k->priority > 0)) {
            return true;
        }
    }
    return false;
}

void sim_check_start(sim *s, const sim_job *started)
{
    for (size_t i = 0; i < s->waiting_count; i++) {
        const sim_job *j = &s->jobs[s->waiting[i]];
        if (j != started && has_turn(j) && goes_before(j, started) && asks_no_more(j, started) &&
            !gives_way(s, j) && s->setup.limits.cores == 0 && started->job->overtaken < 0 &&
            started->job->blocked < 0) {
            sim_fault(s, "job %td of priority %lld was passed over for job %td of priority %lld",
                      j - s->jobs, (long long)j->priority, started - s->jobs,
                      (long long)started->priority);
        }
    }
    if (s->now < started->arrives + started->held_until) {
        sim_fault(s, "job %td was started while it was held", started - s->jobs);
    }
    if (started->after >= 0 && s->jobs[started->after].state < SIM_ENDED) {
        sim_fault(s, "job %td did not wait for job %lld", started - s->jobs,
                  (long long)started->after);
    }
}

/* Within its range; before it has answered only fewer still. */
void sim_check_resize(sim *s, const sim_job *j, int32_t cores)
{
    if (j->state != SIM_RUNNING || j->stopping || j->rigid || cores == j->cores ||
        (j->told && cores >= j->told)) {
        sim_fault(s, "job %td is told to have %d cores, and may not be", j - s->jobs, cores);
    }
    if (cores < j->cores_least || cores > j->cores_most) {
        sim_fault(s, "job %td is told to have %d cores, not %d to %d", j - s->jobs, cores,
                  j->cores_least, j->cores_most);
    }
}

/* ---- after each event ---- */

static void check_commitments(sim *s)
{
    int32_t cores = 0;
    double memory = 0, devices[SIM_DEVICES] = {0};
    for (size_t i = 0; i < s->running_count; i++) {
        const sim_job *j = &s->jobs[s->running[i]];
        cores += j->cores;
        memory += j->memory;
        if (j->gpu_memory > 0 && j->device < 0 && s->setup.policy == SIM_FAIR) {
            sim_fault(s, "job %td wants a device and has none", j - s->jobs);
        }
        if (j->device >= 0) {
            devices[j->device] += j->gpu_memory;
        }
    }
    if (cores > s->setup.cores || memory > s->setup.memory) {
        sim_fault(s, "over-committed: %d of %d cores, %g of %g bytes", cores, s->setup.cores,
                  memory, s->setup.memory);
    }
    for (int32_t i = 0; i < s->setup.devices; i++) {
        if (devices[i] > s->setup.device_memory || (devices[i] > 0 && !s->device_up[i])) {
            sim_fault(s, "device %d: %g of %g bytes, %s", i, devices[i], s->setup.device_memory,
                      s->device_up[i] ? "up" : "down");
        }
    }
}

static void check_limits(sim *s)
{
    int64_t cores[SIM_USERS] = {0}, running[SIM_USERS] = {0};
    for (size_t i = 0; i < s->running_count; i++) {
        const sim_job *j = &s->jobs[s->running[i]];
        cores[j->user] += j->cores;
        if (++running[j->user] > s->setup.limits.running ||
            cores[j->user] > s->setup.limits.cores) {
            sim_fault(s, "user %d has %lld jobs and %lld cores, more than they may", j->user,
                      (long long)running[j->user], (long long)cores[j->user]);
        }
    }
}

/* Cores that it has beyond its least, and would give back if it were asked. */
static int32_t excess(const sim *s, const sim_job *j)
{
    int32_t wanted = j->told ? j->told : j->cores;
    return s->setup.policy == SIM_FAIR && !j->stopping && !j->rigid ? wanted - j->cores_least : 0;
}

static bool any_told(const sim *s)
{
    bool told = false;
    for (size_t i = 0; i < s->running_count; i++) {
        const sim_job *r = &s->jobs[s->running[i]];
        told = told || r->told || r->stopping;
    }
    return told;
}

static bool fits_device(const sim *s, const sim_job *j)
{
    for (int32_t i = 0; i < s->setup.devices; i++) {
        if (s->device_up[i] && s->device_used[i] + j->gpu_memory <= s->setup.device_memory) {
            return true;
        }
    }
    return j->gpu_memory <= 0;
}

static bool within_limits(const sim *s, const sim_job *j)
{
    int64_t cores = 0, running = 0;
    for (size_t i = 0; s->setup.limits.cores && i < s->running_count; i++) {
        const sim_job *r = &s->jobs[s->running[i]];
        cores += r->user == j->user ? r->cores - excess(s, r) : 0;
        running += r->user == j->user;
    }
    return s->setup.limits.cores == 0 ||
           (cores + j->cores_least <= s->setup.limits.cores && running < s->setup.limits.running);
}

/* With idle cores and, with `asks`, cores that the others would give back. */
static bool fits(const sim *s, const sim_job *j, bool asks)
{
    int32_t kept = s->setup.interactive_cores, back = 0;
    for (size_t i = 0; i < s->running_count; i++) {
        const sim_job *r = &s->jobs[s->running[i]];
        kept -= r->interactive ? r->cores : 0;
        bool counts = j->interactive || !r->interactive || !s->setup.interactive_cores;
        back += asks && counts ? excess(s, r) : 0;
    }
    kept = j->interactive || kept < 0 ? 0 : kept;
    return s->cores_used - back + kept + j->cores_least <= s->setup.cores &&
           s->memory_used + j->memory <= s->setup.memory && fits_device(s, j) &&
           within_limits(s, j);
}

/* For a job that does not fit into idle resources (of devices, without those reserved for others), and not for one that
 * started while that job was already waiting for room. */
void sim_check_preempt(sim *s, const sim_job *victim)
{
    if (victim->state != SIM_RUNNING || !victim->preemptible || victim->stopping) {
        sim_fault(s, "job %td was preempted, and may not be", victim - s->jobs);
    }
    for (size_t i = 0; i < s->waiting_count; i++) {
        const sim_job *j = &s->jobs[s->waiting[i]];
        double blocked = has_turn(j) ? j->job->blocked : -1;
        bool lacks = blocked >= 0 && (j->gpu_memory > 0 || !fits(s, j, false));
        bool in_vain = blocked < victim->started && s->now - victim->started < 30;
        if (lacks && (!in_vain || s->setup.limits.cores)) {
            s->result.gpu_preemptions += victim->device >= 0 && !fits_device(s, j);
            return;
        }
    }
    sim_fault(s, "job %td was preempted for none that needs room, or was started for it",
              victim - s->jobs);
}

static int64_t cores_of(const sim *s, int32_t user)
{
    int64_t cores = 0;
    for (size_t i = 0; i < s->running_count; i++) {
        const sim_job *r = &s->jobs[s->running[i]];
        cores += r->user == user ? r->cores : 0;
    }
    return cores;
}

static bool may_grow(const sim *s, const sim_job *j)
{
    return !j->stopping && !j->rigid && !j->told && j->cores < j->cores_most &&
           (s->setup.limits.cores == 0 || cores_of(s, j->user) < s->setup.limits.cores);
}

/* If nothing waits, no core is idle beside a job that may have it, and no job has two more than one that may take
 * more. */
static void check_growth(sim *s)
{
    int32_t kept = s->setup.interactive_cores;
    const sim_job *poor = NULL, *rich = NULL;
    for (size_t i = 0; i < s->running_count; i++) {
        const sim_job *r = &s->jobs[s->running[i]];
        kept -= r->interactive ? r->cores : 0;
        poor = may_grow(s, r) && (!poor || r->cores < poor->cores) ? r : poor;
        bool gives = excess(s, r) > 0 && !(r->interactive && s->setup.interactive_cores);
        rich = gives && (!rich || r->cores > rich->cores) ? r : rich;
    }
    if (poor && s->cores_used + (kept > 0 ? kept : 0) < s->setup.cores) {
        sim_fault(s, "job %td has %d of %d cores beside idle ones", poor - s->jobs, poor->cores,
                  poor->cores_most);
    }
    if (poor && rich && !any_told(s) && rich->cores - poor->cores > 1) {
        sim_fault(s, "job %td has %d cores and job %td only %d", rich - s->jobs, rich->cores,
                  poor - s->jobs, poor->cores);
    }
}

/* Cores are idle beside jobs that fit only for a job that has waited for `patience` since it was overtaken, or until
 * jobs that were told to have given back their excess. */
static void check_work(sim *s)
{
    const sim_job *idle = NULL;
    bool waits = false;
    for (size_t i = 0; i < s->waiting_count; i++) {
        const sim_job *j = &s->jobs[s->waiting[i]];
        if (!has_turn(j)) {
            continue;
        }
        waits = true;
        double overtaken = j->job->overtaken;
        if (j->job->blocked >= 0 || (overtaken >= 0 && s->now - overtaken >= s->setup.patience)) {
            return;
        }
        idle = idle || !fits(s, j, true) ? idle : j;
    }
    if (idle && !any_told(s)) {
        sim_fault(s, "job %td waits beside what it needs", idle - s->jobs);
    } else if (!waits) {
        check_growth(s);
    }
}

/* The bound stated in schedule.h, with as many longest jobs as may have an earlier reservation. A job waits for its own
 * user's jobs of higher priority, however long: its time counts only while none of those wait or run. */
static void check_starvation(sim *s)
{
    int64_t highest[SIM_USERS];
    for (int i = 0; i < SIM_USERS; i++) {
        highest[i] = INT64_MIN;
    }
    for (size_t i = 0; i < s->waiting_count; i++) {
        const sim_job *j = &s->jobs[s->waiting[i]];
        if (has_turn(j) && j->priority > highest[j->user]) {
            highest[j->user] = j->priority;
        }
    }
    double most = 2 * s->setup.patience + s->longest_believed + 3 * s->longest;
    for (size_t i = 0; i < s->waiting_count; i++) {
        sim_job *j = &s->jobs[s->waiting[i]];
        if (!has_turn(j) || j->job->overtaken < 0 || j->gpu_memory > 0) {
            continue;
        }
        if (j->priority < highest[j->user]) {
            j->behind_own = s->now;
        }
        double waited = s->now - fmax(j->job->overtaken, j->behind_own);
        s->result.longest_overtaken = fmax(s->result.longest_overtaken, waited);
        if (waited > most && s->setup.limits.cores == 0) {
            sim_fault(s, "job %td of %d cores has been overtaken for %.0f s, more than %.0f",
                      j - s->jobs, j->cores_least, waited, most);
        }
    }
}

static void check_progress(sim *s)
{
    for (size_t i = 0; i < s->running_count; i++) {
        const sim_job *j = &s->jobs[s->running[i]];
        if (j->crashes == 0 && fabs(j->done - j->spent) > 1e-6 * j->work) {
            sim_fault(s, "job %td has lost work", j - s->jobs);
        }
    }
}

void sim_check_all(sim *s)
{
    check_commitments(s);
    if (s->setup.limits.cores) {
        check_limits(s);
    }
    if (s->setup.policy == SIM_FAIR && (s->waiting_count < 64 || s->result.events % 16 == 0)) {
        check_work(s);
        check_starvation(s);
        check_progress(s);
    }
}
