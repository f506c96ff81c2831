/* watch.h - what a descent that owns its loop reports, and when it stops: the objective and its gradient at x, the rows
 * of an iteration's metrics, the target for the decrement, the balance of bodies, and the gaps of contact. See
 * descent.h for the stopping test.
 */
#ifndef PLIANT_ENGINE_SOLVERS_WATCH_H
#define PLIANT_ENGINE_SOLVERS_WATCH_H

#include "engine/solvers/balance.h"
#include "engine/solvers/solver.h"

typedef struct pl_watch {
    const pl_model *model;
    pl_backend *backend;
    pl_array *g;            /* rows: the gradient at x */
    pl_iteration *detail;   /* [iterations + 1], or NULL */
    int64_t rows, recorded; /* of detail; before this solve, if it continues another's answer */
    pl_balance *balance;
    /* The current solve. */
    pl_solve_result *out;
    const pl_backend_stage *stage;
    pl_array *x, *gradient; /* positions */
    double start_ms;
    pl_trial_sums now; /* at x */
    double energy_noise, decrement_noise, bound;
    int64_t most; /* iterations */
    double lack;  /* of the last pl_contact_rows_renew */
    int patience; /* number of checks left to close gaps */
} pl_watch;

/* PL_OK or PL_NO_MEMORY; destroy it in either case. */
pl_status pl_watch_create(const pl_model *model, pl_backend *backend, pl_watch *out);
void pl_watch_destroy(pl_watch *w);

/* Begins a solve from x, and evaluates it. Sets out->converged if nothing is to do. Nothing but `now` is set if the
 * objective is not finite. */
void pl_watch_begin(pl_watch *w, const pl_backend_stage *stage, pl_array *x, pl_array *gradient,
                    pl_solve_result *out);
/* Sets `now`, g and the gradient at x. */
void pl_watch_evaluate(pl_watch *w);
/* Writes `now` to the result and to a row of detail. */
void pl_watch_record(pl_watch *w);
/* Makes the forces at x the multipliers of contact, and evaluates again if that changes the objective. */
void pl_watch_renew(pl_watch *w);
/* True if x is an answer. */
bool pl_watch_accepts(pl_watch *w);

#endif
