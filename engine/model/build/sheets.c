#include "engine/model/build/sheets.h"

#include "engine/model/groups/isa.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>

static void edge(const double *x, int32_t from, int32_t to, double *out)
{
    for (int r = 0; r < 3; r++)
        out[r] = x[3 * (int64_t)to + r] - x[3 * (int64_t)from + r];
}

/* Projects d into the plane with unit normal n; returns its length there, for a unit d. */
static double lay(const double *d, const double *n, double *out)
{
    double along = pl_vector_dot(d, n);
    for (int r = 0; r < 3; r++)
        out[r] = d[r] - along * n[r];
    double length = sqrt(pl_vector_dot(out, out));
    for (int r = 0; r < 3 && length > 0; r++)
        out[r] /= length;
    return length;
}

void pl_triangle_shape(const double *rest, const int32_t corner[3], const double direction[3],
                       double shape[6])
{
    double a[3], b[3], n[3], t[3], s[3];
    edge(rest, corner[0], corner[1], a);
    edge(rest, corner[0], corner[2], b);
    pl_vector_cross(a, b, n);
    double twice = sqrt(pl_vector_dot(n, n));
    for (int r = 0; r < 3; r++)
        n[r] /= twice;
    if (lay(direction, n, t) < 0.1) {
        const double turned[3] = {direction[2], direction[0], direction[1]};
        lay(turned, n, t);
    }
    pl_vector_cross(n, t, s);
    /* B = [a b] in (t, s), det B = twice; shape of corners 1 and 2: the rows of B^-1. */
    double B[4] = {pl_vector_dot(a, t), pl_vector_dot(a, s), pl_vector_dot(b, t),
                   pl_vector_dot(b, s)};
    shape[2] = B[3] / twice;
    shape[3] = -B[2] / twice;
    shape[4] = -B[1] / twice;
    shape[5] = B[0] / twice;
    for (int j = 0; j < 2; j++)
        shape[j] = -(shape[2 + j] + shape[4 + j]);
}

void pl_tet_shape(const double *rest, const int32_t corner[4], double shape[12])
{
    double e[3][3], n[3];
    for (int c = 0; c < 3; c++)
        edge(rest, corner[0], corner[c + 1], e[c]);
    pl_vector_cross(e[1], e[2], n);
    double det = pl_vector_dot(e[0], n);
    for (int c = 0; c < 3; c++) {
        pl_vector_cross(e[(c + 1) % 3], e[(c + 2) % 3], n);
        for (int j = 0; j < 3; j++)
            shape[3 * (c + 1) + j] = n[j] / det;
    }
    for (int j = 0; j < 3; j++)
        shape[j] = -(shape[3 + j] + shape[6 + j] + shape[9 + j]);
}

double pl_link_length(const double *x, const int32_t *corner, const double *shape, int32_t corners)
{
    double q[3] = {0}, size = 0;
    for (int32_t c = 0; c < corners; c++)
        for (int r = 0; r < 3; r++) {
            double term = shape[c] * x[3 * (int64_t)corner[c] + r];
            q[r] += term;
            size = fmax(size, fabs(term));
        }
    double length = sqrt(pl_vector_dot(q, q));
    return length > 1e-9 * size ? length : 0;
}

double pl_link_weight(const pl_solver_settings *settings, double k)
{
    bool exact = settings->method == PL_METHOD_PROJECTIVE_DYNAMICS;
    return settings->stiffness == PL_STIFFNESS_SHEAR && !exact ? settings->weight_scale / 2 * k : k;
}

double pl_plate_stiffness(const pl_material *m, pl_linear_constants linear)
{
    if (m->bending.has_stiffness)
        return m->bending.stiffness;
    return linear.young * m->thickness * m->thickness * m->thickness /
           (12 * (1 - linear.poisson * linear.poisson));
}

double pl_rod_stiffness(const pl_material *m, pl_linear_constants linear)
{
    if (m->bending.has_stiffness)
        return m->bending.stiffness;
    return linear.young * m->area * m->area / (4 * M_PI);
}

/* ---- interior edges ---- */

typedef struct side {
    int32_t low, high; /* ends */
    int32_t from, to, opposite;
    int64_t triangle;
} side;

static int compare(const void *a, const void *b)
{
    const side *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

pl_status pl_interior_edges(const int32_t *triangles, int64_t count, pl_interior_edge **out,
                            int64_t *found)
{
    side *sides = malloc((size_t)(3 * count + 1) * sizeof *sides);
    pl_interior_edge *edges = malloc((size_t)(3 * count / 2 + 1) * sizeof *edges);
    if (!sides || !edges) {
        free(sides);
        free(edges);
        return PL_NO_MEMORY;
    }
    for (int64_t i = 0; i < 3 * count; i++) {
        const int32_t *t = triangles + i / 3 * 3;
        int32_t a = t[i % 3], b = t[(i + 1) % 3];
        sides[i] = (side){a < b ? a : b, a < b ? b : a, a, b, t[(i + 2) % 3], i / 3};
    }
    qsort(sides, (size_t)(3 * count), sizeof *sides, compare);
    *found = 0;
    for (int64_t i = 0, end; i < 3 * count; i = end) {
        for (end = i + 1;
             end < 3 * count && sides[end].low == sides[i].low && sides[end].high == sides[i].high;)
            end++;
        const side *p = &sides[i], *q = p + 1;
        if (end == i + 2)
            edges[(*found)++] = (pl_interior_edge){{p->from, p->to, p->opposite, q->opposite},
                                                   {p->triangle, q->triangle}};
    }
    free(sides);
    *out = edges;
    return PL_OK;
}
