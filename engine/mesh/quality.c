#include "engine/mesh/mesh.h"
#include "engine/mesh/ratio.h"
#include "engine/mesh/sheet_edges.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>

/* Radius ratio of a tetrahedron with edges u, v, w from one corner (Shewchuk 2002, "What is a good
 * linear element?"): with D = u . (v x w) = 6 V and A the sum of the four face areas,
 *   r = 3 V / A,   R = | |u|^2 v x w + |v|^2 w x u + |w|^2 u x v | / 2 |D|,
 *   q = 3 r / R = 3 D^2 / (A | .. |),
 * 1 for the regular tetrahedron; 0 is returned for a flat or inverted one. */
double pl_mesh_tet_ratio(const double *a, const double *b, const double *c, const double *d,
                         double *volume)
{
    double u[3], v[3], w[3], vw[3], wu[3], uv[3], p[3], q[3], pq[3], z[3];
    pl_vector_subtract(b, a, u);
    pl_vector_subtract(c, a, v);
    pl_vector_subtract(d, a, w);
    pl_vector_cross(v, w, vw);
    pl_vector_cross(w, u, wu);
    pl_vector_cross(u, v, uv);
    pl_vector_subtract(v, u, p);
    pl_vector_subtract(w, u, q);
    pl_vector_cross(p, q, pq);
    double D = pl_vector_dot(u, vw);
    double A = 0.5 * (sqrt(pl_vector_dot(vw, vw)) + sqrt(pl_vector_dot(wu, wu)) +
                      sqrt(pl_vector_dot(uv, uv)) + sqrt(pl_vector_dot(pq, pq)));
    for (int k = 0; k < 3; k++)
        z[k] = pl_vector_dot(u, u) * vw[k] + pl_vector_dot(v, v) * wu[k] +
               pl_vector_dot(w, w) * uv[k];
    double below = A * sqrt(pl_vector_dot(z, z));
    *volume = D / 6;
    return D > 0 && below > 0 ? fmin(3 * D * D / below, 1) : 0;
}

/* The same of a triangle with edges of lengths a, b, c: 2 r / R = 16 A^2 / (a b c (a + b + c)). */
double pl_mesh_triangle_ratio(const double *p, const double *q, const double *r, double *area)
{
    double u[3], v[3], w[3], n[3];
    pl_vector_subtract(q, p, u);
    pl_vector_subtract(r, p, v);
    pl_vector_subtract(r, q, w);
    pl_vector_cross(u, v, n);
    double a = sqrt(pl_vector_dot(u, u)), b = sqrt(pl_vector_dot(v, v)),
           c = sqrt(pl_vector_dot(w, w));
    *area = sqrt(pl_vector_dot(n, n)) / 2;
    double below = a * b * c * (a + b + c);
    return below > 0 ? fmin(16 * *area * *area / below, 1) : 0;
}

/* Root of v's piece, halving the path on the way. */
static int32_t find_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Joins the pieces to which each element's corners belong; returns how many pieces disappeared. */
static int64_t join(int32_t *parent, const int32_t *corner, int corners, int64_t count)
{
    int64_t fewer = 0;
    for (int64_t t = 0; t < count; t++)
        for (int k = 1; k < corners; k++) {
            int32_t a = find_root(parent, corner[corners * t]);
            int32_t b = find_root(parent, corner[corners * t + k]);
            /* The lower number is the root: near-linear with path halving. */
            parent[a > b ? a : b] = a < b ? a : b;
            fewer += a != b;
        }
    return fewer;
}

static int64_t appear(int32_t *parent, const int32_t *corner, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        if (parent[corner[i]] < 0) {
            parent[corner[i]] = corner[i];
            found++;
        }
    return found;
}

/* Number of pieces joined by common vertices; a vertex without an element is not a piece. -1 if out of memory. */
static int64_t count_components(const pl_mesh *mesh)
{
    int32_t *parent = malloc((size_t)(mesh->vertex_count + 1) * sizeof *parent);
    if (!parent)
        return -1;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        parent[v] = -1;
    int64_t count = appear(parent, mesh->tets, 4 * mesh->tet_count) +
                    appear(parent, mesh->triangles, 3 * mesh->triangle_count) +
                    appear(parent, mesh->edges, 2 * mesh->edge_count);
    count -= join(parent, mesh->tets, 4, mesh->tet_count);
    count -= join(parent, mesh->triangles, 3, mesh->triangle_count);
    count -= join(parent, mesh->edges, 2, mesh->edge_count);
    free(parent);
    return count;
}

