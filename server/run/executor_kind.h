/* executor_kind.h - the ways to run a session, as a small table of functions: on this machine, or in a batch system.
 * Private to the executor's own files.
 */
#ifndef PLIANT_SERVER_RUN_EXECUTOR_KIND_H
#define PLIANT_SERVER_RUN_EXECUTOR_KIND_H

#include "server/run/workers.h"

typedef struct pl_executor_kind {
    const char *name;
    /* Start a worker for the session's new attempt. */
    void (*start)(pl_executor *executor, pl_session *session);
    /* At the daemon's start, take over the session from an earlier daemon. */
    void (*adopt)(pl_executor *executor, pl_session *session);
    /* End the worker if it has not ended by the deadline; 0 removes the deadline. */
    void (*set_deadline)(pl_executor *executor, const pl_session *session, int64_t deadline_ms);
    /* Send SIGTERM to every worker; deadline_ms 0: no deadline. */
    void (*stop_all)(pl_executor *executor, int64_t deadline_ms);
    int (*count)(pl_executor *executor); /* running workers that can be signalled */
} pl_executor_kind;

extern const pl_executor_kind pl_executor_local; /* executor_local.c */
extern const pl_executor_kind
    pl_executor_batch; /* executor_batch.c; for a daemon that has a batch system */

/* The kind of a session; NULL if its row names a missing batch system. */
const pl_executor_kind *pl_executor_kind_of(const pl_executor *executor, const pl_session *session);

#endif
