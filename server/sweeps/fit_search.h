/* fit_search.h - where a fit looks next.
 *
 * NLopt calls the function that it minimises and waits for its value; a run takes as long as it takes, and the daemon
 * may be another one by then. So nothing is kept of a search: it is repeated from its start each time, fed with the
 * misfits of the runs that were made, and stopped at the first point that none was made for. The methods here draw no
 * random numbers, so the repetition asks for the same points. Points are compared as the numbers that stand in the
 * scene.
 *
 * The search is in the unit cube of the parameters' intervals (their logarithms with the scale log) and begins at the
 * best of the samples.
 */
#ifndef PLIANT_SERVER_SWEEPS_FIT_SEARCH_H
#define PLIANT_SERVER_SWEEPS_FIT_SEARCH_H

#include "protocol/sweep/sweep.h"

/* The runs that have ended. */
typedef struct pl_fit_runs {
    int64_t count;
    const double *values;  /* [count][parameters] */
    const double *misfits; /* NaN: it did not succeed, and counts three times the worst before it */
} pl_fit_runs;

typedef enum pl_fit_step {
    PL_FIT_RUN,       /* another run is needed, at *next */
    PL_FIT_CONVERGED, /* to the tolerance */
    PL_FIT_EXHAUSTED, /* as many runs as were allowed */
    PL_FIT_LOST,      /* no run succeeded, or the method gave up */
    PL_FIT_NO_MEMORY,
} pl_fit_step;

/* `next` [parameters] in the unit cube. */
pl_fit_step pl_fit_search(const pl_sweep *plan, const pl_fit_runs *runs, double *next);

#endif
