#include "engine/mesh/mesh.h"

#include "engine/mesh/draft.h"
#include "engine/mesh/readers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pl_mesh_clear(pl_mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->tets);
    free(mesh->tet_tags);
    free(mesh->faces);
    free(mesh->face_tags);
    free(mesh->points);
    free(mesh->point_tags);
    for (int32_t i = 0; i < mesh->group_count; i++)
        free(mesh->groups[i].name);
    free(mesh->groups);
    *mesh = (pl_mesh){0};
}

/* new_index[v]: where vertex v goes, or -1 if no tetrahedron uses it. */
static int64_t number_used(const pl_mesh *mesh, int32_t *new_index)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        new_index[v] = -1;
    for (int64_t i = 0; i < 4 * mesh->tet_count; i++)
        new_index[mesh->tets[i]] = 0;
    int64_t used = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (new_index[v] == 0)
            new_index[v] = (int32_t)used++;
    return used;
}

/* Renumber tagged cells, keeping those whose every corner stays; returns how many did. */
static int64_t renumber(int32_t *cells, int32_t *tags, int64_t count, int corners,
                        const int32_t *new_index)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        bool whole = true;
        for (int k = 0; k < corners; k++)
            whole &= new_index[cells[i * corners + k]] >= 0;
        if (!whole)
            continue;
        for (int k = 0; k < corners; k++)
            cells[kept * corners + k] = new_index[cells[i * corners + k]];
        tags[kept++] = tags[i];
    }
    return kept;
}

pl_status pl_mesh_drop_unused(pl_mesh *mesh)
{
    int32_t *new_index = malloc((size_t)(mesh->vertex_count + 1) * sizeof *new_index);
    if (!new_index)
        return PL_NO_MEMORY;
    int64_t used = number_used(mesh, new_index);
    if (used < mesh->vertex_count) {
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            if (new_index[v] >= 0)
                memmove(mesh->vertices + 3 * (int64_t)new_index[v], mesh->vertices + 3 * v,
                        3 * sizeof *mesh->vertices);
        for (int64_t i = 0; i < 4 * mesh->tet_count; i++)
            mesh->tets[i] = new_index[mesh->tets[i]];
        mesh->face_count = renumber(mesh->faces, mesh->face_tags, mesh->face_count, 3, new_index);
        mesh->point_count = renumber(mesh->points, mesh->point_tags, mesh->point_count, 1,
                                     new_index);
        mesh->unused += mesh->vertex_count - used;
        mesh->vertex_count = used;
    }
    free(new_index);
    return PL_OK;
}

/* The first few corners out of range, and how many there are. */
static bool judge_indices(int64_t nv, int64_t nt, const int64_t *tets, const char *pointer,
                          pl_faults *faults)
{
    enum { TOLD = 4 };
    int64_t bad = 0, first[TOLD];
    for (int64_t i = 0; i < 4 * nt; i++)
        if (tets[i] < 0 || tets[i] >= nv) {
            if (bad < TOLD)
                first[bad] = i;
            bad++;
        }
    for (int64_t k = 0; k < bad && k < TOLD; k++)
        pl_faults_addf(faults, pointer, "mesh_index", "0-based indices below the vertex count",
                       "Indices count from 0: 1-based ones need 1 taken off.",
                       "element %" PRId64 ": vertex %" PRId64 " of %" PRId64 " (%" PRId64
                       " such corners in all)",
                       first[k] / 4, tets[first[k]], nv, bad);
    return bad == 0;
}

pl_status pl_mesh_from_arrays(int64_t nv, const double *vertices, int64_t nt, const int64_t *tets,
                              const char *pointer, pl_mesh *out, pl_faults *faults)
{
    *out = (pl_mesh){0};
    if (nv < 0 || nt < 0 || nv > INT32_MAX || nt > INT32_MAX) {
        pl_faults_addf(faults, pointer, "mesh_limit", "at most 2147483647 of each",
                       "Use a coarser mesh.", "%" PRId64 " vertices and %" PRId64 " tetrahedra", nv,
                       nt);
        return PL_INVALID;
    }
    if (!judge_indices(nv, nt, tets, pointer, faults))
        return PL_INVALID;
    pl_mesh mesh = {
        .vertex_count = nv,
        .vertices = malloc((size_t)(3 * nv + 1) * sizeof(double)),
        .tet_count = nt,
        .tets = malloc((size_t)(4 * nt + 1) * sizeof(int32_t)),
    };
    pl_status status = mesh.vertices && mesh.tets ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK) {
        if (nv > 0)
            memcpy(mesh.vertices, vertices, (size_t)(3 * nv) * sizeof *vertices);
        for (int64_t i = 0; i < 4 * nt; i++)
            mesh.tets[i] = (int32_t)tets[i];
        status = pl_mesh_drop_unused(&mesh);
    }
    if (status == PL_OK)
        *out = mesh;
    else
        pl_mesh_clear(&mesh);
    return status;
}

pl_status pl_mesh_read(pl_mesh_format format, const pl_blob *blobs, const pl_mesh_limits *limits,
                       const char *pointer, pl_mesh *out, pl_faults *faults)
{
    *out = (pl_mesh){0};
    pl_draft draft;
    pl_draft_init(&draft, limits, pointer, faults);
    pl_status status = PL_INVALID;
    switch (format) {
    case PL_MESH_GMSH:
        status = pl_gmsh_read(&blobs[0], &draft, out);
        break;
    case PL_MESH_TETGEN:
        status = pl_tetgen_read(&blobs[0], &blobs[1], &draft, out);
        break;
    case PL_MESH_MEDIT:
        status = pl_medit_read(&blobs[0], &draft, out);
        break;
    }
    pl_draft_clear(&draft);
    return status;
}
