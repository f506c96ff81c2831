#include "server/sessions/batch_state.h"

#include "server/base/histogram.h"
#include "server/sessions/sessions_locked.h"

#include <stdlib.h>
#include <string.h>

static void clear_place(pl_session *s)
{
    s->batch.position = 0;
    s->batch.start = -1;
    pl_session_set_text(&s->batch.reason, NULL);
}

void pl_batch_state_submit_locked(pl_sessions *t, pl_session *s)
{
    s->attempt++;
    pl_session_set_text(&s->batch_job, PL_JOB_SUBMITTING);
    clear_place(s);
    pl_sessions_note_locked(t, s, "changed");
}

bool pl_batch_state_wants(pl_sessions *t, pl_session *s, int64_t attempt)
{
    pl_sessions_lock(t);
    bool wants = (s->state == PL_STATE_QUEUED || s->state == PL_STATE_RUNNING) &&
                 s->attempt == attempt && s->batch_job;
    pl_sessions_unlock(t);
    return wants;
}

bool pl_batch_state_begin(pl_sessions *t, pl_session *s, int64_t attempt)
{
    pl_sessions_lock(t);
    bool begins = s->state == PL_STATE_QUEUED && s->attempt == attempt && s->batch_job;
    if (begins) {
        if (attempt == 1) {
            pl_histogram_add(&t->setup.counters->queue_wait, &pl_bounds_of_waits,
                             pl_clock_us() - 1000 * s->since_ms);
        }
        clear_place(s);
        pl_sessions_adopt_locked(t, s);
        pl_sessions_note_locked(t, s, "state");
    }
    pl_sessions_unlock(t);
    if (begins) {
        pl_sessions_wake(t, s);
    }
    return begins;
}

void pl_batch_state_set_job(pl_sessions *t, pl_session *s, int64_t attempt, const char *job)
{
    pl_sessions_lock(t);
    bool news = s->attempt == attempt &&
                (!job != !s->batch_job || (job && strcmp(job, s->batch_job) != 0));
    if (news) {
        pl_session_set_text(&s->batch_job, job);
        pl_sessions_note_locked(t, s, "changed");
    }
    pl_sessions_unlock(t);
    if (news) {
        pl_sessions_wake(t, s);
    }
}

char *pl_batch_state_job(pl_sessions *t, pl_session *s)
{
    pl_sessions_lock(t);
    char *job = s->batch_job ? strdup(s->batch_job) : NULL;
    pl_sessions_unlock(t);
    return job;
}

void pl_batch_state_place(pl_sessions *t, pl_session *s, int64_t position, int64_t start,
                          const char *reason)
{
    pl_sessions_lock(t);
    bool news = strcmp(s->batch.reason ? s->batch.reason : "", reason ? reason : "") != 0;
    s->batch.position = position;
    s->batch.start = start;
    if (news) { /* a change of position alone causes no event, as in this machine's queue */
        pl_session_set_text(&s->batch.reason, reason);
        pl_sessions_note_locked(t, s, "changed");
    }
    pl_sessions_unlock(t);
    if (news) {
        pl_sessions_wake(t, s);
    }
}

void pl_batch_state_set_attempt(pl_sessions *t, pl_session *s, int64_t attempt)
{
    pl_sessions_lock(t);
    s->attempt = attempt;
    pl_sessions_note_locked(t, s, "changed");
    pl_sessions_unlock(t);
}
