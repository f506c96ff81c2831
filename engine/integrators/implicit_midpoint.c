/* The implicit midpoint rule: x_m = argmin of the stage with a = 1/2, xp = x(n), vp = v(n); then x(n+1) = 2
 * x_m - x(n) and v(n+1) = 2 v_m - v(n). Pins, and points carried by obstacles, are at their half-way positions.
 * Contact is evaluated at x(n+1), where v(n+1) = 0 means y = x(n) + h/2 v(n) (stage.h). */
#include "engine/integrators/integrator.h"

static void predict(const pl_stage_start *o, int32_t stage)
{
    const pl_backend_ops *ops = o->backend->ops;
    const pl_model *m = o->backend->model;
    double half = m->a * m->h;
    ops->memory->copy(o->backend, o->xp, o->x, 3 * m->vertices);
    ops->kinematics->blend(o->backend, o->x, half, o->v, 0, NULL, o->stationary);
    ops->kinematics->drift(o->backend, half, m->gravity, o->x, o->v, o->x_pred);
}

static void finish(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v)
{
    pl_finish_stage(o, stage, x_new, o->vp);
    o->backend->ops->kinematics->blend(o->backend, o->vp, 0, o->vp, 1, o->v, v);
}

const pl_integrator pl_implicit_midpoint = {
    .stages = 1, .a = 0.5, .end = {0.5}, .extrapolation = 2, .predict = predict, .finish = finish};
