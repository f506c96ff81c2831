/* executor_kind.h - the ways to run a session, as a small table of functions: on this machine, or in a batch system.
 * Private to the executor's own files.
 */
#ifndef PLIANT_SERVER_RUN_EXECUTOR_KIND_H
#define PLIANT_SERVER_RUN_EXECUTOR_KIND_H

#include "server/run/workers.h"

typedef struct pl_executor_kind {
    const char *name;
    /* A worker for it; it has a new attempt. */
    void (*start)(pl_executor *executor, pl_session *session);
    /* At the daemon's start: what an earlier daemon left is taken up. */
    void (*adopt)(pl_executor *executor, pl_session *session);
    /* End its worker if it has not ended by then; 0: take that back. */
    void (*set_deadline)(pl_executor *executor, const pl_session *session, int64_t deadline_ms);
    /* SIGTERM to every worker; deadline_ms 0: none. */
    void (*stop_all)(pl_executor *executor, int64_t deadline_ms);
    int (*count)(pl_executor *executor); /* workers that run and can be told */
} pl_executor_kind;

extern const pl_executor_kind pl_executor_local; /* executor_local.c */
extern const pl_executor_kind
    pl_executor_batch; /* executor_batch.c; for a daemon that has a batch system */

/* Of a session; NULL: the batch system that its row names is not there. */
const pl_executor_kind *pl_executor_kind_of(const pl_executor *executor, const pl_session *session);

#endif
