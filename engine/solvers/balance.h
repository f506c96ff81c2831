/* balance.h - balance of bodies: a test of convergence that no scale of the objective can hide from.
 *
 * A decrement that has fallen to a fraction of the first says little if the first was large. For example, a steel
 * cube that sank into a floor by one step of free fall begins with a decrement beside which its weight is nothing.
 * So where the decrement passes, the gradient of each body is summed over its free vertices:
 *
 *     F = sum g_i,   T = sum (x_i - c) x g_i        c: the centre of mass
 *
 * Elastic forces cancel in both, so F and T are the imbalance between weight, loads, inertia, contacts and pins,
 * and a body's reactions have that error. Both must be small against the forces present,
 *
 *     |F| <= bound,   |T| <= r bound               r: the radius of gyration
 *     bound = 0.01 (m |g| + |load| + |inertia| + sum over pins |pin's force|) + 0.0001 momentum / h
 *
 * or, where nothing else acts, against the momentum that a step may change: sum m |x - x_start| / span. The bound
 * also includes the error of the sums from the rounding of positions.
 *
 * A body at rest begins a step so near to its end that a fraction of the first decrement is below rounding. There
 * the sum of |g_i| decides. If it is below 0.001 tolerance of the forces present, the vertices themselves are in
 * balance to a millionth (with a tolerance of 0.001), and x is the answer. In a thin body of steel, rounding of
 * positions leaves more than that: there x is the answer if the bodies are in balance and sum |g_i| is at most 4
 * epsilon sum A_ii |x_i|.
 */
#ifndef PLIANT_ENGINE_SOLVERS_BALANCE_H
#define PLIANT_ENGINE_SOLVERS_BALANCE_H

#include "engine/backends/backend.h"

typedef struct pl_balance pl_balance;

/* NULL if out of memory. */
pl_balance *pl_balance_create(const pl_model *model, pl_backend *backend);
void pl_balance_destroy(pl_balance *balance);

/* True if x is the answer, by its decrement, which must be at most `bound` or noise, and by balance. Decrements
 * that are noise, or below a millionth of the bound, pass without balance, because nothing defines "small" where
 * nothing acts on a body. *imbalance is the measured value, or NaN. */
bool pl_balance_accepts(pl_balance *balance, const pl_backend_stage *stage, const pl_array *x,
                        const pl_array *gradient, double decrement, double bound, double noise,
                        double *imbalance);

/* True if the forces on all vertices are balanced, relative to the forces on their body, so well that x is the
 * answer whatever its decrement; *imbalance is then the measured value. */
bool pl_balance_is_at_rest(pl_balance *balance, const pl_backend_stage *stage, const pl_array *x,
                           const pl_array *gradient, double *imbalance);

/* The least bound of any body in the last measure, N: for the change of multipliers, which belong to no body. */
double pl_balance_least_bound(const pl_balance *balance);

#endif
