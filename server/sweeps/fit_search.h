/* fit_search.h - the next point of a fit's search.
 *
 * NLopt calls its objective function and waits for the value, but a run may outlast the daemon. So no state of a search
 * is kept. Each time, the search is repeated from its start with the misfits of past runs, and stops at the first point
 * without a run. The methods here draw no random numbers, so a repetition requests the same points. Points are compared
 * as the numbers in the scene.
 *
 * The search is in the unit cube of the parameters' intervals (their logarithms with the scale log) and begins at the
 * best of the samples.
 */
#ifndef PLIANT_SERVER_SWEEPS_FIT_SEARCH_H
#define PLIANT_SERVER_SWEEPS_FIT_SEARCH_H

#include "protocol/sweep/sweep.h"

/* The finished runs. */
typedef struct pl_fit_runs {
    int64_t count;
    const double *values;  /* [count][parameters] */
    const double *misfits; /* NaN: it failed, and counts as three times the worst before it */
} pl_fit_runs;

typedef enum pl_fit_step {
    PL_FIT_RUN,       /* another run is needed, at *next */
    PL_FIT_CONVERGED, /* within the tolerance */
    PL_FIT_EXHAUSTED, /* all allowed runs were made */
    PL_FIT_LOST,      /* no run succeeded, or the method gave up */
    PL_FIT_NO_MEMORY,
} pl_fit_step;

/* Find the next step; `next` [parameters] is a point in the unit cube. */
pl_fit_step pl_fit_search(const pl_sweep *plan, const pl_fit_runs *runs, double *next);

#endif
