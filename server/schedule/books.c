/* books.c - the books: waiting and running jobs, and changes to them. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

bool pl_job_list_reserve(pl_job_list *list, size_t more)
{
    if (list->count + more <= list->capacity) {
        return true;
    }
    size_t capacity = 2 * (list->count + more) + 16;
    pl_job **grown = realloc(list->jobs, capacity * sizeof *grown);
    if (grown) {
        list->jobs = grown;
        list->capacity = capacity;
    }
    return grown;
}

void pl_job_list_append(pl_job_list *list, pl_job *job)
{
    job->at = list->count;
    list->jobs[list->count++] = job;
}

void pl_job_list_drop(pl_job_list *list, pl_job *job)
{
    pl_job *last = list->jobs[--list->count];
    list->jobs[job->at] = last;
    last->at = job->at;
}

/* Room in the user's queue for all of the user's jobs, and `more`. */
static bool reserve_waiting(pl_account *user, size_t more)
{
    pl_waiting_list *list = &user->waiting;
    if (user->jobs + more <= list->capacity) {
        return true;
    }
    size_t capacity = 2 * (user->jobs + more) + 4;
    pl_waiting *grown = realloc(list->jobs, capacity * sizeof *grown);
    if (grown) {
        list->jobs = grown;
        list->capacity = capacity;
    }
    return grown;
}

static bool before(const pl_job *a, const pl_job *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->order < b->order;
}

/* The index of a job in its user's queue, present or future. */
static size_t place(const pl_waiting_list *list, const pl_job *job)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (before(list->jobs[middle].job, job)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void pl_schedule_enqueue(pl_schedule *s, pl_job *job)
{
    pl_waiting_list *list = &job->user->waiting;
    size_t at = place(list, job);
    memmove(list->jobs + at + 1, list->jobs + at, (list->count - at) * sizeof *list->jobs);
    list->jobs[at] = (pl_waiting){.job = job,
                                  .memory = job->memory,
                                  .gpu_memory = job->gpu_memory,
                                  .length = job->length,
                                  .cores_least = job->cores_least,
                                  .interactive = job->interactive,
                                  .marked = job->overtaken >= 0 || job->blocked >= 0};
    list->count++;
    job->state = PL_JOB_WAITING;
    s->waiting++;
    s->express += job->priority > 0;
}

void pl_schedule_dequeue(pl_schedule *s, pl_job *job)
{
    pl_waiting_list *list = &job->user->waiting;
    size_t at = place(list, job);
    memmove(list->jobs + at, list->jobs + at + 1, (list->count - at - 1) * sizeof *list->jobs);
    list->count--;
    s->waiting--;
    s->express -= job->priority > 0;
    pl_schedule_drop_claim(s, job);
}

void pl_schedule_mark(pl_job *job)
{
    pl_waiting_list *list = &job->user->waiting;
    list->jobs[place(list, job)].marked = true;
}

/* ---- up and down ---- */

pl_schedule *pl_schedule_create(const pl_schedule_setup *setup)
{
    pl_schedule *s = calloc(1, sizeof *s);
    if (s) {
        s->setup = *setup;
        s->setup.half_life = setup->half_life > 0 ? setup->half_life : 86400;
        s->setup.patience = setup->patience > 0 ? setup->patience : 60;
        s->mean_length = 60;
    }
    return s;
}

static void free_job(pl_job *job)
{
    free(job->after);
    free(job);
}

static void free_jobs(const pl_job_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free_job(list->jobs[i]);
    }
}

void pl_schedule_destroy(pl_schedule *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->users.count; i++) {
        const pl_waiting_list *list = &s->users.list[i]->waiting;
        for (size_t k = 0; k < list->count; k++) {
            free_job(list->jobs[k].job);
        }
    }
    free_jobs(&s->aside);
    free_jobs(&s->running);
    free(s->aside.jobs);
    free(s->running.jobs);
    free(s->order.jobs);
    free(s->ranks);
    free(s->ranked);
    pl_profile_clear(&s->profile);
    pl_accounts_clear(&s->users);
    pl_accounts_clear(&s->persons);
    pl_accounts_clear(&s->groups);
    free(s);
}

/* ---- waiting jobs ---- */

static bool has_turn(const pl_job *job, double now)
{
    return !job->held && job->after_count == 0 && job->due <= now;
}

/* Move the job to the list of its present state. Both lists have room, reserved when it arrived. */
static void settle(pl_schedule *s, pl_job *job, double now)
{
    bool turn = has_turn(job, now);
    if (job->state == PL_JOB_WAITING && !turn) {
        pl_schedule_dequeue(s, job);
        job->state = PL_JOB_ASIDE;
        job->overtaken = job->promised = job->blocked = -1;
        job->position = 0;
        pl_job_list_append(&s->aside, job);
    } else if (job->state == PL_JOB_ASIDE && turn) {
        pl_job_list_drop(&s->aside, job);
        pl_schedule_enqueue(s, job);
    }
}

