#include "engine/obstacles/closed_mesh.h"

#include "engine/obstacles/shape_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Triangles of a leaf, and a depth that no median split of 2^31 of them reaches. */
enum { LEAF = 4, DEEPEST = 64 };
/* Nearer to an edge or a corner than this much of the mesh's size the direction from there is
 * rounding, and the pseudonormal stands for it. */
static const double ON_SURFACE = 1e-9;

/* A box around triangles [first, first + count) of a leaf; count 0: around the nodes first and
 * first + 1. */
typedef struct node {
    double lo[3], hi[3];
    int32_t first, count;
} node;

struct pl_closed_mesh {
    double *vertex;        /* [][3] */
    int32_t *triangle;     /* [count][3], in the order of the leaves */
    double *face_normal;   /* [count][3], unit */
    double *edge_normal;   /* [count][3][3]: of the edges 01, 12, 20; not unit */
    double *corner_normal; /* [vertices][3], not unit */
    node *nodes;
    int64_t count;
    double size; /* longest edge of the box around it */
};

void pl_closed_mesh_destroy(pl_closed_mesh *m)
{
    if (!m)
        return;
    free(m->vertex);
    free(m->triangle);
    free(m->face_normal);
    free(m->edge_normal);
    free(m->corner_normal);
    free(m->nodes);
    free(m);
}

/* ---- the tree
 * ------------------------------------------------------------------------------------------- */

static void bound(const pl_closed_mesh *m, node *n, int32_t first, int32_t count)
{
    for (int c = 0; c < 3; c++) {
        n->lo[c] = INFINITY;
        n->hi[c] = -INFINITY;
    }
    for (int32_t t = first; t < first + count; t++)
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) {
                double x = m->vertex[3 * (int64_t)m->triangle[3 * (int64_t)t + k] + c];
                n->lo[c] = fmin(n->lo[c], x);
                n->hi[c] = fmax(n->hi[c], x);
            }
}

/* Three times the centroid's coordinate, which triangles are ordered by, and the triangle. */
typedef struct place {
    double at;
    int32_t corner[3];
} place;

static int by_place(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->at != q->at)
        return p->at < q->at ? -1 : 1;
    return memcmp(p->corner, q->corner, sizeof p->corner);
}

/* Order the triangles of a node along the longest edge of its box. */
static void order(pl_closed_mesh *m, const node *n, int32_t first, int32_t count, place *work)
{
    int axis = 0;
    for (int c = 1; c < 3; c++)
        axis = n->hi[c] - n->lo[c] > n->hi[axis] - n->lo[axis] ? c : axis;
    for (int32_t t = 0; t < count; t++) {
        int32_t *corner = m->triangle + 3 * (int64_t)(first + t);
        work[t].at = 0;
        for (int k = 0; k < 3; k++) {
            work[t].at += m->vertex[3 * (int64_t)corner[k] + axis];
            work[t].corner[k] = corner[k];
        }
    }
    qsort(work, (size_t)count, sizeof *work, by_place);
    for (int32_t t = 0; t < count; t++)
        memcpy(m->triangle + 3 * (int64_t)(first + t), work[t].corner, sizeof work[t].corner);
}

/* Halve until leaves are small. Nodes are made in pairs, so that one index names both. */
static void grow(pl_closed_mesh *m, int32_t at, int32_t first, int32_t count, int32_t *used,
                 place *work)
{
    node *n = &m->nodes[at];
    bound(m, n, first, count);
    n->first = first;
    n->count = count;
    if (count <= LEAF)
        return;
    order(m, n, first, count, work);
    n->first = *used;
    n->count = 0;
    *used += 2;
    int32_t half = count / 2, children = n->first;
    grow(m, children, first, half, used, work);
    grow(m, children + 1, first + half, count - half, used, work);
}

/* ---- normals
 * -------------------------------------------------------------------------------------------- */

static const double *corner_of(const pl_closed_mesh *m, int64_t t, int k)
{
    return m->vertex + 3 * (int64_t)m->triangle[3 * t + k];
}

static void cross(const double *a, const double *b, double *out)
{
    for (int c = 0; c < 3; c++) {
        int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        out[c] = a[c1] * b[c2] - a[c2] * b[c1];
    }
}

static void set_face_normals(pl_closed_mesh *m)
{
    for (int64_t t = 0; t < m->count; t++) {
        double e[3][3], *n = m->face_normal + 3 * t;
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                e[k][c] = corner_of(m, t, (k + 1) % 3)[c] - corner_of(m, t, k)[c];
        cross(e[0], e[1], n);
        double length = sqrt(pl_dot3(n, n));
        for (int c = 0; c < 3; c++)
            n[c] /= length;
        for (int k = 0; k < 3; k++) { /* the angle at k, between e[k] and -e[k - 1] */
            double out[3], *back = e[(k + 2) % 3];
            cross(back, e[k], out);
            double angle = atan2(sqrt(pl_dot3(out, out)), -pl_dot3(back, e[k]));
            double *sum = m->corner_normal + 3 * (int64_t)m->triangle[3 * t + k];
            for (int c = 0; c < 3; c++)
                sum[c] += angle * n[c];
        }
    }
}

