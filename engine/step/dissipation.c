#include "engine/step/dissipation.h"

#include "engine/model/damping/damping.h"

#include <math.h>
#include <string.h>

/* Friction of obstacles; of bodies on each other. */
static bool rubs(const pl_model *m)
{
    return m->friction && m->inertia > 0;
}

static bool rub_each_other(const pl_model *m)
{
    return m->touching && m->touching->rubs && m->inertia > 0;
}

bool pl_dissipates(const pl_model *m)
{
    if (rubs(m) || rub_each_other(m))
        return true;
    for (int32_t g = 0; g < m->group_count; g++)
        if (m->groups[g].ops->dissipate)
            return true;
    return false;
}

void pl_dissipate(pl_dissipated *d, const pl_stepper *by, const pl_integrator *integrator,
                  const pl_array *x)
{
    const pl_model *m = by->model;
    double power[PL_DISSIPATION_COUNT] = {0};
    if (!pl_dissipates(m))
        return;
    for (int32_t g = 0; g < m->group_count; g++)
        if (m->groups[g].ops->dissipate)
            power[pl_damping_by(&m->groups[g])] +=
                by->backend->ops->measures->dissipation(by->backend, g, x);
    const bool ends_only = integrator->is_euler || integrator->extrapolation > 1 || d->steps == 0;
    for (int k = 0; k < PL_DISSIPATION_FRICTION; k++) {
        d->energy[k] += m->h * (ends_only ? power[k] : (power[k] + d->power[k]) / 2);
        d->power[k] = power[k];
    }
    d->steps++;
}

void pl_dissipate_friction(pl_dissipated *d, const pl_stepper *by, const pl_backend_stage *stage,
                           pl_array *const *u, const pl_array *x, const pl_array *v,
                           const pl_array *v_end, double within, bool mean)
{
    pl_backend *b = by->backend;
    if (!rubs(by->model))
        return;
    double power = b->ops->contact->friction(b, stage, u, x, v_end);
    if (mean)
        power = (power + b->ops->contact->friction(b, stage, u, x, v)) / 2;
    d->energy[PL_DISSIPATION_FRICTION] += within * power;
}

void pl_dissipation_measure(const pl_dissipated *d, const pl_model *m, pl_metrics *out)
{
    out->dissipated = NAN;
    for (int k = 0; k < PL_DISSIPATION_COUNT; k++)
        out->dissipation[k] = NAN;
    if (rubs(m))
        out->dissipation[PL_DISSIPATION_FRICTION] = d->energy[PL_DISSIPATION_FRICTION];
    for (int32_t g = 0; g < m->group_count; g++)
        if (m->groups[g].ops->dissipate) {
            const pl_dissipation by = pl_damping_by(&m->groups[g]);
            out->dissipation[by] = d->energy[by];
        }
    /* Damping that a control has switched off still has its share; bodies rub each other when they touch. */
    for (int k = 0; k < PL_DISSIPATION_COUNT; k++)
        if (d->energy[k] != 0)
            out->dissipation[k] = d->energy[k];
    for (int k = 0; k < PL_DISSIPATION_COUNT; k++)
        if (!isnan(out->dissipation[k]))
            out->dissipated = (isnan(out->dissipated) ? 0 : out->dissipated) + out->dissipation[k];
}
