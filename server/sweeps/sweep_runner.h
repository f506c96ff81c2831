/* sweep_runner.h - the thread that starts the rows of sweeps, a few at a time, and records their outcomes. It posts
 * sessions as their owner would (own_request.h): limits, quotas and the scheduler treat them like any others.
 */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_RUNNER_H
#define PLIANT_SERVER_SWEEPS_SWEEP_RUNNER_H

#include "server/base/counters.h"
#include "server/base/disk.h"
#include "server/http/own_request.h"
#include "server/run/executor.h"
#include "server/sweeps/sweeps.h"
#include "server/tenants/tenants.h"

/* Copied; what it points to outlives the runner. */
typedef struct pl_sweep_setup {
    pl_own_host host; /* the daemon's parts for its requests */
    pl_sweeps *sweeps;
    pl_sessions *sessions;
    pl_tenants *tenants;
    pl_executor *executor;
    pl_disk *disk;
    pl_counters *counters;
    const _Atomic bool *ready, *draining;
} pl_sweep_setup;

typedef struct pl_sweep_runner pl_sweep_runner;
/* NULL with a line in the log. */
pl_sweep_runner *pl_sweep_runner_create(const pl_sweep_setup *setup);
void pl_sweep_runner_stop(pl_sweep_runner *runner);    /* ends the thread; NULL is allowed */
void pl_sweep_runner_destroy(pl_sweep_runner *runner); /* stops it first; no kick may follow */
/* A session has ended, or a sweep was created or changed. From any thread; NULL is allowed. */
void pl_sweep_runner_kick(pl_sweep_runner *runner);

#endif
