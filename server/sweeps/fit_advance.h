/* fit_advance.h - adds a fit's next row once all earlier rows have ended. */
#ifndef PLIANT_SERVER_SWEEPS_FIT_ADVANCE_H
#define PLIANT_SERVER_SWEEPS_FIT_ADVANCE_H

#include "server/sweeps/sweeps.h"

/* Add a row or end the search. Does nothing for other sweeps and for fits that wait for a run. */
void pl_fit_advance(pl_sweeps *sweeps, pl_sweep_run *s);

#endif
