#include "server/run/dispatcher.h"

#include "server/run/scheduler.h"
#include "server/sessions/sessions_locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pl_dispatcher {
    pl_sessions *sessions;
    pl_scheduler scheduler; /* under the table's mutex */
    void (*changed)(void *context, pl_session *ended);
    void *context;
};

/* ---- the queue of the table ---- */

static bool push(void *context, pl_session *s, bool first)
{
    return pl_scheduler_push(&((pl_dispatcher *)context)->scheduler, s, first);
}

static bool delay(void *context, pl_session *s)
{
    return pl_scheduler_delay(&((pl_dispatcher *)context)->scheduler, s);
}

static void move(void *context, pl_session *s)
{
    pl_scheduler_move(&((pl_dispatcher *)context)->scheduler, s);
}

static void remove_session(void *context, pl_session *s)
{
    pl_scheduler_remove(&((pl_dispatcher *)context)->scheduler, s);
}

static void free_held(void *context, const pl_session *s)
{
    pl_scheduler_free(&((pl_dispatcher *)context)->scheduler, s);
}

static void reason(void *context, const pl_session *s, char *out, size_t size)
{
    pl_scheduler_reason(&((pl_dispatcher *)context)->scheduler, s, pl_monotonic_ms(), out, size);
}

static void changed(void *context, pl_session *ended)
{
    pl_dispatcher *d = context;
    d->changed(d->context, ended);
}

const pl_session_queue pl_dispatcher_queue = {push,      delay,  move,   remove_session,
                                              free_held, reason, changed};

/* ---- up and down ---- */

pl_dispatcher *pl_dispatcher_create(const pl_dispatcher_setup *setup)
{
    pl_dispatcher *d = calloc(1, sizeof *d);
    if (d) {
        d->scheduler.cores = setup->machine.cores;
        d->scheduler.memory = setup->machine.memory;
        d->scheduler.gpus = setup->machine.gpus;
        d->scheduler.cores_of = setup->cores_of;
        d->scheduler.context = setup->context;
        d->changed = setup->changed;
        d->context = setup->context;
    }
    return d;
}

void pl_dispatcher_destroy(pl_dispatcher *d)
{
    if (d) {
        pl_scheduler_clear(&d->scheduler);
        free(d);
    }
}

void pl_dispatcher_attach(pl_dispatcher *d, pl_sessions *sessions)
{
    d->sessions = sessions;
}

/* ---- starting ---- */

static pl_session *start_next(pl_dispatcher *d, const pl_session *host)
{
    pl_sessions_lock(d->sessions);
    pl_scheduler_release(&d->scheduler, pl_monotonic_ms());
    pl_session *s = host ? pl_scheduler_next_beside(&d->scheduler, host)
                         : pl_scheduler_next(&d->scheduler);
    if (s) {
        pl_sessions_count_cores(d->sessions, s->charge.cores);
        pl_sessions_run_locked(d->sessions, s);
        pl_session_acquire(s);
    }
    pl_sessions_unlock(d->sessions);
    if (s) {
        pl_sessions_wake(d->sessions, s);
    }
    return s;
}

pl_session *pl_dispatcher_start_next(pl_dispatcher *d)
{
    return start_next(d, NULL);
}

pl_session *pl_dispatcher_start_beside(pl_dispatcher *d, const pl_session *host)
{
    return pl_scheduler_may_share(host) ? start_next(d, host) : NULL;
}

int64_t pl_dispatcher_transfer(pl_dispatcher *d, pl_session *host)
{
    pl_sessions_lock(d->sessions);
    int64_t cores = pl_scheduler_transfer(host);
    pl_sessions_unlock(d->sessions);
    return cores;
}

void pl_dispatcher_reclaim(pl_dispatcher *d, const char *owner, const char *gpu, int64_t cores)
{
    pl_sessions_lock(d->sessions);
    pl_scheduler_reclaim(&d->scheduler, owner, gpu, cores);
    pl_sessions_count_cores(d->sessions, -cores);
    pl_sessions_unlock(d->sessions);
}

int64_t pl_dispatcher_next_due(pl_dispatcher *d)
{
    pl_sessions_lock(d->sessions);
    int64_t due = pl_scheduler_next_due(&d->scheduler);
    pl_sessions_unlock(d->sessions);
    return due;
}

void pl_dispatcher_adopt(pl_dispatcher *d, pl_session *s, bool beside)
{
    pl_sessions_lock(d->sessions);
    pl_scheduler_remove(&d->scheduler, s);
    pl_scheduler_take(&d->scheduler, s, beside);
    pl_sessions_count_cores(d->sessions, s->charge.cores);
    pl_sessions_adopt_locked(d->sessions, s);
    pl_sessions_unlock(d->sessions);
}

/* ---- reading ---- */

pl_load pl_dispatcher_load(pl_dispatcher *d)
{
    pl_sessions_lock(d->sessions);
    const pl_scheduler *s = &d->scheduler;
    pl_load load = {s->cores, s->cores_used, s->memory, s->memory_used, s->draining};
    pl_sessions_unlock(d->sessions);
    return load;
}

void pl_dispatcher_drain(pl_dispatcher *d, bool draining)
{
    pl_sessions_lock(d->sessions);
    d->scheduler.draining = draining;
    pl_sessions_unlock(d->sessions);
    d->changed(d->context, NULL);
}

void pl_dispatcher_queue_view(pl_dispatcher *d, const pl_principal *principal, const char *after,
                              int64_t limit, pl_json_writer *w, char next[33])
{
    pl_sessions_lock(d->sessions);
    const pl_scheduler *queue = &d->scheduler;
    const pl_session *last = NULL;
    size_t from = 0;
    for (size_t i = 0; after && i < queue->count && from == 0; i++) {
        from = strcmp(queue->queue[i]->id, after) == 0 ? i + 1 : 0;
    }
    *next = 0;
    for (size_t i = from; i < queue->count && !*next; i++) {
        const pl_session *s = queue->queue[i];
        if (pl_principal_access(principal, s->id, s->owner, s->group) == PL_ACCESS_NONE) {
            continue;
        }
        if (limit == 0) {
            snprintf(next, 33, "%s", last->id);
        } else {
            pl_sessions_encode_locked(d->sessions, s, 0, w);
            last = s;
            limit--;
        }
    }
    pl_sessions_unlock(d->sessions);
}
