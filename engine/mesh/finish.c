#include "engine/mesh/draft.h"
#include "engine/mesh/tag_map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Positions of a draft's nodes in the file, for its faults. */
typedef struct node_context {
    pl_draft *draft;
    const pl_place *place;
} node_context;

static void repeated_node(void *context, int32_t first, int32_t again)
{
    pl_draft *draft = ((node_context *)context)->draft;
    const pl_place *place = ((node_context *)context)->place;
    pl_draft_fault(draft, place, place->base + draft->node_where[again], "mesh_duplicate",
                   "every node number once", "Renumber the nodes.",
                   "node %" PRId64 " is given again (nodes %" PRId32 " and %" PRId32
                   " of the file, counting from 0)",
                   draft->node_tags[again], first, again);
}

static void unknown_node(pl_draft *draft, const pl_place *place, const pl_tag_map *map,
                         const char *what, int64_t cell, int64_t where, int64_t tag)
{
    char expected[96];
    if (map->count == 0)
        snprintf(expected, sizeof expected, "nodes; the file has none");
    else
        snprintf(expected, sizeof expected, "one of the %" PRId64 " nodes, %" PRId64 " to %" PRId64,
                 map->count, map->low, map->high);
    pl_draft_fault(draft, place, place->base + where, "mesh_index", expected,
                   "Nodes and elements must be of the same mesh.",
                   "%s %" PRId64 " (counting from 0) has node %" PRId64
                   ", which the file does not have",
                   what, cell, tag);
}

/* Tags of `cells` to indices, malloc'ed; NULL if none or the draft stopped. */
static int32_t *resolve(pl_draft *draft, const pl_place *place, const pl_tag_map *map,
                        const pl_draft_cells *cells, const char *what)
{
    if (draft->stopped || cells->count == 0)
        return NULL;
    int64_t n = cells->count * cells->corners;
    int32_t *indices = malloc((size_t)n * sizeof *indices);
    if (!indices)
        draft->no_memory = draft->stopped = true;
    for (int64_t i = 0; i < n && !draft->stopped; i++) {
        indices[i] = pl_tag_map_find(map, cells->nodes[i]);
        if (indices[i] >= 0)
            continue;
        int64_t cell = i / cells->corners;
        unknown_node(draft, place, map, what, cell, cells->where[cell], cells->nodes[i]);
        i = (cell + 1) * cells->corners - 1; /* one fault per cell */
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

/* Without tetrahedra the triangles are elements; without triangles, the lines. */
static bool has_sheets(const pl_draft *draft)
{
    return draft->sheets && draft->tets.count == 0 && draft->faces.count > 0;
}

static bool has_ropes(const pl_draft *draft)
{
    return draft->sheets && draft->tets.count == 0 && draft->faces.count == 0 &&
           draft->lines.count > 0;
}

/* True if the previous cell is the same one under another group; cells of packed arrays may share a byte position. */
static bool is_again(const pl_draft_cells *cells, int64_t i)
{
    return i > 0 && cells->where[i] == cells->where[i - 1] &&
           cells->numbers[i] == cells->numbers[i - 1];
}

/* Makes elements from cells. A cell of several groups is in the draft once for each, at one place of the file; the
 * element gets the first. PL_NO_MEMORY, or PL_OK. */
static pl_status promote(const pl_draft_cells *cells, const int32_t *indices, int32_t **corner,
                         int32_t **tags, int64_t *count)
{
    size_t width = (size_t)cells->corners;
    *corner = malloc((size_t)cells->count * width * sizeof **corner);
    *tags = any_tag(cells) ? malloc((size_t)cells->count * sizeof **tags) : NULL;
    if (!*corner || (any_tag(cells) && !*tags))
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < cells->count; i++) {
        if (is_again(cells, i))
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

/* Groups of curves are useful only if curves are the elements. */
static void take_groups(pl_draft *draft, pl_mesh *mesh)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < draft->group_count; i++) {
        if (draft->groups[i].dimension == 1 && !has_ropes(draft))
            free(draft->groups[i].name);
        else
            draft->groups[kept++] = draft->groups[i];
    }
    mesh->group_count = (int32_t)kept;
    mesh->groups = draft->groups;
    draft->groups = NULL;
    draft->group_count = 0;
}

/* Hands the mesh what it needs from the draft. */
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
    take_groups(draft, mesh);
}