/* One side of a triangle, from the smaller vertex to the larger. */
typedef struct side {
    int32_t lo, hi;
    int32_t triangle, edge;
} side;

static int by_ends(const void *a, const void *b)
{
    const side *p = a, *q = b;
    int64_t d = p->lo != q->lo ? (int64_t)p->lo - q->lo : (int64_t)p->hi - q->hi;
    if (d == 0)
        d = (int64_t)p->triangle - q->triangle;
    return d < 0 ? -1 : d > 0;
}

/* In a closed mesh the sides, sorted by their ends, come in pairs. */
static pl_status set_edge_normals(pl_closed_mesh *m)
{
    side *sides = malloc((size_t)(3 * m->count + 1) * sizeof *sides);
    if (!sides)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < 3 * m->count; i++) {
        int32_t a = m->triangle[i], b = m->triangle[i / 3 * 3 + (i + 1) % 3];
        sides[i] = (side){.lo = a < b ? a : b,
                          .hi = a < b ? b : a,
                          .triangle = (int32_t)(i / 3),
                          .edge = (int32_t)(i % 3)};
    }
    qsort(sides, (size_t)(3 * m->count), sizeof *sides, by_ends);
    for (int64_t i = 0; i + 1 < 3 * m->count; i += 2) {
        const side *pair = &sides[i];
        for (int k = 0; k < 2; k++)
            for (int c = 0; c < 3; c++)
                m->edge_normal[9 * (int64_t)pair[k].triangle + 3 * pair[k].edge + c] =
                    m->face_normal[3 * (int64_t)pair[0].triangle + c] +
                    m->face_normal[3 * (int64_t)pair[1].triangle + c];
    }
    free(sides);
    return PL_OK;
}

/* ---- making one
 * ----------------------------------------------------------------------------------------- */

/* Six times the volume inside, about the first vertex so that a mesh far away keeps its digits. */
static double volume(const pl_closed_mesh *m)
{
    double sum = 0;
    for (int64_t t = 0; t < m->count; t++) {
        double e[3][3], out[3];
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                e[k][c] = corner_of(m, t, k)[c] - m->vertex[c];
        cross(e[0], e[1], out);
        sum += pl_dot3(out, e[2]);
    }
    return sum;
}

static void turn_round(pl_closed_mesh *m)
{
    for (int64_t t = 0; t < m->count; t++) {
        int32_t second = m->triangle[3 * t + 1];
        m->triangle[3 * t + 1] = m->triangle[3 * t + 2];
        m->triangle[3 * t + 2] = second;
    }
}

pl_status pl_closed_mesh_create(const double *vertex, int64_t vertices, const int64_t *triangle,
                                int64_t count, pl_closed_mesh **out)
{
    pl_closed_mesh *m = calloc(1, sizeof *m);
    place *work = malloc((size_t)count * sizeof *work);
    if (!m || !work)
        goto no_memory;
    m->count = count;
    m->vertex = malloc((size_t)vertices * 3 * sizeof *m->vertex);
    m->triangle = malloc((size_t)count * 3 * sizeof *m->triangle);
    m->face_normal = malloc((size_t)count * 3 * sizeof *m->face_normal);
    m->edge_normal = calloc((size_t)count * 9, sizeof *m->edge_normal);
    m->corner_normal = calloc((size_t)vertices * 3, sizeof *m->corner_normal);
    m->nodes = malloc((size_t)count * 2 * sizeof *m->nodes); /* a leaf has a triangle at least */
    if (!m->vertex || !m->triangle || !m->face_normal || !m->edge_normal || !m->corner_normal ||
        !m->nodes)
        goto no_memory;
    memcpy(m->vertex, vertex, (size_t)vertices * 3 * sizeof *m->vertex);
    for (int64_t i = 0; i < 3 * count; i++)
        m->triangle[i] = (int32_t)triangle[i];
    if (volume(m) < 0)
        turn_round(m);
    int32_t used = 1;
    grow(m, 0, 0, (int32_t)count, &used, work);
    for (int c = 0; c < 3; c++)
        m->size = fmax(m->size, m->nodes[0].hi[c] - m->nodes[0].lo[c]);
    set_face_normals(m);
    if (set_edge_normals(m) != PL_OK)
        goto no_memory;
    free(work);
    *out = m;
    return PL_OK;
no_memory:
    free(work);
    pl_closed_mesh_destroy(m);
    return PL_NO_MEMORY;
}

