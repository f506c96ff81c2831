/* sweep_values.h - computes the results of a run from its session's log. */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_VALUES_H
#define PLIANT_SERVER_SWEEPS_SWEEP_VALUES_H

#include "protocol/sweep/sweep.h"

/* One number for each result; NaN if its run has none. Malloc'ed, or NULL: out of memory. `directory` is the session's.
 * min, max and mean use the kept frames from frame 0 on; frames are read only if an expectation needs them. */
double *pl_sweep_values(const pl_sweep *plan, const char *directory);

#endif
