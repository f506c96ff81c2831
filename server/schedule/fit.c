/* fit.c - what prevents a job from starting: limits of its user and group, and the machine's present state. */
#include "server/schedule/inside.h"

#include <math.h>
#include <string.h>

static bool within(const pl_account *a, const pl_job *job, pl_wait *why)
{
    bool gpu = job->gpu_memory > 0;
    if (a->running + 1 > a->limits.running) {
        *why = (pl_wait){PL_WAIT_USER_RUNNING, (double)a->running, (double)a->limits.running,
                         PL_WAIT_NONE};
    } else if (a->cores + job->cores_least > a->limits.cores) {
        *why = (pl_wait){PL_WAIT_USER_CORES, (double)a->cores, (double)a->limits.cores,
                         PL_WAIT_NONE};
    } else if (gpu && a->gpus + 1 > a->limits.gpus) {
        *why = (pl_wait){PL_WAIT_USER_GPUS, (double)a->gpus, (double)a->limits.gpus, PL_WAIT_NONE};
    } else {
        return true;
    }
    return false;
}

pl_wait pl_schedule_limit(const pl_schedule *s, const pl_job *job)
{
    pl_wait why = {.reason = PL_WAIT_NONE};
    if (within(job->user->person, job, &why) && !within(job->user->group, job, &why)) {
        why.within = why.reason;
        why.reason = PL_WAIT_GROUP;
    }
    return why;
}

static bool may_run(const pl_account *a, const pl_job *job)
{
    return a->running + 1 <= a->limits.running &&
           a->gpus + (job->gpu_memory > 0) <= a->limits.gpus && job->cores_least <= a->limits.cores;
}

bool pl_schedule_may_run(const pl_job *job)
{
    return may_run(job->user, job) && may_run(job->user->group, job);
}

int32_t pl_schedule_free_cores(const pl_schedule *s, const pl_job *job)
{
    int32_t kept = s->setup.interactive_cores - s->interactive_used;
    return s->setup.cores - s->cores_used - (job->interactive || kept < 0 ? 0 : kept);
}

static double free_on(const pl_schedule *s, int32_t device)
{
    const pl_device *d = &s->devices[device];
    double left = d->memory - d->others - d->used - s->device_held[device];
    return d->up && !d->drained && left > 0 ? left : 0;
}

int32_t pl_schedule_pick_device(const pl_schedule *s, const pl_job *job)
{
    int32_t best = -1;
    for (int32_t i = 0; job->gpu_memory > 0 && i < s->device_count; i++) {
        if (free_on(s, i) >= job->gpu_memory && (best < 0 || free_on(s, i) > free_on(s, best))) {
            best = i;
        }
    }
    return best;
}

static double most_free(const pl_schedule *s)
{
    double most = 0;
    for (int32_t i = 0; i < s->device_count; i++) {
        most = fmax(most, free_on(s, i));
    }
    return most;
}

pl_wait pl_schedule_lack(const pl_schedule *s, const pl_job *job)
{
    int32_t cores = pl_schedule_free_cores(s, job);
    double memory = s->setup.memory - s->memory_used;
    if (job->gpu_memory > 0 && s->device_count == 0) {
        return (pl_wait){PL_WAIT_NO_GPU, 0, 0, PL_WAIT_NONE};
    }
    if (job->gpu_memory > 0 && pl_schedule_pick_device(s, job) < 0) {
        return (pl_wait){PL_WAIT_GPU_MEMORY, job->gpu_memory, most_free(s), PL_WAIT_NONE};
    }
    if (job->cores_least > cores) {
        return (pl_wait){PL_WAIT_CORES, job->cores_least, cores > 0 ? cores : 0, PL_WAIT_NONE};
    }
    if (job->memory > memory) {
        return (pl_wait){PL_WAIT_MEMORY, job->memory, memory > 0 ? memory : 0, PL_WAIT_NONE};
    }
    return (pl_wait){.reason = PL_WAIT_NONE};
}

/* ---- room made by stopping others ---- */

bool pl_job_yields_at_once(const pl_job *victim, const pl_job *job)
{
    return victim->preemptible && victim->priority <= job->priority &&
           (victim->user->person == job->user->person || job->priority > 0);
}

bool pl_schedule_gives_way(const pl_schedule *s, const pl_job *job)
{
    for (size_t i = 0; job->preemptible && i < s->claim_count; i++) {
        const pl_claim *c = &s->claims[i];
        bool takes_room = c->cores || (c->job->gpu_memory > 0 && job->gpu_memory > 0);
        if (takes_room && c->job != job && pl_job_yields_at_once(job, c->job)) {
            return true;
        }
    }
    return false;
}

void pl_schedule_drop_claim(pl_schedule *s, const pl_job *job)
{
    for (size_t i = s->claim_count; i-- > 0;) {
        if (s->claims[i].job == job) {
            s->claims[i] = s->claims[--s->claim_count];
        }
    }
}
