/* global_step.h - the global step of methods that split the objective (admm.c, projective_dynamics.c), from the
 * contributions of a local step:
 *
 *     x(k) = A^-1 b(k),   b = M x~/(a h)^2 + load + D^T W^2 (..)              Narain 2016, eq. 15
 *
 * and the length of that step in the norm of A. With a factor, the length comes at no cost, because A x(k) = b(k):
 * its square is (x(k) - x(k-1)) . (b(k) - b(k-1)). A backend that solves by iterations reports the length itself. */
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

/* Computes x after the last local step, and |x(k) - x(k-1)|_A, J^(1/2), which is not finite if x is not. */
pl_status pl_global_step(pl_global *g, pl_array *x, double *length);

#endif