static pl_job *make_job(const pl_job_wish *w, pl_account *user)
{
    pl_job *job = calloc(1, sizeof *job);
    uint64_t *after = w->after_count ? malloc(w->after_count * sizeof *after) : NULL;
    if (!job || (w->after_count && !after)) {
        free(after);
        free(job);
        return NULL;
    }
    if (after) {
        memcpy(after, w->after, w->after_count * sizeof *after);
    }
    *job = (pl_job){.state = PL_JOB_ASIDE,
                    .key = w->key,
                    .user = user,
                    .priority = w->priority,
                    .cores_least = w->cores_least > 0 ? w->cores_least : 1,
                    .memory = w->memory,
                    .gpu_memory = w->gpu_memory,
                    .length = w->length,
                    .preemptible = w->preemptible,
                    .interactive = w->interactive,
                    .shares = w->shares,
                    .after = after,
                    .after_count = w->after_count,
                    .device = -1,
                    .overtaken = -1,
                    .promised = -1,
                    .blocked = -1,
                    .start = INFINITY,
                    .tag = w->tag};
    job->cores_most = w->cores_most > job->cores_least ? w->cores_most : job->cores_least;
    return job;
}

pl_job *pl_schedule_arrive(pl_schedule *s, const pl_job_wish *w, double now, bool first)
{
    pl_account *user = pl_schedule_seat(s, w->user, w->group ? w->group : "");
    size_t all = s->waiting + s->aside.count + s->running.count + 1;
    bool room = user && reserve_waiting(user, 1) &&
                pl_job_list_reserve(&s->aside, all - s->aside.count) &&
                pl_job_list_reserve(&s->running, all - s->running.count) &&
                pl_job_list_reserve(&s->order, all);
    pl_job *job = room ? make_job(w, user) : NULL;
    if (job) {
        user->jobs++;
        job->order = first ? --s->oldest : ++s->newest;
        job->arrived = now;
        pl_job_list_append(&s->aside, job);
        settle(s, job, now);
    }
    return job;
}

void pl_schedule_hold(pl_schedule *s, pl_job *job, bool held, double now)
{
    job->held = held;
    settle(s, job, now);
}

void pl_schedule_delay(pl_schedule *s, pl_job *job, double due, double now)
{
    job->due = due;
    settle(s, job, now);
}

void pl_schedule_prioritise(pl_schedule *s, pl_job *job, int64_t priority, double now)
{
    bool waits = job->state == PL_JOB_WAITING;
    if (waits) {
        pl_schedule_dequeue(s, job);
    }
    job->priority = priority;
    job->order = ++s->newest;
    if (waits) {
        pl_schedule_enqueue(s, job);
    }
}

bool pl_schedule_regroup(pl_schedule *s, pl_job *job, const char *group)
{
    pl_account *user = pl_schedule_seat(s, job->user->name, group ? group : "");
    if (job->state == PL_JOB_RUNNING || user == job->user) {
        return true;
    }
    if (!user || !reserve_waiting(user, 1)) {
        return false;
    }
    bool waits = job->state == PL_JOB_WAITING;
    if (waits) {
        pl_schedule_dequeue(s, job);
    }
    job->user->jobs--;
    user->jobs++;
    job->user = user;
    if (waits) {
        pl_schedule_enqueue(s, job);
    }
    return true;
}

const char *pl_job_group(const pl_job *job)
{
    return job->user->group->name;
}

void pl_schedule_satisfy(pl_schedule *s, uint64_t key, double now)
{
    for (size_t i = s->aside.count; i-- > 0;) {
        pl_job *job = s->aside.jobs[i];
        size_t kept = 0;
        for (size_t k = 0; k < job->after_count; k++) {
            if (job->after[k] != key) {
                job->after[kept++] = job->after[k];
            }
        }
        job->after_count = kept;
        settle(s, job, now);
    }
}

/* ---- running jobs ---- */

void pl_schedule_begin(pl_schedule *s, pl_job *job, int32_t cores, int32_t device, bool beside,
                       double gpu_charge, double now)
{
    if (job->state == PL_JOB_WAITING) {
        pl_schedule_dequeue(s, job);
    } else {
        pl_job_list_drop(&s->aside, job);
    }
    job->state = PL_JOB_RUNNING;
    job->cores = job->wanted = cores;
    job->device = device;
    job->beside = beside;
    job->gpu_charge = device >= 0 ? gpu_charge : 0;
    job->started = now;
    job->position = 0;
    pl_job_list_append(&s->running, job);
    s->cores_used += cores;
    s->interactive_used += job->interactive ? cores : 0;
    s->memory_used += job->memory;
    s->preemptible += job->preemptible;
    if (device >= 0) {
        s->devices[device].used += job->gpu_charge;
    }
    pl_account_change(s, job->user, 1, cores, device >= 0, now);
}

