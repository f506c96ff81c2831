/* fit_curves.h - a run's curves, to compare with a fit's measured points. */
#ifndef PLIANT_SERVER_SWEEPS_FIT_CURVES_H
#define PLIANT_SERVER_SWEEPS_FIT_CURVES_H

#include "protocol/sweep/sweep.h"

typedef struct pl_fit_curves pl_fit_curves; /* lifetime: one reading of a run's log */

pl_fit_curves *pl_fit_curves_create(const pl_fit *fit); /* NULL without memory */
void pl_fit_curves_destroy(pl_fit_curves *curves);      /* NULL is allowed */
/* Add the numbers of one metrics record; call in the order of frames. */
void pl_fit_curves_take(pl_fit_curves *curves, const pl_json *metrics);
/* The run's values at the measured points of all series in order, malloc'ed; NULL if out of memory. */
double *pl_fit_curves_values(const pl_fit_curves *curves);

/* The same from a session's directory. NULL with errno if it has no log or memory runs out. */
double *pl_fit_values_of(const pl_fit *fit, const char *directory);

/* A number in a metrics record, by a path or by a probe's name; NaN if missing. */
double pl_metrics_number(const pl_json *metrics, const char *metric, const char *probe);

#endif
