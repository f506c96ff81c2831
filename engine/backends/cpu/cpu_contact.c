/* What contact does to velocities, and the forces that go on from one stage or step to the next.
 *
 * A stage solves for positions. The velocity that goes with them has a normal part that is no answer
 * at all: at the end of a fall it says how wide the gap was, and with the trapezoidal rule it throws a
 * vertex back. So a vertex that an obstacle pushes at a stage's end gets, along the normal, the
 * obstacle's velocity and e times the one that it came with.
 *
 * A stage that looks back further than to its start must not see an impact as an acceleration. Along
 * the normal the vertex is taken to have always moved as it does now. Across it friction has pulled
 * too; of its pull J_t = a h F_t / m the part belongs to the impact that the velocity it came with is
 * of J_n, the whole of the normal one, and that part is taken to have been before the stage as well:
 * v_back += J_t, and x_back so much further back as the stage would have come had v_back been its
 * velocity throughout, which is (span - a h) J_t. The rest is friction under a weight, and goes on. */
#include "engine/backends/cpu/cpu_internal.h"

#include <math.h>
#include <string.h>

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void pl_cpu_no_contributions(const pl_group *g, double *contributions, int64_t b0, int64_t b1)
{
    int64_t block = (int64_t)g->ops->corners * 3 * PL_BLOCK;
    memset(contributions + g->contribution + b0 * block, 0,
           (size_t)((b1 - b0) * block) * sizeof *contributions);
}

void pl_cpu_contact_forces(pl_backend *b, const pl_stage *stage, double *const *u, const double *x,
                           double *force)
{
    const pl_model *m = b->model;
    memset(force, 0, 3 * (size_t)m->vertices * sizeof *force);
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        for (int64_t i = 0; g->ops->touch && i < g->terms; i++) {
            pl_touch touch;
            if (!g->ops->touch(g, stage, u ? u[k] : NULL, x, i, &touch))
                continue;
            for (int c = 0; c < 3; c++)
                force[3 * (int64_t)g->corner[i] + c] += touch.force[c];
        }
    }
}

double pl_cpu_friction(pl_backend *b, const pl_stage *stage, double *const *u, const double *x,
                       const double *v)
{
    const pl_model *m = b->model;
    double power = 0;
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        for (int64_t i = 0; g->ops->touch && i < g->terms; i++) {
            pl_touch touch;
            double slip[3];
            if (!g->ops->touch(g, stage, u ? u[k] : NULL, x, i, &touch))
                continue;
            for (int c = 0; c < 3; c++)
                slip[c] = v[3 * (int64_t)g->corner[i] + c] - touch.carry[c];
            power -= dot3(touch.force, slip) -
                     dot3(touch.force, touch.normal) * dot3(slip, touch.normal);
        }
    }
    return power;
}

/* add[c] += length n[c]. */
static void add_along(double *to, double length, const double n[3])
{
    for (int c = 0; c < 3; c++)
        to[c] += length * n[c];
}

/* One vertex: `into` is the normal velocity it came with, relative to the obstacle's, and `leaves`
 * the one that it has now. */
static void amend_past(const pl_stage *stage, const pl_touch *t, double mass, double into,
                       double leaves, const double *x, double *x_back, double *v_back)
{
    double within = stage->a * stage->h, gain = within / mass;
    double span = pl_stage_touch_time(stage) - stage->time_start;
    double push = gain * dot3(t->force, t->normal);
    double share = fmin(fmax(-into / push, 0), 1);
    for (int c = 0; c < 3; c++) {
        double across = share * (gain * t->force[c] - push * t->normal[c]);
        v_back[c] += across;
        x_back[c] -= (span - within) * across;
    }
    add_along(v_back, leaves - dot3(v_back, t->normal), t->normal);
    double before = dot3(x, t->normal) - span * leaves;
    add_along(x_back, before - dot3(x_back, t->normal), t->normal);
}

static void meet(const pl_model *m, const pl_group *g, const pl_stage *stage,
                 const pl_contact_end *end, const double *u)
{
    for (int64_t i = 0; i < g->terms; i++) {
        pl_touch t;
        if (!g->ops->touch(g, stage, u, end->x, i, &t) || (!end->all && t.restitution == 0) ||
            !(dot3(t.force, t.normal) > 0))
            continue;
        int64_t at = 3 * (int64_t)g->corner[i];
        double own = dot3(t.carry, t.normal);
        double into = dot3(end->v_start + at, t.normal) - own;
        double leaves = own + (into < 0 ? -t.restitution * into : 0);
        add_along(end->v + at, leaves - dot3(end->v + at, t.normal), t.normal);
        if (end->v_back)
            amend_past(stage, &t, m->mass[g->corner[i]], into, leaves, end->x_end + at,
                       end->x_back + at, end->v_back + at);
    }
}

void pl_cpu_contact_velocities(pl_backend *b, const pl_stage *stage, const pl_contact_end *end)
{
    const pl_model *m = b->model;
    for (int32_t k = 0; k < m->group_count; k++)
        if (m->groups[k].ops->touch)
            meet(m, &m->groups[k], stage, end, end->u ? end->u[k] : NULL);
}

/* -grad U / m = inertia (x - x~) - (load + contact + gradient) / m: where nothing holds a coordinate
 * the gradient is what the solve left of it, and the impulse is the better measure (Brown 2018, eq.
 * 37); where a pin does, it is the pin's force. */
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
            double way = stage ? stage->inertia * (x[k] - stage->x_pred[k]) : 0;
            out[k] = way - force / m->mass[i];
        }
}

void pl_cpu_pin_velocities(pl_backend *b, double time, double span, double *v)
{
    pl_model_pin_velocities(b->model, time, span, v);
}
