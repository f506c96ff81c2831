#include "engine/integrators/integrator.h"

const pl_integrator *pl_integrator_find(pl_integrator_kind kind)
{
    static const pl_integrator *const integrators[] = {
#define INTEGRATOR(of_kind, name) &pl_##name,
        PL_EACH_INTEGRATOR(INTEGRATOR)
#undef INTEGRATOR
    };
    return integrators[kind];
}

bool pl_integrator_is_theta(const pl_integrator *integrator, int32_t stage, bool known)
{
    if (integrator->remembers)
        return !known;
    return integrator->forces && stage == 0;
}

/* With vp = v + (s - a h) (inner + g): x~ = xp + a h vp + (a h)^2 g = xp + a h (v + (s - a h) inner
 * + a h (s / a h) g). */
void pl_predict_theta(const pl_stage_start *o)
{
    const pl_backend_ops *ops = o->backend->ops;
    const pl_model *m = o->backend->model;
    double within = m->a * m->h, rest = o->span - within, gravity[3];
    for (int c = 0; c < 3; c++)
        gravity[c] = o->span / within * m->gravity[c];
    ops->kinematics->blend(o->backend, o->x, rest, o->v, 0, NULL, o->xp);
    ops->kinematics->blend(o->backend, o->v, rest, o->inner, 0, NULL, o->vp);
    ops->kinematics->drift(o->backend, within, gravity, o->xp, o->vp, o->x_pred);
    ops->memory->copy(o->backend, o->stationary, o->xp, 3 * m->vertices);
}

void pl_predict_backward(const pl_stage_start *o, double weight)
{
    const pl_backend_ops *ops = o->backend->ops;
    const pl_model *m = o->backend->model;
    ops->kinematics->blend(o->backend, o->x, 0, o->x, weight, o->x_back, o->xp);
    ops->kinematics->blend(o->backend, o->v, 0, o->v, weight, o->v_back, o->vp);
    ops->kinematics->drift(o->backend, m->a * m->h, m->gravity, o->xp, o->vp, o->x_pred);
    ops->memory->copy(o->backend, o->stationary, o->xp, 3 * m->vertices);
}

void pl_finish_stage(const pl_stage_start *o, int32_t stage, const pl_array *x_new, pl_array *v)
{
    const pl_model *m = o->backend->model;
    o->backend->ops->kinematics->velocity(o->backend, m->a * m->h, o->xp, x_new, v);
}
