/* Quasi-statics: x(n+1) = argmin U(x) - (M g + f) . x, with pins and obstacles at their positions at the step's
 * end. The stage's inertia is 0 (model.h), so x~ determines only the initial guess, which is x(n). Velocities are
 * 0. */
#include "engine/integrators/integrator.h"

static void predict(const pl_stage_start *o, int32_t stage)
{
    o->backend->ops->memory->copy(o->backend, o->x_pred, o->x, 3 * o->backend->model->vertices);
}

static void finish(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v)
{
    o->backend->ops->memory->clear(o->backend, v, 3 * o->backend->model->vertices);
}

const pl_integrator pl_quasi_static = {PL_ONE_EULER_STAGE, .predict = predict, .finish = finish};
