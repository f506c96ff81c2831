#include "engine/model/load_forces.h"

#include <math.h>

/* Wind without a named body acts on all. */
static bool on_all(const pl_scene_force *load)
{
    return load->kind == PL_LOAD_WIND && !load->has_body;
}

bool pl_loads_any(const pl_model *m)
{
    return m->loads.count > 0 || m->inertia == 0;
}

static bool active(const pl_scene_force *load, double time)
{
    return load->from <= time && (!load->has_until || time < load->until);
}

/* Wind's F / A n on a triangle that the air passes at u along n (load_forces.h). */
static double wind_pressure(const pl_model *m, const pl_scene_force *load, int64_t t, double area,
                            double u)
{
    if (u >= 0 && !m->loads.skin.two_sided[t])
        return 0;
    double rate = 0.5 * load->density * load->drag * fabs(u);
    if (m->inertia > 0)
        rate = fmin(rate, m->loads.skin.mass[t] / (m->h * area));
    return rate * u;
}

static void triangle_force(const pl_model *m, const pl_scene_force *load, int64_t t,
                           const double *x, const double *v, double F[3])
{
    const int32_t *corner = m->loads.skin.triangle + 3 * t;
    const int64_t at[3] = {3 * (int64_t)corner[0], 3 * (int64_t)corner[1], 3 * (int64_t)corner[2]};
    double e[3], f[3], S[3], u = 0;
    for (int c = 0; c < 3; c++) {
        e[c] = x[at[1] + c] - x[at[0] + c];
        f[c] = x[at[2] + c] - x[at[0] + c];
    }
    for (int c = 0; c < 3; c++) {
        int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        S[c] = 0.5 * (e[c1] * f[c2] - e[c2] * f[c1]);
    }
    double pressure = load->pressure;
    if (load->kind == PL_LOAD_WIND) {
        double area = sqrt(S[0] * S[0] + S[1] * S[1] + S[2] * S[2]);
        for (int c = 0; c < 3; c++) {
            double air = load->velocity[c] - (v[at[0] + c] + v[at[1] + c] + v[at[2] + c]) / 3;
            u += area > 0 ? air * S[c] / area : 0;
        }
        pressure = area > 0 ? wind_pressure(m, load, t, area, u) : 0;
    }
    for (int c = 0; c < 3; c++)
        F[c] = pressure * S[c];
}

/* The vertices gather from their triangles; a triangle is computed once for each of its corners. */
static void add_surface_force(const pl_model *m, const pl_scene_force *load, const double *x,
                              const double *v, int32_t threads, double *to, pl_force *total)
{
    const pl_skin *skin = &m->loads.skin;
    int32_t b0 = on_all(load) ? 0 : load->body;
    int32_t b1 = on_all(load) ? m->body_count : load->body + 1;
    int64_t v0 = m->first_vertex[b0], v1 = m->first_vertex[b1];
    int32_t team = v1 - v0 < 2048 ? 1 : threads;
#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t i = v0; i < v1; i++)
        for (int64_t k = skin->start[i]; k < skin->start[i + 1]; k++) {
            double F[3];
            triangle_force(m, load, skin->incident[k], x, v, F);
            for (int c = 0; c < 3; c++)
                to[3 * i + c] += F[c] / 3;
        }
    for (int64_t t = skin->first[b0]; t < skin->first[b1]; t++) {
        double F[3];
        triangle_force(m, load, t, x, v, F);
        for (int c = 0; c < 3; c++)
            total->newton[c] += F[c];
    }
}

static void add_point_force(const pl_load_model *point, double *to, pl_force *total)
{
    double share = point->load.each ? 1 : 1 / (double)point->count;
    for (int64_t k = 0; k < point->count; k++)
        for (int c = 0; c < 3; c++)
            to[3 * (int64_t)point->vertex[k] + c] += share * point->load.force[c];
    for (int c = 0; c < 3; c++)
        total->newton[c] = share * (double)point->count * point->load.force[c];
}

void pl_loads_evaluate(const pl_model *m, double time, const double *x, const double *v,
                       int32_t threads, double *load, pl_force *total)
{
    for (int64_t i = 0; i < 3 * m->vertices; i++)
        load[i] = m->inertia == 0 ? m->mass[i / 3] * m->gravity[i % 3] : 0;
    for (int32_t f = 0; f < m->loads.count; f++) {
        const pl_load_model *one = &m->loads.list[f];
        total[f] = (pl_force){{0, 0, 0}};
        if (!active(&one->load, time))
            continue;
        if (one->load.kind == PL_LOAD_POINT)
            add_point_force(one, load, &total[f]);
        else
            add_surface_force(m, &one->load, x, v, threads, load, &total[f]);
    }
}
