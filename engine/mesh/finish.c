#include "engine/mesh/draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Node tag -> vertex index. A table where the tags are dense, else sorted pairs: both cost memory
 * in proportion to the nodes, and no choice of tags makes a look-up slower than a binary search. */
typedef struct tag_pair {
    int64_t tag;
    int32_t index;
} tag_pair;

typedef struct tag_map {
    int64_t count, low, high;
    int32_t *table;  /* [high - low + 1], -1 = no such node; or NULL */
    tag_pair *pairs; /* [count] by tag, then index; or NULL */
} tag_map;

static int compare_pairs(const void *left, const void *right)
{
    const tag_pair *a = left, *b = right;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int32_t map_find(const tag_map *map, int64_t tag)
{
    if (map->count == 0 || tag < map->low || tag > map->high)
        return -1;
    if (map->table)
        return map->table[tag - map->low];
    int64_t low = 0, high = map->count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (map->pairs[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return map->pairs[low].tag == tag ? map->pairs[low].index : -1;
}

static void repeated_node(pl_draft *draft, const pl_place *place, int32_t first, int32_t again)
{
    pl_draft_fault(draft, place, place->base + draft->node_where[again], "mesh_duplicate",
                   "every node number once", "Renumber the nodes.",
                   "node %" PRId64 " is given again (nodes %" PRId32 " and %" PRId32
                   " of the file, counting from 0)",
                   draft->node_tags[again], first, again);
}

static bool map_build_table(tag_map *map, pl_draft *draft, const pl_place *place)
{
    size_t range = (size_t)(map->high - map->low) + 1;
    map->table = malloc(range * sizeof *map->table);
    if (!map->table)
        return false;
    memset(map->table, -1, range * sizeof *map->table);
    for (int64_t i = 0; i < draft->node_count; i++) {
        int32_t *entry = &map->table[draft->node_tags[i] - map->low];
        if (*entry >= 0)
            repeated_node(draft, place, *entry, (int32_t)i);
        else
            *entry = (int32_t)i;
    }
    return true;
}

static bool map_build_pairs(tag_map *map, pl_draft *draft, const pl_place *place)
{
    map->pairs = malloc((size_t)map->count * sizeof *map->pairs);
    if (!map->pairs)
        return false;
    for (int64_t i = 0; i < map->count; i++)
        map->pairs[i] = (tag_pair){draft->node_tags[i], (int32_t)i};
    qsort(map->pairs, (size_t)map->count, sizeof *map->pairs, compare_pairs);
    for (int64_t i = 1; i < map->count; i++)
        if (map->pairs[i].tag == map->pairs[i - 1].tag)
            repeated_node(draft, place, map->pairs[i - 1].index, map->pairs[i].index);
    return true;
}

static void map_build(tag_map *map, pl_draft *draft, const pl_place *place)
{
    *map = (tag_map){.count = draft->node_count};
    if (map->count == 0)
        return;
    map->low = map->high = draft->node_tags[0];
    for (int64_t i = 1; i < map->count; i++) {
        int64_t tag = draft->node_tags[i];
        map->low = tag < map->low ? tag : map->low;
        map->high = tag > map->high ? tag : map->high;
    }
    uint64_t range = (uint64_t)map->high - (uint64_t)map->low;
    bool dense = range < 4 * (uint64_t)map->count + 1024;
    bool built = dense ? map_build_table(map, draft, place) : map_build_pairs(map, draft, place);
    if (!built)
        draft->no_memory = draft->stopped = true;
}

static void map_clear(tag_map *map)
{
    free(map->table);
    free(map->pairs);
}

static void unknown_node(pl_draft *draft, const pl_place *place, const tag_map *map,
                         const char *what, int64_t cell, int64_t where, int64_t tag)
{
    char expected[96];
    if (map->count == 0)
        snprintf(expected, sizeof expected, "the nodes, of which the file has none");
    else
        snprintf(expected, sizeof expected, "one of the %" PRId64 " nodes, %" PRId64 " to %" PRId64,
                 map->count, map->low, map->high);
    pl_draft_fault(draft, place, place->base + where, "mesh_index", expected,
                   "Nodes and elements must be of the same mesh.",
                   "%s %" PRId64 " (counting from 0) has node %" PRId64
                   ", which the file does not have",
                   what, cell, tag);
}

/* Tags of `cells` to indices, malloc'ed; NULL if there are none or the draft stopped. */
static int32_t *resolve(pl_draft *draft, const pl_place *place, const tag_map *map,
                        const pl_draft_cells *cells, const char *what)
{
    if (draft->stopped || cells->count == 0)
        return NULL;
    int64_t n = cells->count * cells->corners;
    int32_t *indices = malloc((size_t)n * sizeof *indices);
    if (!indices)
        draft->no_memory = draft->stopped = true;
    for (int64_t i = 0; i < n && !draft->stopped; i++) {
        indices[i] = map_find(map, cells->nodes[i]);
        if (indices[i] >= 0)
            continue;
        int64_t cell = i / cells->corners;
        unknown_node(draft, place, map, what, cell, cells->where[cell], cells->nodes[i]);
        i = (cell + 1) * cells->corners - 1; /* one fault a cell */
    }
    return indices;
}

static bool any_tag(const pl_draft_cells *cells)
{
    for (int64_t i = 0; i < cells->count; i++)
        if (cells->tags[i] != 0)
            return true;
    return false;
}

/* Without tetrahedra the triangles are elements, without those the lines. */
static bool has_sheets(const pl_draft *draft)
{
    return draft->sheets && draft->tets.count == 0 && draft->faces.count > 0;
}

static bool has_ropes(const pl_draft *draft)
{
    return draft->sheets && draft->tets.count == 0 && draft->faces.count == 0 &&
           draft->lines.count > 0;
}

/* Elements out of cells: a cell of several groups is in the draft once for each of them, at one
 * place of the file, and has the first. PL_NO_MEMORY, or PL_OK. */
static pl_status promote(const pl_draft_cells *cells, const int32_t *indices, int32_t **corner,
                         int32_t **tags, int64_t *count)
{
    size_t width = (size_t)cells->corners;
    *corner = malloc((size_t)cells->count * width * sizeof **corner);
    *tags = any_tag(cells) ? malloc((size_t)cells->count * sizeof **tags) : NULL;
    if (!*corner || (any_tag(cells) && !*tags))
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < cells->count; i++) {
        if (i > 0 && cells->where[i] == cells->where[i - 1])
            continue;
        memcpy(*corner + (size_t)*count * width, indices + (size_t)i * width,
               width * sizeof **corner);
        if (*tags)
            (*tags)[*count] = cells->tags[i];
        (*count)++;
    }
    return PL_OK;
}

/* Only tagged triangles are kept beside the elements. */
static void keep_tagged(pl_mesh *mesh)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < mesh->face_count; i++) {
        if (mesh->face_tags[i] == 0)
            continue;
        for (int k = 0; k < 3; k++)
            mesh->faces[3 * kept + k] = mesh->faces[3 * i + k];
        mesh->face_tags[kept++] = mesh->face_tags[i];
    }
    mesh->face_count = kept;
}

