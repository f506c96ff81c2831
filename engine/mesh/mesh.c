#include "engine/mesh/mesh.h"

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

/* new_index[v]: new index of vertex v, or -1 if no element uses it. */
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

/* Renumbers tagged cells, keeping those whose corners all stay; returns their number. */
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

pl_status pl_mesh_remove_unused(pl_mesh *mesh)
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
