#include "server/run/lifecycle.h"

#include "server/sessions/batch_state.h"
#include "server/sessions/control_log.h"
#include "server/sessions/directory_record.h"

#include <errno.h>
#include <stdlib.h>

static pl_session_state state_of(pl_session *s)
{
    return (pl_session_state)atomic_load(&s->state);
}

/* ---- cancel ---- */

/* Writes the cancel to control.log, in case the waiting job's worker begins at this moment. 0, or -1 with errno. */
static int tell_job(pl_sessions *t, pl_session *s)
{
    char *job = s->executor ? pl_batch_state_job(t, s) : NULL;
    int error = job ? pl_control_append(s->directory, "cancel") : 0;
    free(job);
    errno = error;
    return error ? -1 : 0;
}

static int cancel(pl_sessions *t, pl_executor *e, pl_session *s)
{
    for (;;) {
        pl_session_state state = state_of(s);
        switch (state) {
        case PL_STATE_CHECKING:
            return 0; /* carried out when the check ends, because of `desired` */
        case PL_STATE_QUEUED:
        case PL_STATE_PAUSED:
            if (tell_job(t, s)) {
                return errno;
            }
            if (pl_directory_record_move(t, s, PL_STATE_CANCELLED, &(pl_move){.reason = "user"})) {
                return 0;
            }
            break; /* it was started just now */
        case PL_STATE_RUNNING: {
            int error = pl_control_append(s->directory, "cancel");
            if (!error) {
                pl_executor_set_deadline(e, s);
            }
            return error;
        }
        default:
            return state == PL_STATE_CANCELLED ? 0 : EALREADY;
        }
    }
}

int pl_lifecycle_cancel(pl_sessions *t, pl_executor *e, pl_session *s)
{
    pthread_mutex_lock(&s->lifecycle);
    if (!pl_state_terminal(state_of(s))) {
        pl_sessions_set_desired(t, s, "cancelled");
    }
    int error = cancel(t, e, s);
    pthread_mutex_unlock(&s->lifecycle);
    return error;
}

/* ---- pause and resume ---- */

static int pause_session(pl_sessions *t, pl_executor *e, pl_session *s)
{
    pl_desire desired = pl_sessions_desired(t, s);
    if (pl_state_terminal(state_of(s)) || desired >= PL_DESIRE_CANCELLED) {
        return EALREADY;
    }
    bool by_disk = pl_sessions_paused_by_disk(t, s);
    if ((state_of(s) == PL_STATE_PAUSED && !by_disk) || desired == PL_DESIRE_PAUSED) {
        return 0;
    }
    int error = pl_control_append(s->directory, "pause");
    if (error) {
        return error;
    }
    if (by_disk) {
        pl_sessions_keep_paused(t, s);
        return 0;
    }
    if (state_of(s) == PL_STATE_QUEUED &&
        pl_sessions_move(t, s, PL_STATE_PAUSED, &(pl_move){.reason = "user"})) {
        return 0;
    }
    /* In checking: paused at the check's end. Running, perhaps only just: its worker has read the pause, or will. */
    pl_sessions_set_desired(t, s, "paused");
    pl_executor_set_deadline(e, s);
    return 0;
}

int pl_lifecycle_pause(pl_sessions *t, pl_executor *e, pl_session *s)
{
    pthread_mutex_lock(&s->lifecycle);
    int error = pause_session(t, e, s);
    pthread_mutex_unlock(&s->lifecycle);
    return error;
}

static int resume_session(pl_sessions *t, pl_executor *e, pl_session *s)
{
    pl_desire desired = pl_sessions_desired(t, s);
    if (pl_state_terminal(state_of(s)) || desired >= PL_DESIRE_CANCELLED) {
        return EALREADY;
    }
    if (state_of(s) != PL_STATE_PAUSED && desired != PL_DESIRE_PAUSED && !s->stepping) {
        return 0;
    }
    int error = pl_control_append(s->directory, "resume");
    if (error) {
        return error;
    }
    s->stepping = false;
    if (state_of(s) == PL_STATE_PAUSED) {
        pl_sessions_move(t, s, PL_STATE_QUEUED, &(pl_move){.reason = "resumed"});
        return 0;
    }
    /* Its worker has not paused yet. Whether it still pauses or reads the resume, it is not killed, and its end will
     * queue the session again. */
    pl_sessions_clear_pause(t, s);
    pl_executor_clear_deadline(e, s);
    return 0;
}

int pl_lifecycle_resume(pl_sessions *t, pl_executor *e, pl_session *s)
{
    pthread_mutex_lock(&s->lifecycle);
    int error = resume_session(t, e, s);
    pthread_mutex_unlock(&s->lifecycle);
    return error;
}

/* ---- steps and controls ---- */

static int step_session(pl_sessions *t, pl_executor *e, pl_session *s, int64_t until)
{
    if (pl_state_terminal(state_of(s)) || pl_sessions_desired(t, s) >= PL_DESIRE_CANCELLED) {
        return EALREADY;
    }
    int error = pl_control_append_step(s->directory, until);
    if (error) {
        return error;
    }
    s->stepping = true;
    if (state_of(s) == PL_STATE_PAUSED) {
        pl_sessions_move(t, s, PL_STATE_QUEUED, &(pl_move){.reason = "step"});
        return 0;
    }
    /* It runs or waits, and will pause there by itself. An earlier pause is withdrawn. */
    pl_sessions_clear_pause(t, s);
    pl_executor_clear_deadline(e, s);
    return 0;
}

int pl_lifecycle_step(pl_sessions *t, pl_executor *e, pl_session *s, int64_t frames, int64_t *until)
{
    pthread_mutex_lock(&s->lifecycle);
    int64_t frame = atomic_load(&s->frame);
    *until = (frame < 0 ? 0 : frame) + frames;
    int error = step_session(t, e, s, *until);
    pthread_mutex_unlock(&s->lifecycle);
    return error;
}

int pl_lifecycle_control(pl_sessions *t, pl_session *s, const char *control, int64_t *number)
{
    int error = EALREADY;
    pthread_mutex_lock(&s->lifecycle);
    if (!pl_state_terminal(state_of(s)) && pl_sessions_desired(t, s) < PL_DESIRE_CANCELLED) {
        error = 0;
        if (s->controls == 0) { /* none, or none since the daemon started */
            pl_control_state before;
            error = pl_control_read(s->directory, &before);
            s->controls = before.controls;
        }
        if (!error) {
            error = pl_control_append_change(s->directory, s->controls + 1, control);
        }
        if (!error) {
            *number = ++s->controls;
        }
    }
    pthread_mutex_unlock(&s->lifecycle);
    return error;
}
