/* closed_mesh_distance.h - the distance to a solid bounded by triangles (closed_mesh.h), for the host and for
 * devices. */
#ifndef PLIANT_ENGINE_OBSTACLES_CLOSED_MESH_DISTANCE_H
#define PLIANT_ENGINE_OBSTACLES_CLOSED_MESH_DISTANCE_H

#include "engine/vectors.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A depth that median splits of 2^31 triangles never reach. */
enum { PL_MESH_DEEPEST = 64 };
/* Closer to an edge or a corner than this fraction of the mesh's size, the direction from it is rounding, and the
 * pseudonormal replaces it. */
#define PL_MESH_ON_SURFACE 1e-9

/* A box around triangles [first, first + count) of a leaf; count 0: around the nodes first and
 * first + 1. */
typedef struct pl_mesh_node {
    double lo[3], hi[3];
    int32_t first, count;
} pl_mesh_node;

typedef struct pl_closed_mesh {
    double *vertex;        /* [][3] */
    int32_t *triangle;     /* [count][3], in the order of the leaves */
    double *face_normal;   /* [count][3], unit */
    double *edge_normal;   /* [count][3][3]: of the edges 01, 12, 20; not unit */
    double *corner_normal; /* [vertices][3], not unit */
    pl_mesh_node *nodes;
    int64_t count;
    double size;                  /* longest edge of the box around the mesh */
    int64_t vertices, node_count; /* sizes of the arrays */
} pl_closed_mesh;

PL_EVERYWHERE const double *pl_corner_of(const pl_closed_mesh *m, int64_t t, int k)
{
    return m->vertex + 3 * (int64_t)m->triangle[3 * t + k];
}

/* The nearest point of a triangle, and the feature it lies on: the inside, an edge (01, 12, 20) or a corner. */
typedef enum pl_mesh_feature { PL_MESH_FACE, PL_MESH_EDGE, PL_MESH_CORNER } pl_mesh_feature;
typedef struct pl_mesh_nearest {
    double square;
    int64_t triangle;
    pl_mesh_feature feature;
    int index;
    double offset[3]; /* from there to p */
} pl_mesh_nearest;

/* Ericson 2005, "Real-Time Collision Detection", 5.1.5: the regions of a triangle's plane. */
PL_EVERYWHERE pl_mesh_nearest pl_nearest_of_triangle(const pl_closed_mesh *m, int64_t t,
                                                     const double p[3])
{
    const double *a = pl_corner_of(m, t, 0), *b = pl_corner_of(m, t, 1), *c = pl_corner_of(m, t, 2);
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ac[k] = c[k] - a[k];
        ap[k] = p[k] - a[k];
        bp[k] = p[k] - b[k];
        cp[k] = p[k] - c[k];
    }
    double d1 = pl_vector_dot(ab, ap), d2 = pl_vector_dot(ac, ap), d3 = pl_vector_dot(ab, bp),
           d4 = pl_vector_dot(ac, bp);
    double d5 = pl_vector_dot(ab, cp), d6 = pl_vector_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    pl_mesh_nearest out = {.triangle = t};
    double v = 0, w = 0; /* the point is a + v ab + w ac */
    if (d1 <= 0 && d2 <= 0) {
        out.feature = PL_MESH_CORNER;
    } else if (d3 >= 0 && d4 <= d3) {
        out.feature = PL_MESH_CORNER, out.index = 1, v = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        out.feature = PL_MESH_CORNER, out.index = 2, w = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        out.feature = PL_MESH_EDGE, v = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        out.feature = PL_MESH_EDGE, out.index = 2, w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        out.feature = PL_MESH_EDGE, out.index = 1, w = (d4 - d3) / ((d4 - d3) + (d5 - d6)),
        v = 1 - w;
    } else {
        const double *n = m->face_normal + 3 * t;
        double above = pl_vector_dot(n, ap);
        for (int k = 0; k < 3; k++)
            out.offset[k] = above * n[k];
        out.square = above * above;
        return out;
    }
    for (int k = 0; k < 3; k++)
        out.offset[k] = ap[k] - v * ab[k] - w * ac[k];
    out.square = pl_vector_dot(out.offset, out.offset);
    return out;
}

