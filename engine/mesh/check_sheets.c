/* Checks of triangles and edges. */
#include "engine/mesh/check.h"
#include "engine/mesh/order.h"
#include "engine/mesh/sheet_edges.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double distance(const double *a, const double *b)
{
    return hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
}

/* |n| / L^2 with n the normal of twice the area and L the longest edge: scaled first, so that nothing overflows or
 * underflows. NaN if L is 0. */
static double relative_area(const pl_mesh *mesh, int64_t t)
{
    const int32_t *corner = mesh->triangles + 3 * t;
    const double *a = mesh->vertices + 3 * (int64_t)corner[0];
    const double *b = mesh->vertices + 3 * (int64_t)corner[1];
    const double *c = mesh->vertices + 3 * (int64_t)corner[2];
    double longest = fmax(distance(a, b), fmax(distance(b, c), distance(c, a))), u[3], v[3];
    if (longest < pl_check_least_length)
        return 0;
    for (int k = 0; k < 3; k++) {
        u[k] = (b[k] - a[k]) / longest;
        v[k] = (c[k] - a[k]) / longest;
    }
    return hypot(hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2]),
                 u[0] * v[1] - u[1] * v[0]);
}

/* The diagonal of the mesh's bounding box: the reference for short edges. */
static double mesh_extent(const pl_mesh *mesh)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        lo[i % 3] = fmin(lo[i % 3], mesh->vertices[i]);
        hi[i % 3] = fmax(hi[i % 3], mesh->vertices[i]);
    }
    return distance(lo, hi);
}

void pl_check_sheets(pl_check *c)
{
    const pl_mesh *mesh = c->mesh;
    pl_finding flat = {0}, none = {0};
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        double area = relative_area(mesh, t);
        if (!(area > pl_check_flat))
            pl_finding_note(&flat, t, area);
    }
    double extent = mesh->edge_count > 0 ? mesh_extent(mesh) : 0;
    for (int64_t e = 0; e < mesh->edge_count; e++) {
        double length = distance(mesh->vertices + 3 * (int64_t)mesh->edges[2 * e],
                                 mesh->vertices + 3 * (int64_t)mesh->edges[2 * e + 1]);
        if (!(length > pl_check_flat * extent && length > pl_check_least_length))
            pl_finding_note(&none, e, length);
    }
    pl_check_tell(
        c, &flat, "triangle", "mesh_degenerate",
        (const char *[]){"twice the area above 1e-12 longest edge^2, and an edge of 1e-60 m",
                         "Remove the collapsed triangles, or mesh the surface again."},
        "flat: 2 area / longest edge^2 is %.3g", flat.value[0]);
    pl_check_tell(c, &none, "edge", "mesh_degenerate",
                  (const char *[]){"a length above 1e-12 of the mesh's extent, and above 1e-60 m",
                                   "Join the vertices at one place."},
                  "its length is %.3g m", none.value[0]);
}

/* ---- closed surfaces ---- */

/* Adds one fault for the edges with the same defect, with the ends of the first. */
static void tell_edges(pl_check *c, const pl_finding *f, const pl_sheet_edges *edges,
                       const char *code, const char *const advice[2], const char *what)
{
    if (f->count == 0)
        return;
    int64_t first = f->id[0];
    pl_faults_addf(c->faults, c->pointer, code, advice[0], advice[1],
                   "the edge from vertex %" PRId32 " to vertex %" PRId32 " %s; %" PRId64
                   " such edges in all",
                   edges->keys[2 * edges->order[first]], edges->keys[2 * edges->order[first] + 1],
                   what, f->count);
    c->bad = true;
}

pl_status pl_mesh_check_closed(const pl_mesh *mesh, const char *pointer, pl_faults *faults)
{
    pl_check c = {mesh, pointer, faults, false};
    pl_sheet_edges edges;
    if (mesh->triangle_count == 0) {
        pl_faults_add(faults, pointer, "mesh_empty", "no triangles",
                      "a closed surface of triangles", "");
        return PL_INVALID;
    }
    pl_status status = pl_sheet_edges_create(mesh, &edges);
    if (status != PL_OK)
        return status;
    pl_finding open = {0}, crowded = {0}, turned = {0};
    int64_t run;
    for (int64_t i = 0; i < edges.count; i += run) {
        int64_t forward;
        run = pl_sheet_edges_run(&edges, i, &forward);
        if (run == 1)
            pl_finding_note(&open, i, 0);
        else if (run > 2)
            pl_finding_note(&crowded, i, 0);
        else if (forward != 1)
            pl_finding_note(&turned, i, 0);
    }
    tell_edges(&c, &open, &edges, "mesh_open",
               (const char *[]){"two triangles at every edge: a surface without holes",
                                "Close the surface in the program that made it."},
               "has one triangle");
    tell_edges(
        &c, &crowded, &edges, "mesh_not_manifold",
        (const char *[]){"two triangles at every edge", "Remove inner walls and repeated parts."},
        "has more than two triangles");
    tell_edges(&c, &turned, &edges, "mesh_orientation",
               (const char *[]){"neighbouring triangles that face the same side",
                                "Make the normals agree in the program that made it."},
               "has the same direction in both of its triangles");
    pl_sheet_edges_destroy(&edges);
    return c.bad ? PL_INVALID : PL_OK;
}
