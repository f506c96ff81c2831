/* global_step.h - the global step of methods that split the objective (admm.c, projective_dynamics.c), from the
 * contributions of a local step:
 *
 *     x(k) = A^-1 b(k),   b = M x~/(a h)^2 + load + D^T W^2 (..)              Narain 2016, eq. 15
 *
 * and the length of that step in the norm of A. With a factor, the length comes at no cost, because A x(k) = b(k):
 * its square is (x(k) - x(k-1)) . (b(k) - b(k-1)). A backend that solves by iterations reports the length itself. It
 * starts at x(k-1) and leaves a fixed share of that length as the error of x(k), which the next step includes in its
 * own; so an iteration that has converged to a tolerance is the answer to that tolerance and a share of it. */
#ifndef PLIANT_ENGINE_SOLVERS_GLOBAL_STEP_H
#define PLIANT_ENGINE_SOLVERS_GLOBAL_STEP_H

#include "engine/backends/backend.h"

typedef struct pl_global {
    pl_backend *backend;
    pl_array *base, *rhs, *rhs_old, *y, *y_old; /* rows; y: x of the free vertices */
} pl_global;

/* False: out of memory. In either case pl_global_clear releases the memory. */
bool pl_global_init(const pl_model *model, pl_backend *backend, pl_global *g);
void pl_global_clear(pl_global *g);

/* Begins a stage at x, positions with held vertices in place; or continues with another matrix. */
void pl_global_begin(pl_global *g, const pl_backend_stage *stage, const pl_array *x);
void pl_global_go_on(pl_global *g, const pl_backend_stage *stage, const pl_array *x);

/* Computes x after the last local step, and |x(k) - x(k-1)|_A, J^(1/2), which is not finite if x is not. PL_FAILED if
 * the solve with A does not converge: pl_global_fail describes it, and returns PL_FAILED. */
pl_status pl_global_step(pl_global *g, pl_array *x, double *length);
pl_status pl_global_fail(pl_failure *failure);

#endif
