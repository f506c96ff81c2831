/* Creates a mesh from arrays, whose indices are unchecked. */
#include "engine/mesh/mesh.h"
#include "engine/mesh/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Input for one kind of element, and its name. */
typedef struct cells {
    const char *name;
    int corners;
    int64_t count;
    const int64_t *from;
    int32_t **to;
} cells;

/* The first few corners out of range, and their number. */
static bool check_indices(int64_t nv, const cells *c, const char *pointer, pl_faults *faults)
{
    enum { TOLD = 4 };
    int64_t bad = 0, first[TOLD];
    for (int64_t i = 0; i < c->corners * c->count; i++)
        if (c->from[i] < 0 || c->from[i] >= nv) {
            if (bad < TOLD)
                first[bad] = i;
            bad++;
        }
    for (int64_t k = 0; k < bad && k < TOLD; k++)
        pl_faults_addf(faults, pointer, "mesh_index", "0-based indices below the vertex count",
                       "Indices count from 0: subtract 1 from 1-based ones.",
                       "%s %" PRId64 ": vertex %" PRId64 " of %" PRId64 " (%" PRId64
                       " such corners in all)",
                       c->name, first[k] / c->corners, c->from[first[k]], nv, bad);
    return bad == 0;
}

static pl_status copy_cells(const cells *c)
{
    if (c->count == 0)
        return PL_OK;
    *c->to = malloc((size_t)(c->corners * c->count) * sizeof(int32_t));
    if (!*c->to)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < c->corners * c->count; i++)
        (*c->to)[i] = (int32_t)c->from[i];
    return PL_OK;
}

pl_status pl_mesh_from_arrays(const pl_mesh_arrays *a, const char *pointer, pl_mesh *out,
                              pl_faults *faults)
{
    enum { KINDS = 3 };
    int64_t nv = a->vertex_count;
    *out = (pl_mesh){0};
    pl_mesh mesh = {.vertex_count = nv,
                    .tet_count = a->tet_count,
                    .triangle_count = a->triangle_count,
                    .edge_count = a->edge_count};
    const cells kinds[KINDS] = {{"element", 4, a->tet_count, a->tets, &mesh.tets},
                                {"triangle", 3, a->triangle_count, a->triangles, &mesh.triangles},
                                {"edge", 2, a->edge_count, a->edges, &mesh.edges}};
    bool fits = nv >= 0 && nv <= INT32_MAX, fine = true;
    for (int k = 0; k < KINDS; k++)
        fits &= kinds[k].count >= 0 && kinds[k].count <= INT32_MAX;
    if (!fits) {
        pl_faults_addf(faults, pointer, "mesh_limit", "at most 2147483647 of each", PL_HINT_COARSER,
                       "%" PRId64 " vertices, %" PRId64 " tetrahedra, %" PRId64
                       " triangles and %" PRId64 " edges",
                       nv, a->tet_count, a->triangle_count, a->edge_count);
        return PL_INVALID;
    }
    for (int k = 0; k < KINDS; k++)
        fine &= check_indices(nv, &kinds[k], pointer, faults);
    if (!fine)
        return PL_INVALID;
    mesh.vertices = malloc((size_t)(3 * nv + 1) * sizeof(double));
    pl_status status = mesh.vertices ? PL_OK : PL_NO_MEMORY;
    for (int k = 0; k < KINDS && status == PL_OK; k++)
        status = copy_cells(&kinds[k]);
    if (status == PL_OK) {
        if (nv > 0)
            memcpy(mesh.vertices, a->vertices, (size_t)(3 * nv) * sizeof *a->vertices);
        status = pl_mesh_remove_unused(&mesh);
    }
    if (status == PL_OK)
        *out = mesh;
    else
        pl_mesh_clear(&mesh);
    return status;
}
