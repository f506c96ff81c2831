#include "server/run/session_job.h"

#include "server/base/clock.h"
#include "server/run/gpus.h"
#include "server/sessions/sessions_locked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_ended(const pl_session *s)
{
    return pl_state_terminal((pl_session_state)atomic_load(&s->state));
}

/* Keys of the unfinished sessions in its `after`. A session's key is the time of its creation. */
static size_t read_after(pl_sessions *sessions, const pl_session *s, uint64_t keys[PL_AFTER_MAX])
{
    char id[33];
    size_t count = 0;
    for (const char *at = s->after; at && *at && count < PL_AFTER_MAX; at += strspn(at, " ")) {
        int n = (int)strcspn(at, " ");
        snprintf(id, sizeof id, "%.*s", n, at);
        const pl_session *other = strlen(id) == 32 ? pl_sessions_find_locked(sessions, id) : NULL;
        if (other && !has_ended(other)) {
            keys[count++] = (uint64_t)other->created_us;
        }
        at += n;
    }
    return count;
}

/* With frames, a session takes the rest of its estimate; with a limit, at most that. */
static double length_of(const pl_session *s)
{
    int64_t frame = atomic_load(&s->frame);
    double left = s->frames > 0 && frame > 0 ? 1 - (double)frame / (double)s->frames : 1;
    double length = s->estimate * fmax(left, 0);
    bool limited = s->time_limit > 0 && (length <= 0 || length > s->time_limit);
    return limited ? s->time_limit : length;
}

bool pl_session_may_share(const pl_session *s)
{
    return s->gpu_memory > 0 && s->gpu_memory <= PL_GPU_CONTEXT + PL_GPU_SMALL && s->crashes == 0 &&
           s->memory_retries == 0;
}

pl_job_wish pl_session_wish(pl_sessions *sessions, pl_session *s, uint64_t after[PL_AFTER_MAX])
{
    int64_t pay = s->cores_most > s->cores_least ? s->cores_most : s->cores_least;
    /* in a batch system, cores are fixed, and memory and GPUs are not this machine's */
    bool here = !s->executor;
    return (pl_job_wish){.key = (uint64_t)s->created_us,
                         .user = s->owner,
                         .group = s->group,
                         .priority = s->priority,
                         .cores_least = (int32_t)(here ? s->cores_least : pay),
                         .cores_most = (int32_t)(here ? s->cores_most : pay),
                         .memory = here ? s->memory : 0,
                         .gpu_memory = here ? s->gpu_memory : 0,
                         .length = length_of(s),
                         .preemptible = here && s->preemptible,
                         .interactive = s->interactive,
                         .shares = here && pl_session_may_share(s),
                         .after = after,
                         .after_count = read_after(sessions, s, after),
                         .tag = s};
}

int64_t pl_session_held_since(const pl_session *s)
{
    return s->held_ms > s->since_ms ? s->held_ms : s->since_ms;
}

pl_usage_span pl_session_span(const pl_session *s)
{
    int64_t now = pl_clock_us() / 1000, from = pl_session_held_since(s);
    int64_t to = s->ended_ms > 0 && s->ended_ms < now ? s->ended_ms : now;
    return (pl_usage_span){.session = s->id,
                           .user = s->owner,
                           .group = pl_job_group(s->job),
                           .from_ms = from,
                           .to_ms = to > from ? to : from,
                           .cores = s->job->cores,
                           .gpu = s->job->device >= 0 ? s->gpu : NULL};
}
