#include "engine/contact/pairs.h"

#include "engine/contact/closest.h"
#include "engine/contact/measure.h"
#include "engine/contact/search.h"

#include <stdlib.h>

/* Directions this close to the border of a region, as a sine, are in it. */
#define BORDER 1e-9

typedef struct finder {
    const pl_contact_surface *s;
    const double *x;
    double square; /* relative to the reach */
    double widen;
} finder;

static const double *at(const finder *f, int32_t vertex)
{
    return f->x + 3 * (int64_t)vertex;
}

static const double *end_of(const finder *f, int32_t edge, int k)
{
    return at(f, f->s->edge[2 * (int64_t)edge + k]);
}

/* ---- feasible regions ---- */

/* For an edge, and a point that projects inside it: outside of all of its triangles. */
static bool in_edge_region(const finder *f, const double *p, int32_t edge)
{
    for (int32_t i = f->s->edge_first[edge]; i < f->s->edge_first[edge + 1]; i++)
        if (pl_closest_inside(p, end_of(f, edge, 0), end_of(f, edge, 1),
                              at(f, f->s->edge_opposite[i])) > PL_CLOSEST_SNAP)
            return false;
    return true;
}

/* For a vertex: it is the closest point of all its edges. */
static bool in_vertex_region(const finder *f, const double *p, int32_t vertex)
{
    const pl_contact_surface *s = f->s;
    for (int32_t i = s->vertex_first[vertex]; i < s->vertex_first[vertex + 1]; i++) {
        int32_t e = s->vertex_edge[i];
        double t = pl_closest_snapped(pl_closest_on_line(p, end_of(f, e, 0), end_of(f, e, 1)));
        if (t != (s->edge[2 * (int64_t)e] == s->vertex[vertex] ? 0 : 1))
            return false;
    }
    return true;
}

/* For an edge, and a unit direction across it: into none of its triangles. */
static bool in_edge_wedge(const finder *f, const double *direction, int32_t edge)
{
    double e[3], h[3];
    pl_vector_subtract(end_of(f, edge, 1), end_of(f, edge, 0), e);
    for (int32_t i = f->s->edge_first[edge]; i < f->s->edge_first[edge + 1]; i++) {
        pl_vector_subtract(at(f, f->s->edge_opposite[i]), end_of(f, edge, 0), h);
        double along = pl_vector_dot(h, e) / pl_vector_dot(e, e);
        for (int c = 0; c < 3; c++)
            h[c] -= along * e[c];
        if (pl_vector_dot(direction, h) > f->widen * sqrt(pl_vector_dot(h, h)))
            return false;
    }
    return true;
}

/* The unit normal of two edges; false if they are parallel. */
static bool edges_normal(const finder *f, int32_t a, int32_t b, double normal[3])
{
    double ea[3], eb[3];
    pl_vector_subtract(end_of(f, a, 1), end_of(f, a, 0), ea);
    pl_vector_subtract(end_of(f, b, 1), end_of(f, b, 0), eb);
    pl_vector_cross(ea, eb, normal);
    double length = sqrt(pl_vector_dot(normal, normal));
    for (int c = 0; c < 3; c++)
        normal[c] /= length;
    return length > 0;
}

static bool in_both_wedges(const finder *f, int32_t a, int32_t b, const double normal[3],
                           double side)
{
    double to_a[3], to_b[3];
    for (int c = 0; c < 3; c++) {
        to_a[c] = side * normal[c];
        to_b[c] = -to_a[c];
    }
    return in_edge_wedge(f, to_a, b) && in_edge_wedge(f, to_b, a);
}

/* ---- candidates ---- */

static pl_closest closest_on_triangle(const finder *f, int32_t vertex, int32_t triangle)
{
    const int32_t *corner = f->s->triangle + 3 * (int64_t)triangle;
    const double *const x[3] = {at(f, corner[0]), at(f, corner[1]), at(f, corner[2])};
    return pl_closest_triangle(at(f, f->s->vertex[vertex]), x);
}

static void judge_vertices(const finder *f, int32_t vertex, int32_t other, pl_contact_keys *out)
{
    if (in_vertex_region(f, at(f, f->s->vertex[vertex]), other))
        pl_contact_keys_add(out, PL_CONTACT_VERTEX_VERTEX, vertex < other ? vertex : other,
                            vertex < other ? other : vertex);
}

/* Farther than the reach, by more than rounding, along a direction m: apart = m . offset. */
static bool is_beyond(const finder *f, double apart, double square)
{
    return apart * apart > (1 + 1e-6) * f->square * square;
}

/* Farther from the triangle than the reach, because that far from its plane, or from one of its sides in the plane.
 * Most candidates are, and this test needs no division. */