/* The elements' numbers in the file, malloc'ed; NULL if out of memory. */
static int64_t *number_elements(const pl_draft_cells *cells, int64_t *count)
{
    int64_t *numbers = malloc((size_t)cells->count * sizeof *numbers + 1);
    *count = 0;
    for (int64_t i = 0; numbers && i < cells->count; i++)
        if (!is_again(cells, i))
            numbers[(*count)++] = cells->numbers[i];
    return numbers;
}

/* Number of the field's values that belong to elements. */
static int64_t count_found(const pl_draft_field *field, const pl_tag_map *map)
{
    int64_t found = 0;
    for (int64_t i = 0; i < field->count; i++)
        found += pl_tag_map_find(map, field->numbers[i]) >= 0;
    return found;
}

/* The field's values in the order of the elements; NULL if out of memory. */
static double *sort_field(const pl_draft_field *field, const pl_tag_map *map, int64_t elements)
{
    int32_t width = field->components;
    double *values = malloc((size_t)(elements * width) * sizeof *values + 1);
    for (int64_t i = 0; values && i < elements * width; i++)
        values[i] = NAN;
    for (int64_t i = 0; values && i < field->count; i++) {
        int32_t element = pl_tag_map_find(map, field->numbers[i]);
        if (element >= 0)
            memcpy(values + (int64_t)element * width, field->values + i * width,
                   (size_t)width * sizeof *values);
    }
    return values;
}

/* The fields with a value for some element; of several with one name, such as time steps, the first. */
static pl_status take_fields(pl_draft *draft, const pl_draft_cells *cells, pl_mesh *mesh)
{
    if (draft->field_count == 0)
        return PL_OK;
    int64_t elements, *numbers = number_elements(cells, &elements);
    pl_tag_map map = {0};
    mesh->fields = calloc((size_t)draft->field_names, sizeof *mesh->fields);
    pl_status status = numbers && mesh->fields &&
                               pl_tag_map_build(&map, numbers, elements, NULL, NULL)
                           ? PL_OK
                           : PL_NO_MEMORY;
    for (int64_t i = 0; status == PL_OK && i < draft->field_count; i++) {
        pl_draft_field *field = &draft->fields[i];
        if (pl_mesh_find_field(mesh, field->name) || count_found(field, &map) == 0)
            continue;
        double *values = sort_field(field, &map, elements);
        if (!values) {
            status = PL_NO_MEMORY;
            break;
        }
        mesh->fields[mesh->field_count++] = (pl_mesh_field){field->name, field->components, values};
        field->name = NULL;
    }
    pl_tag_map_clear(&map);
    free(numbers);
    return status;
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
    pl_tag_map map;
    if (!pl_tag_map_build(&map, draft->node_tags, draft->node_count, repeated_node,
                          &(node_context){draft, nodes}))
        draft->no_memory = draft->stopped = true;
    pl_mesh mesh = {0};
    mesh.tets = resolve(draft, cells, &map, &draft->tets, "tetrahedron");
    mesh.faces = resolve(draft, cells, &map, &draft->faces, "triangle");
    int32_t *lines = has_ropes(draft) ? resolve(draft, cells, &map, &draft->lines, "line") : NULL;
    mesh.points = resolve(draft, cells, &map, &draft->points, "tagged point");
    pl_tag_map_clear(&map);
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
        status = pl_mesh_remove_unused(&mesh);
    }
    if (status == PL_OK)
        status = take_fields(draft,
                             mesh.tet_count        ? &draft->tets
                             : mesh.triangle_count ? &draft->faces
                                                   : &draft->lines,
                             &mesh);
    if (status == PL_OK)
        *out = mesh;
    else
        pl_mesh_clear(&mesh);
    return status;
}
