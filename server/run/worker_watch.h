/* worker_watch.h - the supervisor's watch over workers. It kills workers that do not react to a request in time, that
 * exceed their time limit, or that make no progress for long; the last are marked as stalled first. ending.h decides
 * what becomes of their sessions.
 */
#ifndef PLIANT_SERVER_RUN_WORKER_WATCH_H
#define PLIANT_SERVER_RUN_WORKER_WATCH_H

#include "server/run/workers.h"

/* Do what is due at `now_ms` (pl_monotonic_ms) and return the time of the next call; INT64_MAX: never. On the
 * supervisor's thread only. Reads /proc, and a worker's directory if its process is idle. */
int64_t pl_worker_watch(pl_executor *executor, int64_t now_ms);

#endif
