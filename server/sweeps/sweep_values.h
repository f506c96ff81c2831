/* sweep_values.h - the results of a run, from the log of its session. */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_VALUES_H
#define PLIANT_SERVER_SWEEPS_SWEEP_VALUES_H

#include "protocol/sweep/sweep.h"

/* One number for each result; NaN where its run has none. Malloc'ed, or NULL without memory. `directory` is the
 * session's. Of frames 0 on for min, max and mean, as far as they are kept; frames are read where an expectation wants
 * them. */
double *pl_sweep_values(const pl_sweep *plan, const char *directory);

#endif
