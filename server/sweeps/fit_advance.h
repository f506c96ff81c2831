/* fit_advance.h - a fit's next row, once all that it asked for have ended. */
#ifndef PLIANT_SERVER_SWEEPS_FIT_ADVANCE_H
#define PLIANT_SERVER_SWEEPS_FIT_ADVANCE_H

#include "server/sweeps/sweeps.h"

/* Adds a row, or ends the search; of another sweep, or of a fit that waits for a run, nothing. */
void pl_fit_advance(pl_sweeps *sweeps, pl_sweep_run *s);

#endif
