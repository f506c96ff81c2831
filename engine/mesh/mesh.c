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
    free(mesh->triangles);
    free(mesh->triangle_tags);
    free(mesh->edges);
    free(mesh->edge_tags);
    free(mesh->faces);
    free(mesh->face_tags);
    free(mesh->points);
    free(mesh->point_tags);
    for (int32_t i = 0; i < mesh->group_count; i++)
        free(mesh->groups[i].name);
    free(mesh->groups);
    for (int32_t i = 0; i < mesh->field_count; i++) {
        free(mesh->fields[i].name);
        free(mesh->fields[i].values);
    }
    free(mesh->fields);
    *mesh = (pl_mesh){0};
}

const pl_mesh_field *pl_mesh_find_field(const pl_mesh *mesh, const char *name)
{
    for (int32_t i = 0; i < mesh->field_count; i++)
        if (strcmp(mesh->fields[i].name, name) == 0)
            return &mesh->fields[i];
    return NULL;
}

static void mark_used(const int32_t *corners, int64_t count, int32_t *new_index)
{
    for (int64_t i = 0; i < count; i++)
        new_index[corners[i]] = 0;
}

/* new_index[v]: where vertex v goes, or -1 if no element uses it. */
static int64_t number_used(const pl_mesh *mesh, int32_t *new_index)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        new_index[v] = -1;
    mark_used(mesh->tets, 4 * mesh->tet_count, new_index);
    mark_used(mesh->triangles, 3 * mesh->triangle_count, new_index);
    mark_used(mesh->edges, 2 * mesh->edge_count, new_index);
    int64_t used = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (new_index[v] == 0)
            new_index[v] = (int32_t)used++;
    return used;
}

static void renumber_all(int32_t *corners, int64_t count, const int32_t *new_index)
{
    for (int64_t i = 0; i < count; i++)
        corners[i] = new_index[corners[i]];
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
        renumber_all(mesh->tets, 4 * mesh->tet_count, new_index);
        renumber_all(mesh->triangles, 3 * mesh->triangle_count, new_index);
        renumber_all(mesh->edges, 2 * mesh->edge_count, new_index);
        mesh->face_count = renumber(mesh->faces, mesh->face_tags, mesh->face_count, 3, new_index);
        mesh->point_count = renumber(mesh->points, mesh->point_tags, mesh->point_count, 1,
                                     new_index);
        mesh->unused += mesh->vertex_count - used;
        mesh->vertex_count = used;
    }
    free(new_index);
    return PL_OK;
}

/* One kind of element as it comes, and what it is called. */
typedef struct cells {
    const char *name;
    int corners;
    int64_t count;
    const int64_t *from;
    int32_t **to;
} cells;

/* The first few corners out of range, and how many there are. */
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
                       "Indices count from 0: 1-based ones need 1 taken off.",
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
        pl_faults_addf(faults, pointer, "mesh_limit", "at most 2147483647 of each",
                       "Use a coarser mesh.",
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
    typedef pl_status reader(const pl_blob *, pl_draft *, pl_mesh *);
    static reader *const readers[PL_MESH_FORMATS] = {
        [PL_MESH_GMSH] = pl_gmsh_read,     [PL_MESH_MEDIT] = pl_medit_read,
        [PL_MESH_OBJ] = pl_obj_read,       [PL_MESH_VTK] = pl_vtk_read,
        [PL_MESH_VTU] = pl_vtu_read,       [PL_MESH_VEGA] = pl_vega_read,
        [PL_MESH_ABAQUS] = pl_abaqus_read, [PL_MESH_STL] = pl_stl_read,
        [PL_MESH_PLY] = pl_ply_read};
    pl_status status = format == PL_MESH_TETGEN ? pl_tetgen_read(&blobs[0], &blobs[1], &draft, out)
                                                : readers[format](&blobs[0], &draft, out);
    pl_draft_clear(&draft);
    return status;
}
