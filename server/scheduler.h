/* scheduler.h - who runs next: a queue in strict order over cores and memory. Pure bookkeeping
 * without locks or clocks; sessions.c calls it under the table's mutex.
 *
 * Strict order means that a session which does not fit now holds up those behind it: small sessions
 * can not starve a large one, and a position in the queue means something.
 */
#ifndef PLIANT_SERVER_SCHEDULER_H
#define PLIANT_SERVER_SCHEDULER_H

#include "server/sessions.h"

typedef struct pl_scheduler {
    int64_t cores, cores_used;
    double memory, memory_used; /* bytes */
    pl_session **queue;         /* [count], first is next */
    size_t count, capacity;
} pl_scheduler;

bool pl_scheduler_push(pl_scheduler *s, pl_session *session); /* false: out of memory */
void pl_scheduler_drop(pl_scheduler *s, pl_session *session); /* where it is queued */
/* The first of the queue if it fits, taken out with its cores and memory accounted; else NULL. */
pl_session *pl_scheduler_next(pl_scheduler *s);
/* Why a queued session waits, in words. */
void pl_scheduler_reason(const pl_scheduler *s, const pl_session *session, char *out, size_t size);
void pl_scheduler_take(pl_scheduler *s, const pl_session *session);
void pl_scheduler_free(pl_scheduler *s, const pl_session *session);

#endif