static void measure_box(const pl_mesh *mesh, double lo[3], double hi[3])
{
    for (int k = 0; k < 3; k++)
        lo[k] = hi[k] = mesh->vertex_count > 0 ? mesh->vertices[k] : 0;
    for (int64_t v = 1; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            lo[k] = fmin(lo[k], mesh->vertices[3 * v + k]);
            hi[k] = fmax(hi[k], mesh->vertices[3 * v + k]);
        }
}

static const double *vertex(const pl_mesh *mesh, int32_t v)
{
    return mesh->vertices + 3 * (int64_t)v;
}

/* Keeps the worst few elements, worst first; ties by index. */
static void keep_if_worst(pl_mesh_quality *out, double worst[PL_MESH_WORST], int64_t id, double q)
{
    out->worst_quality = fmin(out->worst_quality, q);
    out->poor += q < PL_MESH_POOR;
    if (out->worst_count == PL_MESH_WORST && !(q < worst[PL_MESH_WORST - 1]))
        return;
    int32_t at = out->worst_count < PL_MESH_WORST ? out->worst_count++ : PL_MESH_WORST - 1;
    for (; at > 0 && q < worst[at - 1]; at--) {
        worst[at] = worst[at - 1];
        out->worst[at] = out->worst[at - 1];
    }
    worst[at] = q;
    out->worst[at] = id;
}

static void measure_elements(const pl_mesh *mesh, pl_mesh_quality *out)
{
    double worst[PL_MESH_WORST], sum = 0;
    out->worst_quality = out->mean_quality = 1;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *c = mesh->tets + 4 * t;
        double volume, q = pl_mesh_tet_ratio(vertex(mesh, c[0]), vertex(mesh, c[1]),
                                             vertex(mesh, c[2]), vertex(mesh, c[3]), &volume);
        out->volume += volume;
        sum += q;
        keep_if_worst(out, worst, t, q);
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *c = mesh->triangles + 3 * t;
        double area, q = pl_mesh_triangle_ratio(vertex(mesh, c[0]), vertex(mesh, c[1]),
                                                vertex(mesh, c[2]), &area);
        out->area += area;
        sum += q;
        keep_if_worst(out, worst, mesh->tet_count + t, q);
    }
    for (int64_t e = 0; e < mesh->edge_count; e++) {
        double d[3];
        pl_vector_subtract(vertex(mesh, mesh->edges[2 * e]), vertex(mesh, mesh->edges[2 * e + 1]),
                           d);
        out->length += sqrt(pl_vector_dot(d, d));
    }
    int64_t measured = mesh->tet_count + mesh->triangle_count;
    if (measured > 0)
        out->mean_quality = sum / (double)measured;
}

static pl_status count_edges(const pl_mesh *mesh, pl_mesh_quality *out)
{
    pl_sheet_edges edges;
    pl_status status = pl_sheet_edges_create(mesh, &edges);
    if (status != PL_OK)
        return status;
    int64_t run, forward;
    for (int64_t i = 0; i < edges.count; i += run) {
        run = pl_sheet_edges_run(&edges, i, &forward);
        out->open_edges += run == 1;
        out->crowded_edges += run > 2;
        out->turned_edges += run == 2 && forward != 1;
    }
    pl_sheet_edges_destroy(&edges);
    return PL_OK;
}

pl_status pl_mesh_measure(const pl_mesh *mesh, pl_mesh_quality *out)
{
    *out = (pl_mesh_quality){0};
    int64_t components = count_components(mesh);
    if (components < 0)
        return PL_NO_MEMORY;
    out->components = components;
    measure_box(mesh, out->lo, out->hi);
    measure_elements(mesh, out);
    return mesh->triangle_count > 0 ? count_edges(mesh, out) : PL_OK;
}
