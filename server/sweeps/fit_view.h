/* fit_view.h - how far a fit is, and how its best run compares with what was measured. */
#ifndef PLIANT_SERVER_SWEEPS_FIT_VIEW_H
#define PLIANT_SERVER_SWEEPS_FIT_VIEW_H

#include "server/sweeps/sweeps.h"

/* Sets "fit" in an object; null of another sweep. The mutex is held. */
void pl_fit_put(pl_json_writer *w, const pl_sweep_run *s);

/* Every measured point with the best run's value there, of its session's log. Malloc'ed; NULL with errno: ENOENT where
 * no run has succeeded or its session is gone. */
char *pl_fit_residuals_json(pl_sweeps *sweeps, const pl_sweep_run *s);
char *pl_fit_residuals_csv(pl_sweeps *sweeps, const pl_sweep_run *s, size_t *size);

#endif
