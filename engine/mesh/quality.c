#include "engine/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>

static void subtract(const double *a, const double *b, double *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Radius ratio of a tetrahedron with edges u, v, w from one corner (Shewchuk 2002, "What is a good
 * linear element?"): with D = u . (v x w) = 6 V and A the sum of the four face areas,
 *   r = 3 V / A,   R = | |u|^2 v x w + |v|^2 w x u + |w|^2 u x v | / 2 |D|,
 *   q = 3 r / R = 3 D^2 / (A | .. |),
 * 1 for the regular tetrahedron; 0 is returned for a flat or inverted one. */
static double radius_ratio(const double *a, const double *b, const double *c, const double *d,
                           double *volume)
{
    double u[3], v[3], w[3], vw[3], wu[3], uv[3], p[3], q[3], pq[3], z[3];
    subtract(b, a, u);
    subtract(c, a, v);
    subtract(d, a, w);
    cross(v, w, vw);
    cross(w, u, wu);
    cross(u, v, uv);
    subtract(v, u, p);
    subtract(w, u, q);
    cross(p, q, pq);
    double D = dot(u, vw);
    double A = 0.5 *
               (sqrt(dot(vw, vw)) + sqrt(dot(wu, wu)) + sqrt(dot(uv, uv)) + sqrt(dot(pq, pq)));
    for (int k = 0; k < 3; k++)
        z[k] = dot(u, u) * vw[k] + dot(v, v) * wu[k] + dot(w, w) * uv[k];
    double below = A * sqrt(dot(z, z));
    *volume = D / 6;
    return D > 0 && below > 0 ? fmin(3 * D * D / below, 1) : 0;
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

/* Pieces joined by common vertices; a vertex of no tetrahedron is none. -1 if out of memory. */
static int64_t count_components(const pl_mesh *mesh)
{
    int32_t *parent = malloc((size_t)(mesh->vertex_count + 1) * sizeof *parent);
    if (!parent)
        return -1;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        parent[v] = -1;
    int64_t count = 0;
    for (int64_t i = 0; i < 4 * mesh->tet_count; i++) {
        int32_t v = mesh->tets[i];
        if (parent[v] < 0) {
            parent[v] = v;
            count++;
        }
    }
    for (int64_t t = 0; t < mesh->tet_count; t++)
        for (int k = 1; k < 4; k++) {
            int32_t a = find_root(parent, mesh->tets[4 * t]);
            int32_t b = find_root(parent, mesh->tets[4 * t + k]);
            /* The lower number is the root: near-linear with path halving. */
            parent[a > b ? a : b] = a < b ? a : b;
            count -= a != b;
        }
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

pl_status pl_mesh_measure(const pl_mesh *mesh, pl_mesh_quality *out)
{
    *out = (pl_mesh_quality){0};
    int64_t components = count_components(mesh);
    if (components < 0)
        return PL_NO_MEMORY;
    out->components = components;
    measure_box(mesh, out->lo, out->hi);
    double worst = 1, sum = 0;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *corner = mesh->tets + 4 * t;
        double volume, q = radius_ratio(mesh->vertices + 3 * (int64_t)corner[0],
                                        mesh->vertices + 3 * (int64_t)corner[1],
                                        mesh->vertices + 3 * (int64_t)corner[2],
                                        mesh->vertices + 3 * (int64_t)corner[3], &volume);
        out->volume += volume;
        worst = fmin(worst, q);
        sum += q;
    }
    if (mesh->tet_count > 0) {
        out->worst_quality = worst;
        out->mean_quality = sum / (double)mesh->tet_count;
    }
    return PL_OK;
}
