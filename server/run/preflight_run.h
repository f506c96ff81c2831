/* preflight_run.h - runs pliant-preflight on a session directory or a mesh file, with a time limit. */
#ifndef PLIANT_SERVER_RUN_PREFLIGHT_RUN_H
#define PLIANT_SERVER_RUN_PREFLIGHT_RUN_H

#include "server/base/counters.h"
#include "server/base/prepared.h"

#include "engine/scene/fault.h"

#include <stdint.h>

enum { PL_PREFLIGHT_MS = 10000 };

/* The daemon's parts that every run needs; outlives them. */
typedef struct pl_preflight_host {
    const char *programs; /* folder of pliant-preflight */
    pl_prepared *prepared;
    int stop_fd;           /* readable when the daemon ends */
    pl_counters *counters; /* of preflights */
} pl_preflight_host;

typedef struct pl_preflight_run {
    pl_preflight_host host;
    pl_child child;
    int output_fd; /* in memory: its output */
    int64_t deadline_ms;
} pl_preflight_run;

typedef enum pl_preflight_outcome {
    PL_PREFLIGHT_GOOD,
    PL_PREFLIGHT_FAULTS,  /* it said what is wrong (session: in preflight.json; mesh: in its output)
                           */
    PL_PREFLIGHT_DIED,    /* killed, or too slow: one fault was added */
    PL_PREFLIGHT_RUNNING, /* not done within the patience; ask again */
    PL_PREFLIGHT_STOPPED, /* the daemon is ending; the child was killed */
    PL_PREFLIGHT_BUSY,    /* not started: open files, memory or processes exhausted */
    PL_PREFLIGHT_BROKEN,  /* could not be run: our error, not the user's; a line is in the log */
} pl_preflight_outcome;

/* `option` is "--session", "--preview" or "--mesh". Returns PL_PREFLIGHT_RUNNING; PL_PREFLIGHT_BUSY or
 * PL_PREFLIGHT_BROKEN if the child could not be started. */
pl_preflight_outcome pl_preflight_begin(const pl_preflight_host *host, const char *owner,
                                        const char *option, const char *path,
                                        pl_preflight_run *run);
/* Wait at most patience_ms, and at most PL_PREFLIGHT_MS since the beginning in total. After any outcome but
 * PL_PREFLIGHT_RUNNING the run is over and must be ended. */
pl_preflight_outcome pl_preflight_await(pl_preflight_run *run, int patience_ms, pl_faults *faults);
/* Its output, at most 1 MiB; malloc'ed. */
char *pl_preflight_output(const pl_preflight_run *run);
void pl_preflight_end(pl_preflight_run *run);

#endif
