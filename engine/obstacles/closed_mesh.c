#include "engine/obstacles/closed_mesh.h"

#include "engine/obstacles/closed_mesh_distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of triangles of a leaf. */
enum { LEAF = 4 };

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

/* ---- the tree ---- */

static void bound(const pl_closed_mesh *m, pl_mesh_node *n, int32_t first, int32_t count)
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

/* Three times the centroid's coordinate, the sort key of triangles, and the triangle. */
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

/* Sorts the triangles of a node along the longest edge of its box. */
static void order(pl_closed_mesh *m, const pl_mesh_node *n, int32_t first, int32_t count,
                  place *work)
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

/* Halves nodes until leaves are small. Nodes are made in pairs, so that one index names both. */
static void grow(pl_closed_mesh *m, int32_t at, int32_t first, int32_t count, int32_t *used,
                 place *work)
{
    pl_mesh_node *n = &m->nodes[at];
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

/* ---- normals ---- */

static void set_face_normals(pl_closed_mesh *m)
{
    for (int64_t t = 0; t < m->count; t++) {
        double e[3][3], *n = m->face_normal + 3 * t;
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                e[k][c] = pl_corner_of(m, t, (k + 1) % 3)[c] - pl_corner_of(m, t, k)[c];
        pl_vector_cross(e[0], e[1], n);
        double length = sqrt(pl_vector_dot(n, n));
        for (int c = 0; c < 3; c++)
            n[c] /= length;
        for (int k = 0; k < 3; k++) { /* the angle at k, between e[k] and -e[k - 1] */
            double out[3], *back = e[(k + 2) % 3];
            pl_vector_cross(back, e[k], out);
            double angle = atan2(sqrt(pl_vector_dot(out, out)), -pl_vector_dot(back, e[k]));
            double *sum = m->corner_normal + 3 * (int64_t)m->triangle[3 * t + k];
            for (int c = 0; c < 3; c++)
                sum[c] += angle * n[c];
        }
    }
}

/* One side of a triangle, from the lower vertex to the higher. */
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

/* ---- creation ---- */

/* Six times the volume inside, relative to the first vertex, so that a mesh far away keeps its digits. */
static double volume(const pl_closed_mesh *m)
{
    double sum = 0;
    for (int64_t t = 0; t < m->count; t++) {
        double e[3][3], out[3];
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                e[k][c] = pl_corner_of(m, t, k)[c] - m->vertex[c];
        pl_vector_cross(e[0], e[1], out);
        sum += pl_vector_dot(out, e[2]);
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
    m->vertices = vertices;
    m->vertex = malloc((size_t)vertices * 3 * sizeof *m->vertex);
    m->triangle = malloc((size_t)count * 3 * sizeof *m->triangle);
    m->face_normal = malloc((size_t)count * 3 * sizeof *m->face_normal);
    m->edge_normal = calloc((size_t)count * 9, sizeof *m->edge_normal);
    m->corner_normal = calloc((size_t)vertices * 3, sizeof *m->corner_normal);
    m->nodes = malloc((size_t)count * 2 * sizeof *m->nodes); /* a leaf has at least one triangle */
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
    m->node_count = used;
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