void pl_schedule_adopt(pl_schedule *s, pl_job *job, int32_t cores, int32_t device,
                       double gpu_memory, bool beside, double now)
{
    pl_schedule_begin(s, job, beside ? 0 : cores, device, beside, gpu_memory, now);
}

void pl_schedule_keep(pl_schedule *s, pl_job *job)
{
    s->preemptible -= job->state == PL_JOB_RUNNING && job->preemptible;
    job->preemptible = job->preempting = false;
}

void pl_schedule_give(pl_schedule *s, pl_job *job, int32_t cores, double now)
{
    int32_t more = cores - job->cores;
    s->cores_used += more;
    s->interactive_used += job->interactive ? more : 0;
    pl_account_change(s, job->user, 0, more, 0, now);
    job->cores = job->wanted = cores;
}

void pl_schedule_resized(pl_schedule *s, pl_job *job, int32_t cores, double now)
{
    if (job->state == PL_JOB_RUNNING && cores <= job->cores) {
        pl_schedule_give(s, job, cores, now);
    }
}

void pl_schedule_fix(pl_schedule *s, pl_job *job, int32_t cores, double now)
{
    pl_schedule_resized(s, job, cores, now);
    job->rigid = true;
}

/* Moves by a tenth towards each new value: roughly the last ten count. */
static void learn(pl_schedule *s, const pl_job *job, double now)
{
    double took = now - job->started;
    s->mean_length += 0.1 * (fmax(took, 0.01) - s->mean_length);
}

static void finish(pl_schedule *s, pl_job *job, double now)
{
    pl_job_list_drop(&s->running, job);
    learn(s, job, now);
    s->cores_used -= job->cores;
    s->interactive_used -= job->interactive ? job->cores : 0;
    s->memory_used -= job->memory;
    s->preemptible -= job->preemptible;
    if (job->device >= 0) {
        s->devices[job->device].used -= job->gpu_charge;
    }
    if (s->running.count == 0) {
        s->memory_used = 0; /* removes accumulated rounding errors */
    }
    pl_account_change(s, job->user, -1, -job->cores, -(job->device >= 0), now);
}

void pl_schedule_end(pl_schedule *s, pl_job *job, double now)
{
    if (job->state == PL_JOB_RUNNING) {
        finish(s, job, now);
    } else if (job->state == PL_JOB_WAITING) {
        pl_schedule_dequeue(s, job);
    } else {
        pl_job_list_drop(&s->aside, job);
    }
    job->user->jobs--;
    s->order.count = 0; /* it may contain the job */
    free_job(job);
}

int32_t pl_schedule_transfer(pl_schedule *s, pl_job *job, double gpu_memory, double now)
{
    int32_t cores = job->cores;
    job->cores = job->wanted = 0;
    job->gpu_charge -= gpu_memory;
    return cores;
}

void pl_schedule_give_back(pl_schedule *s, const char *user, const char *group, int32_t cores,
                           int32_t device, double gpu_memory, double now)
{
    pl_account *account = pl_schedule_seat(s, user, group ? group : "");
    s->cores_used -= cores;
    if (device >= 0) {
        s->devices[device].used -= gpu_memory;
    }
    if (account) {
        pl_account_change(s, account, 0, -cores, 0, now);
    }
}

/* ---- the machine ---- */

void pl_schedule_drain(pl_schedule *s, bool draining)
{
    s->draining = draining;
}

void pl_schedule_set_device(pl_schedule *s, int32_t device, const pl_device *now)
{
    double used = s->devices[device].used;
    s->devices[device] = *now;
    s->devices[device].used = used;
    s->device_count = device >= s->device_count ? device + 1 : s->device_count;
}

void pl_schedule_set_cores(pl_schedule *s, int32_t cores)
{
    s->setup.cores = cores;
}

/* ---- reading ---- */

pl_schedule_load pl_schedule_get_load(const pl_schedule *s)
{
    return (pl_schedule_load){s->setup.cores,   s->cores_used, s->setup.memory,
                              s->memory_used,   s->waiting,    s->aside.count,
                              s->running.count, s->draining,   s->read};
}

pl_job *const *pl_schedule_running(const pl_schedule *s, size_t *count)
{
    *count = s->running.count;
    return s->running.jobs;
}

pl_device pl_schedule_device(const pl_schedule *s, int32_t device)
{
    return s->devices[device];
}

double pl_schedule_mean_length(const pl_schedule *s)
{
    return s->mean_length;
}
