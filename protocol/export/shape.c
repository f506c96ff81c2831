#include "protocol/export/shape.h"

#include "protocol/export/npy.h"

#include <stdlib.h>
#include <string.h>

#define VERTICES_MAX ((int64_t)1 << 30)

static size_t count_corners(const pl_json *bodies, const char *key)
{
    size_t corners = 0;
    for (size_t b = 0; b < pl_json_count(bodies); b++)
        corners += pl_json_count(pl_json_at(pl_json_item(bodies, b), key));
    return corners;
}

/* Appends a body's vertex numbers; false if one is out of range. */
static bool read_corners(const pl_json *list, int64_t vertices, int32_t *out, int64_t *at)
{
    for (size_t i = 0; i < pl_json_count(list); i++) {
        int64_t v = pl_json_integer(pl_json_item(list, i), "", -1);
        if (v < 0 || v >= vertices)
            return false;
        out[(*at)++] = (int32_t)v;
    }
    return true;
}

/* Surfaces, cloth and ropes of a body. The last of its triangles are cloth. */
static bool read_body(const pl_json *body, int64_t corners[3], pl_shape *out)
{
    int64_t before = corners[0], sheet = 3 * pl_json_integer(body, "sheet_triangles", 0);
    if (!read_corners(pl_json_at(body, "triangles"), out->vertices, out->triangle, &corners[0]) ||
        !read_corners(pl_json_at(body, "edges"), out->vertices, out->edge, &corners[1]) ||
        sheet < 0 || sheet > corners[0] - before)
        return false;
    memcpy(out->sheet + corners[2], out->triangle + corners[0] - sheet,
           (size_t)sheet * sizeof *out->sheet);
    corners[2] += sheet;
    return true;
}

pl_status pl_shape_read(const pl_json *topology, pl_shape *out, const char **why)
{
    const pl_json *bodies = pl_json_at(topology, "bodies");
    size_t most = count_corners(bodies, "triangles") + 1;
    out->vertices = pl_json_integer(topology, "vertices", 0);
    *why = "the topology's vertex count is implausible";
    if (out->vertices < 0 || out->vertices > VERTICES_MAX)
        return PL_INVALID;
    out->body = calloc((size_t)out->vertices + 1, sizeof *out->body);
    out->triangle = malloc(most * sizeof *out->triangle);
    out->sheet = malloc(most * sizeof *out->sheet);
    out->edge = malloc((count_corners(bodies, "edges") + 1) * sizeof *out->edge);
    out->name = calloc(pl_json_count(bodies) + 1, sizeof *out->name);
    if (!out->body || !out->triangle || !out->sheet || !out->edge || !out->name)
        return PL_NO_MEMORY;
    int64_t corners[3] = {0};
    for (size_t b = 0; b < pl_json_count(bodies); b++) {
        const pl_json *body = pl_json_item(bodies, b);
        int64_t first = pl_json_integer(body, "first_vertex", 0);
        int64_t count = pl_json_integer(body, "vertices", 0);
        for (int64_t v = first; v >= 0 && v < first + count && v < out->vertices; v++)
            out->body[v] = (int32_t)b;
        *why = "the topology names a vertex that does not exist";
        if (!read_body(body, corners, out))
            return PL_INVALID;
        out->name[b] = strdup(pl_json_string(body, "name", ""));
        if (!out->name[b])
            return PL_NO_MEMORY;
        out->bodies++;
    }
    out->triangles = corners[0] / 3;
    out->edges = corners[1] / 2;
    out->sheet_triangles = out->all_sheets = corners[2] / 3;
    return PL_OK;
}

pl_status pl_shape_read_tets(const char *bytes, size_t size, pl_shape *out, const char **why)
{
    pl_status read = pl_npy_read_int32(bytes, size, 4, &out->tet, &out->tets);
    out->all_tets = out->tets;
    *why = "the tetrahedra are not an array of (m, 4) int32";
    if (read != PL_OK)
        return read;
    *why = "a tetrahedron names a vertex that does not exist";
    for (int64_t i = 0; i < 4 * out->tets; i++)
        if (out->tet[i] < 0 || out->tet[i] >= out->vertices)
            return PL_INVALID;
    return PL_OK;
}

/* ---- parts of a shape ---- */

static void mark(const int32_t *corner, int64_t corners, bool *drawn)
{
    for (int64_t i = 0; i < corners; i++)
        drawn[corner[i]] = true;
}

/* Keeps the elements of the remaining vertices (to[v] >= 0), moving them forward, and returns the index of the
 * first. An element belongs to one body. */
static int64_t renumber(int32_t *corner, int corners, int64_t count, const int32_t *to,
                        int64_t *first)
{
    int64_t kept = 0;
    *first = 0;
    for (int64_t i = 0; i < count; i++) {
        if (to[corner[corners * i]] < 0)
            continue;
        *first = kept ? *first : i;
        for (int k = 0; k < corners; k++)
            corner[corners * kept + k] = to[corner[corners * i + k]];
        kept++;
    }
    return kept;
}

pl_status pl_shape_choose(pl_shape *s, int32_t body, bool surface, int32_t **kept)
{
    bool *drawn = calloc((size_t)s->vertices + 1, sizeof *drawn);
    int32_t *to = malloc(((size_t)s->vertices + 1) * sizeof *to), count = 0;
    *kept = malloc(((size_t)s->vertices + 1) * sizeof **kept);
    if (!drawn || !to || !*kept) {
        free(drawn);
        free(to);
        free(*kept);
        *kept = NULL;
        return PL_NO_MEMORY;
    }
    mark(s->triangle, 3 * s->triangles, drawn);
    mark(s->edge, 2 * s->edges, drawn);
    for (int32_t v = 0; v < s->vertices; v++) {
        bool stays = (body < 0 || s->body[v] == body) && (!surface || drawn[v]);
        to[v] = stays ? count : -1;
        if (!stays)
            continue;
        s->body[count] = s->body[v];
        (*kept)[count++] = v;
    }
    if (surface) {
        memcpy(s->sheet, s->triangle, (size_t)s->triangles * 3 * sizeof *s->sheet);
        s->sheet_triangles = s->triangles;
        s->tets = 0;
    }
    s->vertices = count;
    int64_t any;
    s->triangles = renumber(s->triangle, 3, s->triangles, to, &any);
    s->sheet_triangles = renumber(s->sheet, 3, s->sheet_triangles, to, &s->first_sheet);
    s->edges = renumber(s->edge, 2, s->edges, to, &any);
    s->tets = renumber(s->tet, 4, s->tets, to, &s->first_tet);
    free(drawn);
    free(to);
    return PL_OK;
}

void pl_shape_clear(pl_shape *shape)
{
    free(shape->body);
    free(shape->triangle);
    free(shape->sheet);
    free(shape->edge);
    free(shape->tet);
    for (int32_t b = 0; b < shape->bodies; b++)
        free(shape->name[b]);
    free(shape->name);
    *shape = (pl_shape){0};
}
