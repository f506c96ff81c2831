/* balance.h - whether bodies are in balance: the test of convergence that no scale of the objective can
 * hide from.
 *
 * A decrement that has fallen to a share of the first says little where the first was large: a steel
 * cube that has sunk into a floor by a step's fall begins with a decrement beside which its weight is
 * nothing. So where the decrement passes, the gradient of each body is summed over what is free:
 *
 *     F = sum g_i,   T = sum (x_i - c) x g_i        c: the centre of mass
 *
 * Elastic forces cancel in both, so F and T are what weight, loads, inertia, contacts and pins lack to
 * be in balance, and a body's reactions are off by that much. Both must be small against the forces
 * that there are,
 *
 *     |F| <= bound,   |T| <= r bound               r: the radius of gyration
 *     bound = 0.01 (m |g| + |load| + |inertia| + sum over pins |pin's force|) + 0.0001 momentum / h
 *
 * and where nothing else acts, the momentum that a step may change: sum m |x - x_start| / span. What
 * rounding of positions makes of the sums is added.
 *
 * A body at rest begins a step so near to its end that a share of the first decrement is less than
 * rounding leaves. There the sum of |g_i| decides: below 0.001 tolerance of the forces that there are, the
 * vertices themselves are in balance to a millionth with a tolerance of 0.001, and x is the answer. In a thin
 * body of steel, rounding of positions leaves more than that: there x is the answer if the bodies are in
 * balance and sum |g_i| is at most 4 epsilon sum A_ii |x_i|.
 */
#ifndef PLIANT_ENGINE_SOLVERS_BALANCE_H
#define PLIANT_ENGINE_SOLVERS_BALANCE_H

#include "engine/backends/backend.h"

typedef struct pl_balance pl_balance;

/* NULL without memory. */
pl_balance *pl_balance_create(const pl_model *model, pl_backend *backend);
void pl_balance_destroy(pl_balance *balance);

/* Whether x is the answer, by its decrement, which must be at most `bound` or noise, and by balance.
 * Decrements of noise, and below a millionth of the bound, pass without: where nothing acts on a body,
 * nothing says what is small. *imbalance is what was measured, or NaN. */
bool pl_balance_accepts(pl_balance *balance, const pl_backend_stage *stage, const pl_array *x,
                        const pl_array *gradient, double decrement, double bound, double noise,
                        double *imbalance);

/* Whether the forces on all vertices are in balance to such a share of what acts on their body that x is
 * the answer, whatever its decrement; then *imbalance is what was measured. */
bool pl_balance_is_at_rest(pl_balance *balance, const pl_backend_stage *stage, const pl_array *x,
                           const pl_array *gradient, double *imbalance);

/* By the last measure, the least bound of a body, N: for the change of multipliers, which belong to none. */
double pl_balance_least_bound(const pl_balance *balance);

#endif
