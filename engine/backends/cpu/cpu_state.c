/* The CPU's phases around a minimisation: positions and velocities in a step. */
#include "engine/backends/cpu/cpu_internal.h"
#include "engine/model/load_forces.h"

void pl_cpu_drift(pl_backend *b, double h, const double gravity[3], const double *x,
                  const double *v, double *out)
{
    for (int64_t i = 0; i < 3 * b->model->vertices; i++)
        out[i] = x[i] + h * (v[i] + h * gravity[i % 3]);
}

void pl_cpu_blend(pl_backend *b, const double *base, double d, const double *v, double e,
                  const double *v_old, double *out)
{
    for (int64_t i = 0; i < 3 * b->model->vertices; i++)
        out[i] = base[i] + (d != 0 ? d * v[i] : 0) + (e != 0 ? e * (v[i] - v_old[i]) : 0);
}

void pl_cpu_velocity(pl_backend *b, double h, const double *x, const double *x_new, double *out)
{
    for (int64_t i = 0; i < 3 * b->model->vertices; i++)
        out[i] = (x_new[i] - x[i]) / h;
}

void pl_cpu_place_pins(pl_backend *b, double time, double *x)
{
    pl_model_place_pins(b->model, time, x);
}

void pl_cpu_pin_force(pl_backend *b, int32_t pin, const double *gradient, double force[3])
{
    const pl_pin_model *p = &b->model->pins[pin];
    for (int c = 0; c < 3; c++)
        force[c] = 0;
    for (int64_t k = 0; k < p->count; k++)
        for (int c = 0; c < 3; c++)
            if (p->axes >> c & 1)
                force[c] += gradient[3 * (int64_t)p->vertex[k] + c];
}

void pl_cpu_evaluate_loads(pl_backend *b, double time, const double *x, const double *v,
                           double *load, pl_force *total)
{
    pl_loads_evaluate(b->model, time, x, v, cpu_of(b)->threads, load, total);
}

double pl_cpu_farthest(pl_backend *b, const double *a, const double *c, int64_t *vertex)
{
    return pl_look_farthest(b->model->vertices, a, c, vertex);
}

int64_t pl_cpu_find_not_finite(pl_backend *b, const double *x)
{
    return pl_look_not_finite(b->model->vertices, x);
}

pl_motion_sums pl_cpu_motion(pl_backend *b, const double *x, const double *v)
{
    const pl_model *m = b->model;
    pl_motion_sums out = {0};
    for (int64_t i = 0; i < m->vertices; i++, x += 3, v += 3) {
        double mass = m->mass[i];
        for (int c = 0; c < 3; c++) {
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            out.kinetic += 0.5 * mass * v[c] * v[c];
            out.gravity -= mass * m->gravity[c] * x[c];
            out.linear[c] += mass * v[c];
            out.angular[c] += mass * (x[c1] * v[c2] - x[c2] * v[c1]);
        }
    }
    return out;
}
