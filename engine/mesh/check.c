#include "engine/mesh/mesh.h"
#include "engine/mesh/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Everything of one kind that is wrong: the first few ids and how many there are. */
enum { TOLD = 5 };
typedef struct finding {
    int64_t count;
    int64_t id[TOLD];
    double value[TOLD]; /* what is told about the first */
} finding;

static void note(finding *f, int64_t id, double value)
{
    if (f->count < TOLD) {
        f->id[f->count] = id;
        f->value[f->count] = value;
    }
    f->count++;
}

/* ", also 3, 5, 9 and 12 more" */
static const char *others(const finding *f, char out[160])
{
    int used = 0;
    out[0] = 0;
    for (int64_t i = 1; i < f->count && i < TOLD; i++)
        used += snprintf(out + used, 160 - (size_t)used, "%s%" PRId64, i == 1 ? "; also " : ", ",
                         f->id[i]);
    if (f->count > TOLD)
        snprintf(out + used, 160 - (size_t)used, " and %" PRId64 " more", f->count - TOLD);
    return out;
}

typedef struct check {
    const pl_mesh *mesh;
    const char *pointer;
    pl_faults *faults;
    bool bad;
} check;

/* One fault for a kind of finding; `what` says it of the first, %g taking its value. */
__attribute__((format(printf, 6, 7))) static void tell(check *c, const finding *f, const char *unit,
                                                       const char *code, const char *advice[2],
                                                       const char *what, ...)
{
    if (f->count == 0)
        return;
    char said[160], rest[160];
    va_list args;
    va_start(args, what);
    vsnprintf(said, sizeof said, what, args);
    va_end(args);
    pl_faults_addf(c->faults, c->pointer, code, advice[0], advice[1], "%s %" PRId64 ": %s%s", unit,
                   f->id[0], said, others(f, rest));
    c->bad = true;
}

/* ---- vertices and corners ---------------------------------------------------------------------
 */

/* Beyond this, m, volumes overflow before anything is simulated. */
static const double coordinate_limit = 1e15;

static void check_vertices(check *c)
{
    finding wild = {0};
    for (int64_t v = 0; v < c->mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(c->mesh->vertices[3 * v + k]) <= coordinate_limit)) {
                note(&wild, v, c->mesh->vertices[3 * v + k]);
                break;
            }
    tell(c, &wild, "vertex", "mesh_number",
         (const char *[]){"finite coordinates, up to 1e15 m", "Correct the vertices."},
         "a coordinate is %g", wild.value[0]);
}

static void check_corners(check *c)
{
    const pl_mesh *mesh = c->mesh;
    finding outside = {0}, repeated = {0};
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *p = mesh->tets + 4 * t;
        for (int k = 0; k < 4; k++)
            if (p[k] < 0 || p[k] >= mesh->vertex_count) {
                note(&outside, t, p[k]);
                break;
            }
        if (p[0] == p[1] || p[0] == p[2] || p[0] == p[3] || p[1] == p[2] || p[1] == p[3] ||
            p[2] == p[3])
            note(&repeated, t, 0);
    }
    tell(c, &outside, "element", "mesh_index",
         (const char *[]){"indices from 0, below the number of vertices",
                          "Indices count from 0: 1-based ones need 1 taken off."},
         "vertex %.0f of %" PRId64, outside.value[0], mesh->vertex_count);
    tell(c, &repeated, "element", "mesh_corners",
         (const char *[]){"four different vertices", "Remove the collapsed tetrahedra."},
         "a vertex stands twice in it");
}

/* ---- duplicates -------------------------------------------------------------------------------
 */

static pl_status check_duplicates(check *c)
{
    const pl_mesh *mesh = c->mesh;
    int64_t n = mesh->tet_count, *order = NULL;
    int32_t *keys = malloc((size_t)(4 * n + 1) * sizeof *keys);
    if (!keys)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < 4 * n; i++)
        keys[i] = mesh->tets[i];
    for (int64_t t = 0; t < n; t++)
        pl_order_corners(keys + 4 * t, 4);
    pl_status status = pl_order_records(keys, n, 4, (int32_t)mesh->vertex_count, &order);
    finding twice = {0};
    for (int64_t i = 1; status == PL_OK && i < n; i++)
        if (pl_order_equal(keys, 4, order[i - 1], order[i]))
            note(&twice, order[i], (double)order[i - 1]);
    tell(c, &twice, "element", "mesh_duplicate",
         (const char *[]){"every tetrahedron once",
                          "MSH 2.2 writes an element once for each of its physical groups: "
                          "save as MSH 4.1, or put each volume in one group."},
         "the same four vertices as element %.0f", twice.value[0]);
    free(order);
    free(keys);
    return status;
}

/* ---- shape ------------------------------------------------------------------------------------
 */

/* det[b-a, c-a, d-a] / L^3 with L the longest edge, so that neither a tiny nor a huge mesh over- or
 * underflows: 1 / sqrt 2 for the regular tetrahedron. NaN if L is not finite or 0. *volume in m^3.
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
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            e[i][k] /= longest;
    double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                 e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                 e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    *volume = det * longest * longest * longest / 6;
    return det;
}

/* 1e-12 is far above the rounding of det (about 1e-15) and far below the flattest useful element.
 */
static const double flat_limit = 1e-12;

static finding check_shape(check *c, pl_mesh_orientation orientation)
{
    finding flat = {0}, negative = {0};
    for (int64_t t = 0; t < c->mesh->tet_count; t++) {
        double volume, det = relative_determinant(c->mesh, t, &volume);
        if (!(fabs(det) > flat_limit))
            note(&flat, t, det);
        else if (det < 0)
            note(&negative, t, volume);
    }
    tell(c, &flat, "element", "mesh_degenerate",
         (const char *[]){"|6 volume| above 1e-12 longest edge^3",
                          "Remove the flat tetrahedra, or mesh the solid again."},
         "flat: 6 volume / longest edge^3 is %.3g", flat.value[0]);
    if (orientation == PL_MESH_ORIENTATION_REFUSE)
        tell(c, &negative, "element", "mesh_orientation",
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

pl_status pl_mesh_check(pl_mesh *mesh, pl_mesh_orientation orientation, const char *pointer,
                        pl_faults *faults)
{
    check c = {mesh, pointer, faults, false};
    if (mesh->tet_count == 0) {
        pl_faults_addf(faults, pointer, "mesh_empty", "at least one tetrahedron", "",
                       "%" PRId64 " vertices and no tetrahedra", mesh->vertex_count);
        return PL_INVALID;
    }
    check_vertices(&c);
    check_corners(&c);
    if (c.bad)
        return PL_INVALID;
    pl_status status = check_duplicates(&c);
    if (status != PL_OK)
        return status;
    finding negative = check_shape(&c, orientation);
    if (c.bad)
        return PL_INVALID;
    if (negative.count > 0)
        repair(mesh);
    return PL_OK;
}
