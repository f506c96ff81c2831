#include "server/run/worker_watch.h"

#include "protocol/log/session_dir.h"
#include "server/base/logger.h"
#include "server/run/time_limit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { LOOK_LEAST_MS = 100, LOOK_MOST_MS = 5000 };

/* Kill the whole process, with the other sessions in it; the mutex is held. */
static void kill_worker(pl_executor *e, pl_worker *late, pl_kill why)
{
    late->deadline_ms = 0;
    late->kill = why;
    for (pl_worker *w = e->workers; w; w = w->next) {
        if (w != late && w->child.pid == late->child.pid && !w->kill) {
            w->kill = PL_KILL_ALONG;
        }
    }
    pidfd_send_signal(pl_worker_pidfd(late), SIGKILL, NULL, 0);
}

/* ---- deadlines ---- */

/* When the worker must be killed, and in *why the reason; INT64_MAX: never. */
static int64_t deadline_of(const pl_worker *w, pl_kill *why)
{
    int64_t deaf = w->deadline_ms ? w->deadline_ms : INT64_MAX;
    int64_t over = w->limit_ms ? w->limit_ms + PL_TIME_LIMIT_GRACE_MS : INT64_MAX;
    *why = over < deaf ? PL_KILL_TIME_LIMIT : PL_KILL_DEAF;
    return over < deaf ? over : deaf;
}

static int64_t kill_late(pl_executor *e, int64_t now)
{
    int64_t next = INT64_MAX;
    pl_kill why;
    pthread_mutex_lock(&e->mutex);
    for (pl_worker *w = e->workers; w; w = w->next) {
        if (w->kill || pl_worker_pidfd(w) < 0) {
            continue;
        }
        int64_t due = deadline_of(w, &why);
        if (due <= now) {
            kill_worker(e, w, why);
        } else {
            next = due < next ? due : next;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    return next;
}

/* ---- progress ---- */

static int64_t beat_of(const pl_session *s)
{
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t beat = dir_fd >= 0 ? pl_session_last_beat(dir_fd) : 0;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return beat;
}

/* The heartbeat requires reading a file, so it is checked only if nothing else moves. */
static bool has_moved(pl_worker *w, const pl_process *process, int64_t now)
{
    pl_signs signs = {process->cpu_ms, atomic_load(&w->session->frame), w->progress.signs.beat_us};
    if (pl_progress_note(&w->progress, &signs, now)) {
        return true;
    }
    signs.beat_us = beat_of(w->session);
    return pl_progress_note(&w->progress, &signs, now);
}

static void tell_stalled(pl_executor *e, pl_worker *w, const char *why, int64_t still)
{
    if (why && !w->progress.why) {
        atomic_fetch_add(&e->setup.counters->workers_stalled, 1);
        pl_logf(PL_LEVEL_WARN, "session %s: its worker makes no progress (%s)", w->session->id,
                why);
    } else if (!why) {
        pl_logf(PL_LEVEL_INFO, "session %s: its worker makes progress again", w->session->id);
    }
    w->progress.why = why;
    pl_sessions_set_stalled(e->setup.sessions, w->session, why, still);
}

static void look_at(pl_executor *e, pl_worker *w, int64_t now)
{
    const pl_options *o = e->setup.options;
    pl_process process;
    if (!pl_process_look(w->child.pid, &process) || process.state == 'Z' || process.state == 'X') {
        return;
    }
    bool moved = has_moved(w, &process, now);
    int64_t still = now - w->progress.moved_ms;
    const char *why = moved || still < o->stalled_ms ? NULL : pl_progress_why(process.state);
    if (why != w->progress.why) {
        tell_stalled(e, w, why, still);
    }
    if (why && o->stalled_kill_ms > 0 && still >= o->stalled_kill_ms) {
        pthread_mutex_lock(&e->mutex);
        kill_worker(e, w, PL_KILL_STALLED);
        pthread_mutex_unlock(&e->mutex);
    }
}

static int64_t look_around(pl_executor *e, int64_t now)
{
    int64_t every = e->setup.options->stalled_ms / 4;
    bool watched = false;
    pthread_mutex_lock(&e->mutex);
    pl_worker *first = e->workers;
    pthread_mutex_unlock(&e->mutex);
    for (pl_worker *w = first; w; w = w->next) {
        if (!w->kill && w->child.pid > 0 && pl_worker_pidfd(w) >= 0) {
            watched = true;
            if (e->look_ms <= now) {
                look_at(e, w, now);
            }
        }
    }
    if (e->look_ms <= now) {
        every = every < LOOK_LEAST_MS ? LOOK_LEAST_MS : every > LOOK_MOST_MS ? LOOK_MOST_MS : every;
        e->look_ms = now + every;
    }
    return watched ? e->look_ms : INT64_MAX;
}

int64_t pl_worker_watch(pl_executor *e, int64_t now)
{
    int64_t due = kill_late(e, now), look = look_around(e, now);
    return due < look ? due : look;
}