static bool is_far(const finder *f, int32_t vertex, int32_t triangle)
{
    const int32_t *corner = f->s->triangle + 3 * (int64_t)triangle;
    const double *p = at(f, f->s->vertex[vertex]);
    double normal[3], side[3][3], outward[3], r[3];
    for (int k = 0; k < 3; k++)
        pl_vector_subtract(at(f, corner[(k + 1) % 3]), at(f, corner[k]), side[k]);
    pl_vector_cross(side[0], side[1], normal);
    double square = pl_vector_dot(normal, normal);
    pl_vector_subtract(p, at(f, corner[0]), r);
    if (is_beyond(f, pl_vector_dot(r, normal), square))
        return true;
    for (int k = 0; k < 3; k++) {
        pl_vector_cross(side[k], normal, outward);
        pl_vector_subtract(p, at(f, corner[k]), r);
        double apart = pl_vector_dot(r, outward);
        if (apart > 0 && is_beyond(f, apart, square * pl_vector_dot(side[k], side[k])))
            return true;
    }
    return false;
}

/* An edge is represented by its first triangle: whatever is near the edge is near that triangle too. */
static void judge_triangle(const finder *f, int32_t vertex, int32_t triangle, pl_contact_keys *out)
{
    if (is_far(f, vertex, triangle))
        return;
    pl_closest p = closest_on_triangle(f, vertex, triangle);
    if (!(p.square <= f->square))
        return;
    if (p.place == PL_CLOSEST_FACE) {
        pl_contact_keys_add(out, PL_CONTACT_VERTEX_TRIANGLE, vertex, triangle);
    } else if (p.place >= PL_CLOSEST_CORNER) {
        int64_t corner = 3 * (int64_t)triangle + p.place - PL_CLOSEST_CORNER;
        judge_vertices(f, vertex, f->s->place[f->s->triangle[corner]], out);
    } else {
        int32_t edge = f->s->triangle_edge[3 * (int64_t)triangle + p.place - PL_CLOSEST_SIDE];
        if (f->s->edge_triangle[f->s->edge_first[edge]] == triangle &&
            in_edge_region(f, at(f, f->s->vertex[vertex]), edge))
            pl_contact_keys_add(out, PL_CONTACT_VERTEX_EDGE, vertex, edge);
    }
}

static void judge_edges(const finder *f, int32_t a, int32_t b, pl_contact_keys *out)
{
    pl_closest_pair p;
    double normal[3];
    if (!pl_closest_inside_edges(end_of(f, a, 0), end_of(f, a, 1), end_of(f, b, 0), end_of(f, b, 1),
                                 &p) ||
        !(p.square <= f->square) || !edges_normal(f, a, b, normal))
        return;
    double offset[3];
    pl_vector_subtract(end_of(f, a, 0), end_of(f, b, 0), offset);
    double apart = pl_vector_dot(offset, normal);
    if ((apart >= 0 && in_both_wedges(f, a, b, normal, 1)) ||
        (apart <= 0 && in_both_wedges(f, a, b, normal, -1)))
        pl_contact_keys_add(out, PL_CONTACT_EDGE_EDGE, a, b);
}

static void judge_rope(const finder *f, int32_t vertex, int32_t edge, pl_contact_keys *out)
{
    pl_closest p = pl_closest_edge(at(f, f->s->vertex[vertex]), end_of(f, edge, 0),
                                   end_of(f, edge, 1));
    if (!(p.square <= f->square))
        return;
    if (p.place == 0)
        pl_contact_keys_add(out, PL_CONTACT_VERTEX_EDGE, vertex, edge);
    else
        judge_vertices(f, vertex, f->s->place[f->s->edge[2 * (int64_t)edge + p.place - 1]], out);
}

static void judge(const void *context, pl_contact_kind kind, int32_t a, int32_t b,
                  pl_contact_keys *out)
{
    const finder *f = context;
    if (kind == PL_CONTACT_VERTEX_TRIANGLE)
        judge_triangle(f, a, b, out);
    else if (kind == PL_CONTACT_EDGE_EDGE)
        judge_edges(f, a, b, out);
    else
        judge_rope(f, a, b, out);
}

void pl_contact_pairs_clear(pl_contact_pairs *pairs)
{
    free(pairs->pair);
    *pairs = (pl_contact_pairs){0};
}

pl_status pl_contact_pairs_find(const pl_contact_trees *trees, const double *x,
                                const pl_contact_rules *rules, int threads, pl_contact_pairs *out)
{
    const finder f = {.s = trees->surface,
                      .x = x,
                      .square = rules->reach * rules->reach,
                      .widen = rules->widen + BORDER};
    const pl_contact_search search = {trees, rules->filter, judge, &f, true, NULL};
    pl_contact_keys keys;
    *out = (pl_contact_pairs){0};
    pl_status status = pl_contact_search_run(&search, threads, &keys);
    if (status != PL_OK)
        return status;
    out->pair = malloc(((size_t)keys.count + 1) * sizeof *out->pair);
    if (out->pair) {
        out->count = keys.count;
#pragma omp parallel for num_threads(threads) schedule(static) if (keys.count > 1024)
        for (int64_t i = 0; i < keys.count; i++)
            out->pair[i] = pl_contact_measure(trees->surface, x,
                                              pl_contact_key_kind(&keys, keys.key[i]),
                                              pl_contact_key_feature(&keys, keys.key[i], 0),
                                              pl_contact_key_feature(&keys, keys.key[i], 1));
    }
    pl_contact_keys_clear(&keys);
    return out->pair ? PL_OK : PL_NO_MEMORY;
}
