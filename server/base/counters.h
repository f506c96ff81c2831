/* counters.h - counters for /metrics other than sessions and requests. Plain atomics, so that reading takes no lock;
 * every series exists from the start at 0.
 */
#ifndef PLIANT_SERVER_BASE_COUNTERS_H
#define PLIANT_SERVER_BASE_COUNTERS_H

#include "server/base/histogram.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct pl_counters {
    _Atomic int64_t streams_open, streams_total, stream_bytes;
    _Atomic int64_t exports_open, exports_total, export_bytes;
    _Atomic int64_t frames_encoded, frames_shared, frame_cache_bytes;
    _Atomic int64_t log_readers; /* of streams, open now */
    _Atomic int64_t log_looks;   /* at logs of running sessions */
    _Atomic int64_t workers_started, workers_crashed, workers_adopted, workers_stalled;
    _Atomic int64_t prepared_starts; /* of workers and preflights */
    _Atomic int64_t preflights_run, preflights_refused, preflights_killed;
    _Atomic int64_t meshes_stored, mesh_bytes;
    _Atomic int64_t store_commits, store_rows, store_failures;
    _Atomic int64_t sessions_created, frames_committed;
    _Atomic int64_t sweeps_created, sweep_runs, sweep_runs_stopped, fits_created;
    _Atomic int64_t sessions_ended[8]; /* by pl_session_state; 0 for states that are not an end */
    pl_histogram queue_wait;           /* of sessions, from the queue to their first start */
    _Atomic int64_t connections_late, connections_evicted;
    _Atomic int64_t auth_failures, audit_dropped, rate_refusals;
} pl_counters;

#endif
