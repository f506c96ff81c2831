#include "engine/model/build/layout.h"

#include "engine/scene/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pl_layout_destroy(pl_layout *layout)
{
    for (int32_t p = 0; layout->pins && p < layout->pin_count; p++)
        free(layout->pins[p].vertex);
    free(layout->pins);
    for (int32_t a = 0; layout->attached && a < layout->attachment_count; a++)
        free(layout->attached[a].vertex);
    free(layout->attached);
    for (int32_t f = 0; layout->forces && f < layout->force_count; f++)
        free(layout->forces[f].vertex);
    free(layout->forces);
    for (int k = 0; k < PL_ELEMENT_KINDS; k++)
        pl_elements_clear(&layout->elements[k]);
    free(layout->first_vertex);
    free(layout->rest);
    free(layout->held);
    *layout = (pl_layout){0};
}

void pl_layout_masses(const pl_scene *scene, const pl_layout *layout, double *mass)
{
    memset(mass, 0, (size_t)layout->vertices * sizeof *mass);
    for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++) {
        const pl_elements *e = &layout->elements[kind];
        for (int64_t t = 0; t < e->count; t++) {
            const pl_material *m = &scene->materials[e->material[t]];
            double density = m->density; /* kg per unit of the measure */
            if (kind != PL_ELEMENT_TET)
                density *= kind == PL_ELEMENT_TRIANGLE ? m->thickness : m->area;
            double share = density * e->measure[t] / e->corners;
            for (int c = 0; c < e->corners; c++)
                mass[e->corner[e->corners * t + c]] += share;
        }
    }
}

/* splitmix64: the whole state is one counter, so a vertex's draw does not depend on any other's. */
static double uniform(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Rotates about the axis through the box's centre by turns x 360 degrees x position along it. */
static void twist(const pl_initial *initial, const double center[3], const double *rest, int64_t n,
                  double *x0)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        for (int c = 0; c < 3; c++)
            s += initial->axis[c] * rest[3 * i + c];
        lo = fmin(lo, s);
        hi = fmax(hi, s);
    }
    for (int64_t i = 0; i < n; i++) {
        double s = 0, d[3], R[9];
        for (int c = 0; c < 3; c++) {
            s += initial->axis[c] * rest[3 * i + c];
            d[c] = rest[3 * i + c] - center[c];
        }
        double along = hi > lo ? (s - lo) / (hi - lo) : 0;
        pl_rotation(initial->axis, 360 * initial->turns * along, R);
        for (int r = 0; r < 3; r++)
            x0[3 * i + r] = center[r] + R[r] * d[0] + R[r + 3] * d[1] + R[r + 6] * d[2];
    }
}

static void shape(const pl_initial *initial, const double *rest, const double centroid[3],
                  int64_t n, double *x0)
{
    double lo[3], hi[3], center[3];
    for (int c = 0; c < 3; c++) {
        lo[c] = INFINITY;
        hi[c] = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            lo[c] = fmin(lo[c], rest[3 * i + c]);
            hi[c] = fmax(hi[c], rest[3 * i + c]);
        }
        center[c] = (lo[c] + hi[c]) / 2;
    }
    if (initial->shape == PL_SHAPE_TWISTED) {
        twist(initial, center, rest, n, x0);
        return;
    }
    for (int64_t i = 0; i < 3 * n; i++) {
        int c = (int)(i % 3);
        switch (initial->shape) {
        case PL_SHAPE_COLLAPSED:
            x0[i] = centroid[c];
            break;
        case PL_SHAPE_RANDOM:
            x0[i] = lo[c] + uniform((uint64_t)initial->seed, (uint64_t)i) * (hi[c] - lo[c]);
            break;
        case PL_SHAPE_STRETCHED:
            x0[i] = center[c] + initial->stretch[c] * (rest[i] - center[c]);
            break;
        default:
            x0[i] = rest[i];
        }
    }
}

void pl_body_initial(const pl_body *body, const double *rest, const double *mass, int64_t n,
                     double *x0, double *v0)
{
    double total = 0, centroid[3] = {0}, center[3] = {0};
    for (int64_t i = 0; i < n; i++) {
        total += mass[i];
        for (int c = 0; c < 3; c++)
            centroid[c] += mass[i] * rest[3 * i + c];
    }
    for (int c = 0; c < 3; c++)
        centroid[c] /= total;
    shape(&body->initial, rest, centroid, n, x0);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            center[c] += mass[i] * x0[3 * i + c] / total;
    const double *w = body->initial.angular_velocity;
    for (int64_t i = 0; i < n; i++) {
        double d[3];
        for (int c = 0; c < 3; c++)
            d[c] = x0[3 * i + c] - center[c];
        for (int c = 0; c < 3; c++)
            v0[3 * i + c] = body->initial.velocity[c] + w[(c + 1) % 3] * d[(c + 2) % 3] -
                            w[(c + 2) % 3] * d[(c + 1) % 3];
    }
}
