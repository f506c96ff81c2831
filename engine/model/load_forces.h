/* load_forces.h - the scene's forces as one vector in newtons, constant over a step. They are evaluated at the
 * step's start, from x(n) and v(n) (lagged), so the minimised function still has an energy, - load . x. The work of
 * a load over a step is load . (x(n+1) - x(n)).
 *
 * For a triangle with area vector S = (b - a) x (c - a) / 2 = A n, n outward (by the corners' order for cloth),
 * each corner gets a third of:
 *
 *     pressure p   F = p S: above 0 it inflates a closed body. Its sum over a closed surface is 0,
 *                  and its work is p times the change of the enclosed volume, to first order.
 *     wind w       F = 1/2 density drag A |u| u n, u = (w - v) . n, v the mean of the corners'.
 *                  Wind acts on cloth from both sides, on a body where it faces the wind (u < 0). It is
 *                  explicit, so its impulse is limited to what stops the triangle's own mass against
 *                  the wind, |F| <= m |u| / h: beyond that, a step would overshoot and oscillate.
 *
 * A point load's force is given. In statics the weight M g is also part of the load (stage.h). */
#ifndef PLIANT_ENGINE_MODEL_LOAD_FORCES_H
#define PLIANT_ENGINE_MODEL_LOAD_FORCES_H

#include "engine/model/model.h"
#include "engine/scene/metrics.h"

/* True if steps of the model have a load. */
bool pl_loads_any(const pl_model *model);

/* load [vertices][3] of a step that starts at `time` with x and v; total [count] receives the sum of each force.
 * The bits are the same for any number of threads. */
void pl_loads_evaluate(const pl_model *model, double time, const double *x, const double *v,
                       int32_t threads, double *load, pl_force *total);

#endif
