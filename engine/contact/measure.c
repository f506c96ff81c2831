#include "engine/contact/measure.h"

#include "engine/contact/closest.h"

#include <stdbool.h>
#include <string.h>

/* Features closer than this fraction of their size touch: their side is then a matter of rounding. */
static const double TOUCHING = 1e-10;
/* Closer than this, corners and edges of solids are pushed apart along the normals of their surfaces, because the
 * direction from one to the other lies along the surfaces as soon as one slides a little on the other. */
static const double CLOSE = 1e-4;
/* A corner with at most this weight counts as absent: the closest point is taken to be on the opposite feature. */
static const double CORNER = 0.05;

typedef struct measure {
    const pl_contact_surface *s;
    const double *x;
    pl_contact_pair p;
} measure;

static const double *corner(const measure *m, int k)
{
    return m->x + 3 * (int64_t)m->p.vertex[k];
}

/* ---- outward side ---- */

/* Adds the outward normals, times twice the area, of a feature's triangles; none for sheets and ropes. */
static void add_triangle(const measure *m, int32_t triangle, double sign, double sum[3])
{
    double e[3], h[3], normal[3];
    const int32_t *v = m->s->triangle + 3 * (int64_t)triangle;
    if (!m->s->solid[m->s->triangle_body[triangle]])
        return;
    pl_vector_subtract(m->x + 3 * (int64_t)v[1], m->x + 3 * (int64_t)v[0], e);
    pl_vector_subtract(m->x + 3 * (int64_t)v[2], m->x + 3 * (int64_t)v[0], h);
    pl_vector_cross(e, h, normal);
    for (int c = 0; c < 3; c++)
        sum[c] += (m->s->turned[triangle] ? -sign : sign) * normal[c];
}

static void add_edge(const measure *m, int32_t edge, double sign, double sum[3])
{
    for (int32_t i = m->s->edge_first[edge]; i < m->s->edge_first[edge + 1]; i++)
        add_triangle(m, m->s->edge_triangle[i], sign, sum);
}

static void add_vertex(const measure *m, int32_t vertex, double sign, double sum[3])
{
    for (int32_t i = m->s->vertex_first[vertex]; i < m->s->vertex_first[vertex + 1]; i++)
        add_edge(m, m->s->vertex_edge[i], sign, sum);
}

/* For the edge or triangle with `count` corners from `first` of the pair: the feature on or near which the closest
 * point lies. */
static void add_side(const measure *m, int feature, int first, int count, double sign,
                     double sum[3])
{
    int near[3], n = 0;
    for (int k = 0; k < count; k++)
        if (fabs(m->p.weight[first + k]) > CORNER)
            near[n++] = k;
    if (n == 1)
        add_vertex(m, m->s->place[m->p.vertex[first + near[0]]], sign, sum);
    else if (n == 3)
        add_triangle(m, m->p.feature[feature], sign, sum);
    else if (count == 2)
        add_edge(m, m->p.feature[feature], sign, sum);
    else
        add_edge(m, m->s->triangle_edge[3 * (int64_t)m->p.feature[feature] + near[0] + near[1] - 1],
                 sign, sum);
}

/* From the inside of the second feature's body to that of the first; 0 for sheets and ropes. */
static void outward(const measure *m, double sum[3])
{
    const int *corners = pl_contact_corners[m->p.kind];
    sum[0] = sum[1] = sum[2] = 0;
    add_side(m, 0, 0, corners[0], -1, sum);
    add_side(m, 1, corners[0], corners[1], 1, sum);
}

/* ---- the gap ---- */

/* The largest extent of the edges at a vertex of the surface, by component. */
static double size_at(const measure *m, int32_t vertex)
{
    double most = 0;
    for (int32_t i = m->s->vertex_first[vertex]; i < m->s->vertex_first[vertex + 1]; i++) {
        const int32_t *end = m->s->edge + 2 * (int64_t)m->s->vertex_edge[i];
        for (int c = 0; c < 3; c++)
            most = fmax(most, fabs(m->x[3 * (int64_t)end[1] + c] - m->x[3 * (int64_t)end[0] + c]));
    }
    return most;
}

static double size_of(const measure *m)
{
    double most = 0;
    if (m->p.kind == PL_CONTACT_VERTEX_VERTEX)
        return fmin(size_at(m, m->p.feature[0]), size_at(m, m->p.feature[1]));
    for (int k = 1; k < 4 && m->p.vertex[k] >= 0; k++)
        for (int c = 0; c < 3; c++)
            most = fmax(most, fabs(corner(m, k)[c] - corner(m, 0)[c]));
    return most;
}

/* Two edges of solids that nearly touch: if their normal does not point outwards, use the surfaces' normal. */
static void turn_outward(measure *m)
{
    double out[3];
    outward(m, out);
    double length = sqrt(pl_vector_dot(out, out));
    if (!(length > 0) || pl_vector_dot(out, m->p.normal) >= 0.5 * length)
        return;
    for (int c = 0; c < 3; c++)
        m->p.normal[c] = out[c] / length;
}

/* Along a normal of the two features: exact where their distance is mostly rounding. `first`: a corner of the
 * second feature. */
