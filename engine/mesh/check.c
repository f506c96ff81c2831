#include "engine/mesh/check.h"
#include "engine/mesh/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- vertices and corners ---- */

/* Beyond this, m, volumes overflow before anything is simulated. */
static const double coordinate_limit = 1e15;

static void check_vertices(pl_check *c)
{
    pl_finding wild = {0};
    for (int64_t v = 0; v < c->mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(c->mesh->vertices[3 * v + k]) <= coordinate_limit)) {
                pl_finding_note(&wild, v, c->mesh->vertices[3 * v + k]);
                break;
            }
    pl_check_tell(c, &wild, "vertex", "mesh_number",
                  (const char *[]){"finite coordinates, up to 1e15 m", "Correct the vertices."},
                  "a coordinate is %g", wild.value[0]);
}

static void check_corners(pl_check *c, const pl_check_cells *cells)
{
    int corners = cells->corners;
    pl_finding outside = {0}, repeated = {0};
    for (int64_t t = 0; t < cells->count; t++) {
        const int32_t *p = cells->corner + corners * t;
        bool out = false, twice = false;
        for (int k = 0; k < corners; k++) {
            if (!out && (p[k] < 0 || p[k] >= c->mesh->vertex_count)) {
                pl_finding_note(&outside, t, p[k]);
                out = true;
            }
            for (int l = 0; l < k; l++)
                twice |= p[k] == p[l];
        }
        if (twice)
            pl_finding_note(&repeated, t, 0);
    }
    pl_check_tell(c, &outside, cells->unit, "mesh_index",
                  (const char *[]){"indices from 0, below the number of vertices",
                                   "Indices count from 0: subtract 1 from 1-based ones."},
                  "vertex %.0f of %" PRId64, outside.value[0], c->mesh->vertex_count);
    pl_check_tell(c, &repeated, cells->unit, "mesh_corners", cells->different,
                  "it has a vertex twice");
}

/* ---- duplicates ---- */

static pl_status check_duplicates(pl_check *c, const pl_check_cells *cells)
{
    int64_t n = cells->count, *order = NULL;
    int corners = cells->corners;
    int32_t *keys = malloc((size_t)(corners * n + 1) * sizeof *keys);
    if (!keys)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < corners * n; i++)
        keys[i] = cells->corner[i];
    for (int64_t t = 0; t < n; t++)
        pl_order_corners(keys + corners * t, corners);
    pl_status status = pl_order_records(keys, n, corners, (int32_t)c->mesh->vertex_count, &order);
    pl_finding twice = {0};
    for (int64_t i = 1; status == PL_OK && i < n; i++)
        if (pl_order_equal(keys, corners, order[i - 1], order[i]))
            pl_finding_note(&twice, order[i], (double)order[i - 1]);
    pl_check_tell(c, &twice, cells->unit, "mesh_duplicate", cells->once,
                  "the same vertices as %s %.0f", cells->unit, twice.value[0]);
    free(order);
    free(keys);
    return status;
}

/* ---- shape ---- */

/* det[b-a, c-a, d-a] / L^3 with L the longest edge, so that neither a tiny nor a huge mesh overflows or underflows:
 * 1 / sqrt 2 for the regular tetrahedron. NaN if L is not finite or 0. *volume in m^3.
 */
static double relative_determinant(const pl_mesh *mesh, int64_t t, double *volume)
{
    const int32_t *corner = mesh->tets + 4 * t;
    double e[6][3], longest = 0;
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int i = 0; i < 6; i++) {
        const double *from = mesh->vertices + 3 * (int64_t)corner[ends[i][0]];
        const double *to = mesh->vertices + 3 * (int64_t)corner[ends[i][1]];
        for (int k = 0; k < 3; k++)
            e[i][k] = to[k] - from[k];
        longest = fmax(longest, hypot(hypot(e[i][0], e[i][1]), e[i][2]));
    }
    *volume = 0;
    if (longest < pl_check_least_length)
        return 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            e[i][k] /= longest;
    double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                 e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                 e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    *volume = det * longest * longest * longest / 6;
    return det;
}

static pl_finding check_shape(pl_check *c, pl_mesh_orientation orientation)
{
    pl_finding flat = {0}, negative = {0};
    for (int64_t t = 0; t < c->mesh->tet_count; t++) {
        double volume, det = relative_determinant(c->mesh, t, &volume);
        if (!(fabs(det) > pl_check_flat))
            pl_finding_note(&flat, t, det);
        else if (det < 0)
            pl_finding_note(&negative, t, volume);
    }
    pl_check_tell(c, &flat, "element", "mesh_degenerate",
                  (const char *[]){"|6 volume| above 1e-12 longest edge^3, and an edge of 1e-60 m",
                                   "Remove the flat tetrahedra, or mesh the solid again."},
                  "flat: 6 volume / longest edge^3 is %.3g", flat.value[0]);
    if (orientation == PL_MESH_ORIENTATION_REFUSE)
        pl_check_tell(
            c, &negative, "element", "mesh_orientation",
            (const char *[]){"positive volume",
                             "Swap two corners of each, or let the orientation be repaired."},
            "negative volume %.6g m^3", negative.value[0]);
    return negative;
}

static void repair(pl_mesh *mesh)
{
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        double volume;
        if (!(relative_determinant(mesh, t, &volume) < 0))
            continue;
        int32_t *corner = mesh->tets + 4 * t, swap = corner[2];
        corner[2] = corner[3];
        corner[3] = swap;
        mesh->repaired++;
    }
}

static const char gmsh_hint[] =
    "MSH 2.2 writes an element once for each of its physical groups: save as MSH 4.1, or put each "
    "entity in one group.";

pl_status pl_mesh_check(pl_mesh *mesh, pl_mesh_orientation orientation, const char *pointer,
                        pl_faults *faults)
{
    enum { KINDS = 3 };
    pl_check c = {mesh, pointer, faults, false};
    const pl_check_cells kinds[KINDS] = {
        {"element",
         4,
         mesh->tet_count,
         mesh->tets,
         {"four different vertices", "Remove the collapsed tetrahedra."},
         {"every tetrahedron once", gmsh_hint}},
        {"triangle",
         3,
         mesh->triangle_count,
         mesh->triangles,
         {"three different vertices", "Remove the collapsed triangles."},
         {"every triangle once", gmsh_hint}},
        {"edge",
         2,
         mesh->edge_count,
         mesh->edges,
         {"two different vertices", "Remove the collapsed edges."},
         {"every edge once", gmsh_hint}},
    };
    if (pl_mesh_element_count(mesh) == 0) {
        pl_faults_addf(faults, pointer, "mesh_empty", "at least one tetrahedron, triangle or edge",
                       "", "%" PRId64 " vertices and no elements", mesh->vertex_count);
        return PL_INVALID;
    }
    check_vertices(&c);
    for (int k = 0; k < KINDS; k++)
        check_corners(&c, &kinds[k]);
    if (c.bad)
        return PL_INVALID;
    for (int k = 0; k < KINDS; k++) {
        pl_status status = kinds[k].count > 0 ? check_duplicates(&c, &kinds[k]) : PL_OK;
        if (status != PL_OK)
            return status;
    }
    pl_finding negative = check_shape(&c, orientation);
    pl_check_sheets(&c);
    if (c.bad)
        return PL_INVALID;
    if (negative.count > 0)
        repair(mesh);
    return PL_OK;
}