/* Hand over what the draft owns that the mesh wants. */
static void take(pl_draft *draft, pl_mesh *mesh)
{
    mesh->vertex_count = draft->node_count;
    mesh->vertices = draft->vertices;
    draft->vertices = NULL;
    mesh->tet_count = draft->tets.count;
    if (any_tag(&draft->tets)) {
        mesh->tet_tags = draft->tets.tags;
        draft->tets.tags = NULL;
    }
    mesh->face_count = draft->faces.count;
    mesh->face_tags = draft->faces.tags;
    draft->faces.tags = NULL;
    mesh->point_count = draft->points.count;
    mesh->point_tags = draft->points.tags;
    draft->points.tags = NULL;
    mesh->group_count = (int32_t)draft->group_count;
    mesh->groups = draft->groups;
    draft->groups = NULL;
    draft->group_count = 0;
}

static void no_elements(pl_draft *draft, const pl_place *cells)
{
    if (draft->sheets) {
        pl_draft_fault(draft, cells, cells->base, "mesh_empty",
                       "a mesh of linear tetrahedra, or of triangles or lines",
                       "Save all elements, not only those in physical groups.",
                       "the file has %" PRId64 " nodes but no elements", draft->node_count);
        return;
    }
    pl_draft_fault(draft, cells, cells->base, "mesh_empty", "a mesh of linear tetrahedra",
                   "Fill the surface with tetrahedra first (Gmsh, TetGen, fTetWild).",
                   "the file has %" PRId64 " nodes but no tetrahedra", draft->node_count);
}

pl_status pl_draft_finish(pl_draft *draft, const pl_place *nodes, const pl_place *cells,
                          pl_mesh *out)
{
    *out = (pl_mesh){0};
    if (draft->fault_count == 0 && draft->tets.count == 0 && !has_sheets(draft) &&
        !has_ropes(draft) && !draft->stopped)
        no_elements(draft, cells);
    if (draft->no_memory)
        return PL_NO_MEMORY;
    if (draft->fault_count > 0)
        return PL_INVALID;
    tag_map map;
    map_build(&map, draft, nodes);
    pl_mesh mesh = {0};
    mesh.tets = resolve(draft, cells, &map, &draft->tets, "tetrahedron");
    mesh.faces = resolve(draft, cells, &map, &draft->faces, "triangle");
    int32_t *lines = has_ropes(draft) ? resolve(draft, cells, &map, &draft->lines, "line") : NULL;
    mesh.points = resolve(draft, cells, &map, &draft->points, "tagged point");
    map_clear(&map);
    pl_status status = draft->no_memory         ? PL_NO_MEMORY
                       : draft->fault_count > 0 ? PL_INVALID
                                                : PL_OK;
    if (status == PL_OK && has_sheets(draft))
        status = promote(&draft->faces, mesh.faces, &mesh.triangles, &mesh.triangle_tags,
                         &mesh.triangle_count);
    if (status == PL_OK && has_ropes(draft))
        status = promote(&draft->lines, lines, &mesh.edges, &mesh.edge_tags, &mesh.edge_count);
    free(lines);
    if (status == PL_OK) {
        take(draft, &mesh);
        keep_tagged(&mesh);
        status = pl_mesh_drop_unused(&mesh);
    }
    if (status == PL_OK)
        *out = mesh;
    else
        pl_mesh_clear(&mesh);
    return status;
}