/* ---- distances
 * ------------------------------------------------------------------------------------------ */

/* The nearest point of a triangle, and what of it that is: its inside, an edge (01, 12, 20) or a
 * corner. */
typedef enum feature { FACE, EDGE, CORNER } feature;
typedef struct nearest {
    double square;
    int64_t triangle;
    feature feature;
    int index;
    double offset[3]; /* from there to p */
} nearest;

/* Ericson 2005, "Real-Time Collision Detection", 5.1.5: the regions of a triangle's plane. */
static nearest nearest_of_triangle(const pl_closed_mesh *m, int64_t t, const double p[3])
{
    const double *a = corner_of(m, t, 0), *b = corner_of(m, t, 1), *c = corner_of(m, t, 2);
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ac[k] = c[k] - a[k];
        ap[k] = p[k] - a[k];
        bp[k] = p[k] - b[k];
        cp[k] = p[k] - c[k];
    }
    double d1 = pl_dot3(ab, ap), d2 = pl_dot3(ac, ap), d3 = pl_dot3(ab, bp), d4 = pl_dot3(ac, bp);
    double d5 = pl_dot3(ab, cp), d6 = pl_dot3(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    nearest out = {.triangle = t};
    double v = 0, w = 0; /* the point is a + v ab + w ac */
    if (d1 <= 0 && d2 <= 0) {
        out.feature = CORNER;
    } else if (d3 >= 0 && d4 <= d3) {
        out.feature = CORNER, out.index = 1, v = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        out.feature = CORNER, out.index = 2, w = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        out.feature = EDGE, v = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        out.feature = EDGE, out.index = 2, w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        out.feature = EDGE, out.index = 1, w = (d4 - d3) / ((d4 - d3) + (d5 - d6)), v = 1 - w;
    } else {
        const double *n = m->face_normal + 3 * t;
        double above = pl_dot3(n, ap);
        for (int k = 0; k < 3; k++)
            out.offset[k] = above * n[k];
        out.square = above * above;
        return out;
    }
    for (int k = 0; k < 3; k++)
        out.offset[k] = ap[k] - v * ab[k] - w * ac[k];
    out.square = pl_dot3(out.offset, out.offset);
    return out;
}

static double square_to_box(const node *n, const double p[3])
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double out = fmax(fmax(n->lo[c] - p[c], p[c] - n->hi[c]), 0);
        sum += out * out;
    }
    return sum;
}

/* Nearer child first. */
static nearest search(const pl_closed_mesh *m, const double p[3])
{
    nearest best = {.square = INFINITY};
    int32_t stack[DEEPEST], top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const node *n = &m->nodes[stack[--top]];
        if (!(square_to_box(n, p) < best.square))
            continue;
        for (int32_t t = n->first; n->count && t < n->first + n->count; t++) {
            nearest one = nearest_of_triangle(m, t, p);
            if (one.square < best.square)
                best = one;
        }
        if (n->count)
            continue;
        bool swap = square_to_box(&m->nodes[n->first], p) >
                    square_to_box(&m->nodes[n->first + 1], p);
        stack[top++] = n->first + !swap;
        stack[top++] = n->first + swap;
    }
    return best;
}

double pl_closed_mesh_distance(const pl_closed_mesh *m, const double p[3], double normal[3],
                               double *H)
{
    nearest at = search(m, p);
    const double *n = m->face_normal + 3 * at.triangle;
    if (at.feature == FACE) {
        memcpy(normal, n, 3 * sizeof *n);
        return pl_dot3(at.offset, n);
    }
    if (at.feature == EDGE)
        n = m->edge_normal + 9 * at.triangle + 3 * at.index;
    else
        n = m->corner_normal + 3 * (int64_t)m->triangle[3 * at.triangle + at.index];
    double length = sqrt(at.square);
    double distance = pl_dot3(at.offset, n) < 0 ? -length : length;
    if (length <= ON_SURFACE * m->size) {
        double scale = sqrt(pl_dot3(n, n));
        for (int c = 0; c < 3; c++)
            normal[c] = n[c] / scale;
        return distance;
    }
    for (int c = 0; c < 3; c++)
        normal[c] = at.offset[c] / distance;
    if (!H)
        return distance;
    pl_add_identity(H, 1 / distance);
    pl_add_outer(H, -1 / distance, normal);
    if (at.feature == EDGE) {
        double along[3];
        for (int c = 0; c < 3; c++)
            along[c] = corner_of(m, at.triangle, (at.index + 1) % 3)[c] -
                       corner_of(m, at.triangle, at.index)[c];
        pl_add_outer(H, -1 / distance / pl_dot3(along, along), along);
    }
    return distance;
}
