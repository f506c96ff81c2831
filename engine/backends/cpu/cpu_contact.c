/* Effect of contact on velocities (model/groups/contact_velocity.h), and the forces that carry over from one stage
 * or step to the next. */
#include "engine/backends/cpu/cpu_internal.h"
#include "engine/model/groups/contact_velocity.h"

#include <math.h>
#include <string.h>

void pl_cpu_no_contributions(const pl_group *g, double *contributions, int64_t b0, int64_t b1)
{
    int64_t block = (int64_t)g->ops->corners * 3 * PL_BLOCK;
    memset(contributions + g->contribution + b0 * block, 0,
           (size_t)((b1 - b0) * block) * sizeof *contributions);
}

/* Calls `visit` for every vertex on which an obstacle has an effect, in the order of groups and terms. */
typedef void touch_visit(const pl_touch *touch, int64_t vertex, void *user);

static void visit_touches(const pl_model *m, const pl_stage *stage, pl_array *const *u,
                          const double *x, touch_visit *visit, void *user)
{
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        for (int64_t i = 0; g->ops->touch && i < g->terms; i++) {
            pl_touch touch;
            if (g->ops->touch(g, stage, u ? pl_numbers_read(u[k]) : NULL, x, i, &touch))
                visit(&touch, g->corner[i], user);
        }
    }
}

static void add_force(const pl_touch *touch, int64_t vertex, void *user)
{
    double *force = (double *)user + 3 * vertex;
    for (int c = 0; c < 3; c++)
        force[c] += touch->force[c];
}

void pl_cpu_contact_forces(pl_backend *b, const pl_stage *stage, pl_array *const *u,
                           const double *x, double *force)
{
    memset(force, 0, 3 * (size_t)b->model->vertices * sizeof *force);
    visit_touches(b->model, stage, u, x, add_force, force);
}

typedef struct rubbing {
    const double *v;
    double power;
} rubbing;

static void add_power(const pl_touch *touch, int64_t vertex, void *user)
{
    rubbing *r = user;
    r->power += pl_contact_rub(touch, r->v + 3 * vertex);
}

double pl_cpu_friction(pl_backend *b, const pl_stage *stage, pl_array *const *u, const double *x,
                       const double *v)
{
    rubbing r = {.v = v};
    visit_touches(b->model, stage, u, x, add_power, &r);
    return r.power;
}

static bool meet(const pl_model *m, const pl_group *g, const pl_stage *stage,
                 const pl_contact_end *end, const double *u)
{
    double within = stage->scalars.a * stage->scalars.h,
           span = pl_stage_touch_time(&stage->scalars) - stage->scalars.time_start;
    const double *x = pl_numbers_read(end->x), *x_end = pl_numbers_read(end->x_end),
                 *v_start = pl_numbers_read(end->v_start);
    double *v = pl_numbers(end->v), *x_back = pl_numbers(end->x_back),
           *v_back = pl_numbers(end->v_back);
    bool landed = false;
    for (int64_t i = 0; i < g->terms; i++) {
        pl_touch t;
        int64_t at = 3 * (int64_t)g->corner[i];
        double mass = m->mass[g->corner[i]];
        if (!g->ops->touch(g, stage, u, x, i, &t) ||
            !pl_contact_bounces(&t, end->all, within, mass, v_start + at))
            continue;
        pl_contact_leap leap = pl_contact_leap_of(&t, v_start + at);
        landed = landed || -leap.into > end->landing;
        pl_contact_leave(&t, &leap, v + at);
        if (v_back)
            pl_contact_amend_history(&t, &leap, within, span, mass, x_end + at, x_back + at,
                                     v_back + at);
    }
    return landed;
}

bool pl_cpu_contact_velocities(pl_backend *b, const pl_stage *stage, const pl_contact_end *end)
{
    const pl_model *m = b->model;
    bool landed = false;
    for (int32_t k = 0; k < m->group_count; k++)
        if (m->groups[k].ops->touch)
            landed |= meet(m, &m->groups[k], stage, end,
                           end->u ? pl_numbers_read(end->u[k]) : NULL);
    return landed;
}

/* -grad U / m = inertia (x - x~) - (load + contact + gradient) / m. At a free coordinate, the gradient is the
 * residual of the solve, and the impulse is the better measure (Brown 2018, eq. 37); at a held one, it is the pin's
 * force. */
void pl_cpu_inner_acceleration(pl_backend *b, const pl_stage *stage, const double *x,
                               const double *gradient, const double *contact, double *out)
{
    const pl_model *m = b->model;
    for (int64_t i = 0; i < m->vertices; i++)
        for (int c = 0; c < 3; c++) {
            int64_t k = 3 * i + c;
            double force = contact[k];
            if (stage)
                force += pl_stage_load(stage, k);
            if (!stage || pl_model_holds(m, i, c))
                force += gradient[k];
            double way = stage ? stage->scalars.inertia * (x[k] - stage->x_pred[k]) : 0;
            out[k] = way - force / m->mass[i];
        }
}

void pl_cpu_pin_velocities(pl_backend *b, double time, double span, double *v)
{
    pl_model_pin_velocities(b->model, time, span, v);
}
