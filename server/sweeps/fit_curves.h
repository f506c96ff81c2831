/* fit_curves.h - the curves of a run that a fit compares with its measured points. */
#ifndef PLIANT_SERVER_SWEEPS_FIT_CURVES_H
#define PLIANT_SERVER_SWEEPS_FIT_CURVES_H

#include "protocol/sweep/sweep.h"

typedef struct pl_fit_curves pl_fit_curves; /* lifetime: one reading of a run's log */

pl_fit_curves *pl_fit_curves_create(const pl_fit *fit); /* NULL without memory */
void pl_fit_curves_destroy(pl_fit_curves *curves);      /* NULL is nothing */
/* The numbers of one metrics record, in the order of frames. */
void pl_fit_curves_take(pl_fit_curves *curves, const pl_json *metrics);
/* The run's values at the measured points of all series, one after the other: malloc'ed, or NULL without memory. */
double *pl_fit_curves_values(const pl_fit_curves *curves);

/* The same of a session's directory. NULL with errno where it has no log, or without memory. */
double *pl_fit_values_of(const pl_fit *fit, const char *directory);

/* A number of a metrics record by a path, or of a probe by its name; NaN where it is missing. */
double pl_metrics_number(const pl_json *metrics, const char *metric, const char *probe);

#endif
