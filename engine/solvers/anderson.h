/* anderson.h - Anderson acceleration of ADMM (Anderson 1965; Walker and Ni 2011, "Anderson acceleration for
 * fixed-point iterations"; Zhang, Peng, Ouyang, Deng 2019, on ADMM for geometry).
 *
 * ADMM is a fixed-point iteration of one vector, v = D x + u as the local step sees it: z = prox(v), u = v - z,
 * x = A^-1 (.. z - u), and with the residual r = D x - z
 *
 *     v' = g(v) = v + relaxation r        Douglas and Rachford's, relaxation 1: plain ADMM
 *
 * Acceleration takes the combination of the last few g with the least combined residual,
 *
 *     v' = g - sum gamma_j dg_j,   gamma = argmin |W (r - sum gamma_j dr_j)|
 *
 * with dg_j, dr_j the differences of successive g and r. The v of every group takes part, hard groups included: for
 * any v in the local step, z is feasible and u is a force in the constraint's cone.
 *
 * A local step with that relaxation makes v' itself if t = sum gamma_j dg_j is taken from u first, since g is
 * u + relaxation D x + (1 - relaxation) z. And because v = g_old - t_old, the newest difference is
 * g - g_old = relaxation r - t_old: neither g nor r_old need be kept, only the residuals and t. dg
 * and t are in single precision. t is what was taken, to the bit, so v' is off by the rounding of dg alone, which
 * vanishes with it. The inner products of r_i and r_j give those of the differences; where r changes slowly, they
 * would not if residuals were in single precision.
 *
 * Near a saddle, as where a sheet is about to buckle, r grows slowly along itself: r . dr > 0. Least squares would
 * lead back to the saddle. As long as r grows, the history is therefore only the newest pair, and its gamma has the
 * opposite sign: a leap of up to 8 steps ahead.
 */
#ifndef PLIANT_ENGINE_SOLVERS_ANDERSON_H
#define PLIANT_ENGINE_SOLVERS_ANDERSON_H

#include "engine/backends/backend.h"

typedef struct pl_anderson_history pl_anderson_history;

/* PL_NO_MEMORY, or PL_OK. Destroying NULL does nothing. */
pl_status pl_anderson_create(const pl_model *model, pl_backend *backend, pl_anderson_history **out);
void pl_anderson_destroy(pl_anderson_history *h);

/* Begins a new solve and forgets all earlier ones. */
void pl_anderson_begin(pl_anderson_history *h);
/* After a global step x of (u, z): what the next local step, with the same relaxation, takes from u. The answer, the
 * history's memory, is for that step alone, which must be made. */
const pl_mixing *pl_anderson_mix(pl_anderson_history *h, const pl_array *x, pl_array *const *z,
                                 double relaxation);

#endif
