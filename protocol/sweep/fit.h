/* fit.h - the measured points of a fit, and how far a run is from them.
 *
 *     "fit": {"measured": [{"probe": "tip", "points": [[0.1, -0.02], [0.2, -0.05]]},
 *                          {"probe": "force", "against": {"probe": "stretch"}, "csv": "1,0\n1.1,40\n"}],
 *             "method": "bobyqa", "evaluations": 200, "tolerance": 1e-4}
 *
 * A series has points (x, y): y is a probe or a metric of a run, x the time or another one. A run is a polyline of its
 * frames; its value at x lies on the first segment that contains x. The search begins at the previous point's segment,
 * so that loading and unloading may be measured one after the other. Beyond its ends the nearest end's value counts.
 *
 * With m points y_i of a run's values v_i in each series s, and c_s the standard deviation of the measured y_i,
 *
 *     misfit^2 = sum_s w_s (1/m_s) sum_i ((v_i - y_i) / c_s)^2 / sum_s w_s
 *
 * so 0.01 is one per cent of the measured values' standard deviation.
 */
#ifndef PLIANT_PROTOCOL_SWEEP_FIT_H
#define PLIANT_PROTOCOL_SWEEP_FIT_H

#include <stdint.h>

enum {
    PL_FIT_SERIES_MAX = 16,
    PL_FIT_POINTS_MAX = 5000, /* maximum number of points of all series together */
    PL_FIT_EVALUATIONS_MAX = 1000,
};

/* NLopt's derivative-free methods. */
typedef enum pl_fit_method {
    PL_FIT_BOBYQA,
    PL_FIT_COBYLA,
    PL_FIT_NELDER_MEAD,
    PL_FIT_SUBPLEX,
    PL_FIT_DIRECT,
} pl_fit_method;
extern const char *const pl_fit_method_names[]; /* NULL-terminated */

/* A number of each frame; its time if both are NULL. */
typedef struct pl_fit_quantity {
    char *metric, *probe; /* as pl_sweep_result */
} pl_fit_quantity;

typedef struct pl_fit_series {
    pl_fit_quantity value, against;
    double *x, *y; /* measured */
    int64_t count;
    double weight;
    double scale; /* c_s; |y| where all y are the same, 1 where they are 0 */
} pl_fit_series;

typedef struct pl_fit {
    pl_fit_series *series;
    int32_t count;
    int64_t points; /* number of points of all series */
    pl_fit_method method;
    int64_t evaluations; /* maximum number of runs, including the samples */
    double tolerance;    /* tolerance of the parameters, as a fraction of their intervals */
} pl_fit;

void pl_fit_destroy(pl_fit *fit); /* NULL is allowed */

/* Interpolates a run's n frames (x, y) at the measured points of a series; NaN if n is 0. */
void pl_fit_values(const pl_fit_series *series, const double *x, const double *y, int64_t n,
                   double *values);
/* The misfit of the values of all series in order; NaN if any value is NaN. */
double pl_fit_misfit(const pl_fit *fit, const double *values);

#endif
