/* history.h - the pairs that L-BFGS remembers, and its two loops (Liu 2017, algorithm 2) on coefficients:
 *
 *     q = -g, then newest to oldest:  zeta_i = s_i.q / rho_i,  q -= zeta_i t_i,  rho_i = s_i.t_i
 *     r = gamma B0 q = -gamma (p + sum zeta_i w_i)
 *     oldest to newest:               r += s_i (zeta_i - t_i.r / rho_i),  t_i.p = w_i.g
 *
 * For a pair s = x' - x, t = g' - g, the history keeps s and w = B0 t = p' - p, which follows from the p = B0 g of
 * every iteration; t itself is never needed. Every coefficient follows from the inner products s_i.g, w_i.g,
 * s_i.t_j and w_i.t_j. The history is therefore read once to compute them and once to compute d (`pair` and
 * `combine` of the backend), instead of four times. gamma = s.t / (t.w) of the newest pair is the inverse curvature
 * along t in the norm of B0.
 *
 * A pair is kept if s.t > 0, which B needs to be positive; then d goes down.
 */
#ifndef PLIANT_ENGINE_SOLVERS_HISTORY_H
#define PLIANT_ENGINE_SOLVERS_HISTORY_H

#include "engine/backends/backend.h"

/* The pairs, in slots; the last slot in order is being filled. Scalars are indexed by slot. */
typedef struct pl_history {
    int32_t window, count;            /* maximum number of pairs; number of pairs */
    int32_t order[PL_WINDOW_MAX + 1]; /* slots, oldest first; order[count] is free */
    pl_array *s[PL_WINDOW_MAX + 1], *w[PL_WINDOW_MAX + 1];     /* rows */
    double sg[PL_WINDOW_MAX + 1], wg[PL_WINDOW_MAX + 1];       /* with the gradient at x */
    double (*st)[PL_WINDOW_MAX + 1], (*wt)[PL_WINDOW_MAX + 1]; /* [i][j], i not newer than j */
    double gamma;
} pl_history;

pl_status pl_history_create(pl_backend *backend, int32_t window, pl_history **out);
void pl_history_destroy(pl_history *h, pl_backend *backend);
void pl_history_forget(pl_history *h);

/* Gradients and their images under B0, rows. */
typedef struct pl_history_point {
    const pl_array *g, *g_old, *p, *p_old;
} pl_history_point;

/* Computes the inner products at a new point, or with a new gradient at the same point. After a step of alpha along
 * the rows of the free slot, adds its pair. Returns g . p. */
double pl_history_take(pl_history *h, pl_backend *backend, const pl_history_point *at, bool stepped,
                       double alpha);

/* B0 was replaced: inverse_old by inverse (both diagonal). Recomputes every w. */
void pl_history_rescale(pl_history *h, pl_backend *backend, const pl_array *inverse_old,
                        const pl_array *inverse);

/* Writes the direction into the rows of the free slot and returns them; *slope is g . d. */
const pl_array *pl_history_direction(pl_history *h, pl_backend *backend, const pl_array *p,
                                     double gp, double *slope);

#endif
