/* Backward Euler: x(n+1) = argmin 1/(2 h^2) |x - x~|^2_M + U(x), x~ = x(n) + h v(n) + h^2 g, and
 * v(n+1) = (x(n+1) - x(n)) / h (Narain 2016, eq. 4-5; Brown 2018, eq. 19 with a = 1). */
#include "engine/integrators/integrator.h"

static void predict(const pl_stage_start *o, int32_t stage)
{
    const pl_model *m = o->backend->model;
    o->backend->ops->kinematics->drift(o->backend, m->h, m->gravity, o->x, o->v, o->x_pred);
}

static void finish(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v)
{
    o->backend->ops->kinematics->velocity(o->backend, o->backend->model->h, o->x, x_new, v);
}

const pl_integrator pl_backward_euler = {PL_ONE_EULER_STAGE, .predict = predict, .finish = finish};