PL_EVERYWHERE double pl_square_to_box(const pl_mesh_node *n, const double p[3])
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double below = n->lo[c] - p[c], above = p[c] - n->hi[c];
        double out = below > above ? below : above;
        sum += out > 0 ? out * out : 0;
    }
    return sum;
}

/* The nearest triangle closer than the root of `square`; without one, the feature is undefined. Nearer child first. */
PL_EVERYWHERE pl_mesh_nearest pl_mesh_search(const pl_closed_mesh *m, const double p[3],
                                             double square)
{
    pl_mesh_nearest best = {.square = square, .triangle = -1};
    int32_t stack[PL_MESH_DEEPEST], top = 0;
    double away[PL_MESH_DEEPEST];
    away[top] = pl_square_to_box(m->nodes, p);
    stack[top++] = 0;
    while (top > 0) {
        const pl_mesh_node *n = &m->nodes[stack[--top]];
        if (!(away[top] < best.square))
            continue;
        for (int32_t t = n->first; n->count && t < n->first + n->count; t++) {
            pl_mesh_nearest one = pl_nearest_of_triangle(m, t, p);
            if (one.square < best.square)
                best = one;
        }
        if (n->count)
            continue;
        double first = pl_square_to_box(&m->nodes[n->first], p);
        double second = pl_square_to_box(&m->nodes[n->first + 1], p);
        bool swap = first > second;
        away[top] = swap ? first : second;
        stack[top++] = n->first + !swap;
        away[top] = swap ? second : first;
        stack[top++] = n->first + swap;
    }
    return best;
}

/* The surface is known to be within that distance, so the search ends sooner. A bound that rounding has made too
 * small is ignored. */
#define PL_MESH_BOUND 1.000001
PL_EVERYWHERE double pl_closed_mesh_measure_within(const pl_closed_mesh *m, const double p[3],
                                                   double within, double normal[3], double *H)
{
    within = within * PL_MESH_BOUND + PL_MESH_ON_SURFACE * m->size;
    pl_mesh_nearest at = pl_mesh_search(m, p, within * within);
    if (at.triangle < 0)
        at = pl_mesh_search(m, p, INFINITY);
    at.triangle = at.triangle < 0 ? 0 : at.triangle; /* p is not finite */
    const double *n = m->face_normal + 3 * at.triangle;
    if (at.feature == PL_MESH_FACE) {
        memcpy(normal, n, 3 * sizeof *n);
        return pl_vector_dot(at.offset, n);
    }
    if (at.feature == PL_MESH_EDGE)
        n = m->edge_normal + 9 * at.triangle + 3 * at.index;
    else
        n = m->corner_normal + 3 * (int64_t)m->triangle[3 * at.triangle + at.index];
    double length = sqrt(at.square);
    double distance = pl_vector_dot(at.offset, n) < 0 ? -length : length;
    if (length <= PL_MESH_ON_SURFACE * m->size) {
        double scale = sqrt(pl_vector_dot(n, n));
        for (int c = 0; c < 3; c++)
            normal[c] = n[c] / scale;
        return distance;
    }
    for (int c = 0; c < 3; c++)
        normal[c] = at.offset[c] / distance;
    if (!H)
        return distance;
    pl_matrix_add_identity(H, 1 / distance);
    pl_matrix_add_outer(H, -1 / distance, normal);
    if (at.feature == PL_MESH_EDGE) {
        double along[3];
        for (int c = 0; c < 3; c++)
            along[c] = pl_corner_of(m, at.triangle, (at.index + 1) % 3)[c] -
                       pl_corner_of(m, at.triangle, at.index)[c];
        pl_matrix_add_outer(H, -1 / distance / pl_vector_dot(along, along), along);
    }
    return distance;
}

PL_EVERYWHERE double pl_closed_mesh_measure(const pl_closed_mesh *m, const double p[3],
                                            double normal[3], double *H)
{
    return pl_closed_mesh_measure_within(m, p, INFINITY, normal, H);
}

#endif