static void measure_along(measure *m, const double normal[3], int first)
{
    double offset[3], out[3];
    pl_vector_subtract(corner(m, 0), corner(m, first), offset);
    double apart = pl_vector_dot(offset, normal), facing = apart;
    if (fabs(apart) <= TOUCHING * size_of(m)) {
        outward(m, out);
        double into = pl_vector_dot(out, normal);
        facing = into == 0 ? apart : into;
    }
    m->p.side = facing < 0 ? -1 : 1;
    m->p.gap = m->p.side * apart;
    for (int c = 0; c < 3; c++)
        m->p.normal[c] = m->p.side * normal[c];
    if (m->p.kind == PL_CONTACT_EDGE_EDGE && m->p.gap <= CLOSE * size_of(m))
        turn_outward(m);
}

/* A direction across an edge of the pair, or any direction. */
static void any_direction(const measure *m, double out[3])
{
    double e[3] = {0, 0, 1};
    if (m->p.vertex[2] >= 0)
        pl_vector_subtract(corner(m, 2), corner(m, 1), e);
    int least = fabs(e[0]) <= fabs(e[1]) ? 0 : 1;
    least = fabs(e[2]) < fabs(e[least]) ? 2 : least;
    pl_vector_cross(e, (double[]){least == 0, least == 1, least == 2}, out);
}

/* Along the offset of the closest points. */
static void measure_offset(measure *m)
{
    double offset[3] = {0};
    for (int k = 1; k < 4 && m->p.vertex[k] >= 0; k++)
        for (int c = 0; c < 3; c++)
            offset[c] += m->p.weight[k] * (corner(m, k)[c] - corner(m, 0)[c]);
    m->p.gap = sqrt(pl_vector_dot(offset, offset));
    if (m->p.gap <= CLOSE * size_of(m)) {
        double out[3];
        outward(m, out);
        if (pl_vector_dot(out, out) > 0 || m->p.gap <= TOUCHING * size_of(m))
            memcpy(offset, out, sizeof offset);
    }
    if (!(pl_vector_dot(offset, offset) > 0))
        any_direction(m, offset);
    double length = sqrt(pl_vector_dot(offset, offset));
    for (int c = 0; c < 3; c++)
        m->p.normal[c] = length > 0 ? offset[c] / length : c == 0;
}

/* ---- by kind ---- */

static void measure_vertex_triangle(measure *m)
{
    double e[3], h[3], normal[3];
    const double *x[3];
    m->p.weight[0] = 1;
    for (int k = 0; k < 3; k++)
        x[k] = corner(m, 1 + k);
    pl_closest q = pl_closest_triangle(corner(m, 0), x);
    for (int k = 0; k < 3; k++)
        m->p.weight[1 + k] = -q.b[k];
    if (q.place != PL_CLOSEST_FACE) {
        measure_offset(m);
        return;
    }
    pl_vector_subtract(x[1], x[0], e);
    pl_vector_subtract(x[2], x[0], h);
    pl_vector_cross(e, h, normal);
    double length = sqrt(pl_vector_dot(normal, normal));
    for (int c = 0; c < 3; c++)
        normal[c] /= m->s->turned[m->p.feature[1]] ? -length : length;
    measure_along(m, normal, 1);
}

static void measure_edge_edge(measure *m)
{
    double ea[3], eb[3], normal[3];
    pl_closest_pair q = pl_closest_edges(corner(m, 0), corner(m, 1), corner(m, 2), corner(m, 3));
    const double weight[4] = {1 - q.s, q.s, -(1 - q.t), -q.t};
    for (int k = 0; k < 4; k++)
        m->p.weight[k] = weight[k];
    if (!q.inside) {
        measure_offset(m);
        return;
    }
    pl_vector_subtract(corner(m, 1), corner(m, 0), ea);
    pl_vector_subtract(corner(m, 3), corner(m, 2), eb);
    pl_vector_cross(ea, eb, normal);
    double length = sqrt(pl_vector_dot(normal, normal));
    for (int c = 0; c < 3; c++)
        normal[c] /= length;
    measure_along(m, normal, 2);
}

static void measure_vertex_edge(measure *m)
{
    m->p.weight[0] = 1;
    pl_closest q = pl_closest_edge(corner(m, 0), corner(m, 1), corner(m, 2));
    for (int k = 0; k < 2; k++)
        m->p.weight[1 + k] = -q.b[k];
    measure_offset(m);
}

static void measure_vertex_vertex(measure *m)
{
    m->p.weight[0] = 1;
    m->p.weight[1] = -1;
    measure_offset(m);
}

static measure measure_pair(const pl_contact_surface *surface, const double *x,
                            pl_contact_kind kind, int32_t first, int32_t second)
{
    measure m = {.s = surface, .x = x, .p = {.kind = kind, .feature = {first, second}}};
    pl_contact_surface_corners(surface, kind, first, second, m.p.vertex);
    switch (kind) {
    case PL_CONTACT_VERTEX_TRIANGLE:
        measure_vertex_triangle(&m);
        break;
    case PL_CONTACT_EDGE_EDGE:
        measure_edge_edge(&m);
        break;
    case PL_CONTACT_VERTEX_EDGE:
        measure_vertex_edge(&m);
        break;
    case PL_CONTACT_VERTEX_VERTEX:
        measure_vertex_vertex(&m);
        break;
    }
    return m;
}

pl_contact_pair pl_contact_measure(const pl_contact_surface *surface, const double *x,
                                   pl_contact_kind kind, int32_t first, int32_t second)
{
    return measure_pair(surface, x, kind, first, second).p;
}

void pl_contact_outward(const pl_contact_surface *surface, const double *x, pl_contact_kind kind,
                        int32_t first, int32_t second, double out[3])
{
    const measure m = measure_pair(surface, x, kind, first, second);
    outward(&m, out);
}
