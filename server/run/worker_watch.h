/* worker_watch.h - what the supervisor does to workers by the clock: it kills those that do not react to a request in
 * time, those whose time limit is over and that did not end by themselves, and those that make no progress; before
 * that it says which make none. What becomes of their sessions is ending.h's.
 */
#ifndef PLIANT_SERVER_RUN_WORKER_WATCH_H
#define PLIANT_SERVER_RUN_WORKER_WATCH_H

#include "server/run/workers.h"

/* Do what is due at `now_ms` (pl_monotonic_ms); returns when the next is, INT64_MAX: never. On the supervisor's thread
 * only. Reads /proc, and a worker's directory where its process does nothing. */
int64_t pl_worker_watch(pl_executor *executor, int64_t now_ms);

#endif
