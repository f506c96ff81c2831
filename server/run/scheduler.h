/* scheduler.h - who runs next: a queue in strict order (priority, then arrival) over cores and memory,
 * and beside it those that crashed and wait for the time of their restart, which hold nothing up. Pure
 * bookkeeping without locks or clocks; sessions.c calls it under the table's mutex.
 *
 * Strict order means that a session which does not fit now holds up those behind it: small sessions
 * cannot starve a large one, and a position in the queue means something. But for two: a session
 * whose owner uses as many cores as they may is passed over until one of theirs has ended, and one that
 * waits for memory of a GPU holds up those that want one too, and no other.
 */
#ifndef PLIANT_SERVER_RUN_SCHEDULER_H
#define PLIANT_SERVER_RUN_SCHEDULER_H

#include "server/sessions/sessions.h"

/* Cores that an owner's sessions use. */
typedef struct pl_share {
    char *owner; /* malloc'ed */
    int64_t cores;
    int running;
} pl_share;

typedef struct pl_scheduler {
    int64_t cores, cores_used;
    double memory, memory_used; /* bytes */
    bool draining;              /* nothing is started */
    pl_session **queue;         /* [count], first is next */
    size_t count, capacity;
    pl_session **delayed; /* [delayed_count], in no order; each has its due_ms */
    size_t delayed_count, delayed_capacity;
    pl_share *shares; /* of the owners with a running session */
    size_t share_count, share_capacity;
    int64_t (*cores_of)(void *context, const char *owner); /* that an owner may use at once */
    void *context;
    struct pl_gpus *gpus;
} pl_scheduler;

void pl_scheduler_clear(pl_scheduler *s);
/* Last, or first, of those of its priority. False: out of memory. */
bool pl_scheduler_push(pl_scheduler *s, pl_session *session, bool first);
bool pl_scheduler_delay(pl_scheduler *s, pl_session *session); /* until its due_ms */
/* Queue those whose time has come. */
void pl_scheduler_release(pl_scheduler *s, int64_t now_ms);
int64_t pl_scheduler_next_due(const pl_scheduler *s); /* INT64_MAX: nothing waits */
/* To the place that its priority, which has changed, gives it. */
void pl_scheduler_move(pl_scheduler *s, pl_session *session);
void pl_scheduler_remove(pl_scheduler *s, pl_session *session); /* where it is queued or waits */
/* The one whose turn it is, if it fits, taken out with its cores and memory accounted; else NULL. */
pl_session *pl_scheduler_next(pl_scheduler *s);
/* The one whose turn it is next, if it may share the worker of `host`, which was just taken out: small, on a GPU, of
 * the same owner, not crashed since its last checkpoint, of no more cores. Taken out with its memory accounted, on
 * the host's GPU, where there is room; its cores are the host's. Else NULL: nobody is passed over for it. */
pl_session *pl_scheduler_next_beside(pl_scheduler *s, const pl_session *host);
/* Whether a session may share a worker at all. */
bool pl_scheduler_may_share(const pl_session *session);
/* What a host holds for all that share its worker, its cores and a driver's context, is the worker's from now on,
 * and given back when that has ended. */
int64_t pl_scheduler_transfer(pl_session *host);
void pl_scheduler_reclaim(pl_scheduler *s, const char *owner, const char *gpu, int64_t cores);
/* Why a queued session waits, in words. */
void pl_scheduler_reason(const pl_scheduler *s, const pl_session *session, int64_t now_ms,
                         char *out, size_t size);
/* One that runs already; `beside`: in a worker that another was taken for. */
void pl_scheduler_take(pl_scheduler *s, pl_session *session, bool beside);
void pl_scheduler_free(pl_scheduler *s, const pl_session *session);

#endif
