/* worker_start.h - starts workers for queued sessions: one process per session, or one for several small sessions on a
 * GPU. On the supervisor's thread only.
 */
#ifndef PLIANT_SERVER_RUN_WORKER_START_H
#define PLIANT_SERVER_RUN_WORKER_START_H

#include "server/run/workers.h"

bool pl_workers_may_start(const pl_executor *executor);
/* Start every queued session that fits and whose turn has come. */
void pl_workers_start_next(pl_executor *executor);

/* Start a worker for the session whose turn has come, and for its owner's sessions that can share it. */
void pl_workers_start_group(pl_executor *executor, pl_session *host);

#endif
