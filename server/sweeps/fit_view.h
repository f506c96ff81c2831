/* fit_view.h - a fit's progress, and its best run compared with the measurements. */
#ifndef PLIANT_SERVER_SWEEPS_FIT_VIEW_H
#define PLIANT_SERVER_SWEEPS_FIT_VIEW_H

#include "server/sweeps/sweeps.h"

/* Set "fit" in an object; null for other sweeps. Called with the mutex held. */
void pl_fit_put(pl_json_writer *w, const pl_sweep_run *s);

/* Every measured point with the best run's value there, from its session's log. Malloc'ed; NULL with errno: ENOENT if
 * no run has succeeded or the session is gone. */
char *pl_fit_residuals_json(pl_sweeps *sweeps, const pl_sweep_run *s);
char *pl_fit_residuals_csv(pl_sweeps *sweeps, const pl_sweep_run *s, size_t *size);

#endif
