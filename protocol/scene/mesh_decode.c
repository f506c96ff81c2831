#include "protocol/scene/mesh_decode.h"

#include "engine/scene/scene.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- customs ---- */

/* "sha256:" and 64 hexadecimal digits, stored in lower case. */
static void decode_hash(pl_decoder *d, json_t *value, char **out)
{
    static const char *const expected = "\"sha256:\" and 64 hexadecimal digits";
    if (!json_is_string(value)) {
        pl_decode_refuse(d, value, "wrong_type", expected, "");
        return;
    }
    const char *text = json_string_value(value);
    bool good = strncmp(text, "sha256:", 7) == 0 && strlen(text) == 7 + 64;
    for (int i = 7; good && i < 7 + 64; i++)
        good = isxdigit((unsigned char)text[i]);
    if (!good) {
        pl_decode_refuse(d, value, "invalid_hash", expected,
                         "upload the file first: PUT /v1/meshes/{sha256}, or pliant submit");
        return;
    }
    char *copy = strdup(text);
    d->no_memory |= !copy;
    for (char *c = copy; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    *out = copy;
}

void pl_decode_upload(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    static const char *const parts[] = {"node", "ele", NULL};
    pl_mesh_source *mesh = out;
    const char *key;
    json_t *part;
    if (!json_is_object(value)) {
        mesh->upload_count = 1;
        decode_hash(d, value, &mesh->upload[0]);
        return;
    }
    mesh->upload_count = 2;
    json_object_foreach(value, key, part)
    {
        size_t mark = pl_decode_enter(d, key);
        if (strcmp(key, "node") != 0 && strcmp(key, "ele") != 0)
            pl_decode_fault(d, "unknown_key", key, "one of: node, ele", "");
        pl_decode_leave(d, mark);
    }
    for (int i = 0; i < 2; i++) {
        part = json_object_get(value, parts[i]);
        if (!part) {
            pl_decode_missing(d, parts[i], "\"sha256:...\"",
                              "tetgen's format has two files, .node and .ele");
            continue;
        }
        size_t mark = pl_decode_enter(d, parts[i]);
        decode_hash(d, part, &mesh->upload[i]);
        pl_decode_leave(d, mark);
    }
}

/* One number of an inline mesh: a coordinate as double, an index as int64_t; both take 8 bytes. */
static void decode_cell(pl_decoder *d, json_t *value, const pl_param *p, void *rows, size_t i)
{
    pl_param cell = *p;
    if (p->custom == PL_CUSTOM_VERTICES || p->custom == PL_CUSTOM_HEIGHTS) {
        cell.kind = PL_PARAM_NUMBER;
        pl_decode_number(d, value, &cell, (double *)rows + i);
    } else {
        cell.kind = PL_PARAM_INTEGER;
        pl_decode_integer(d, value, &cell, (int64_t *)rows + i);
    }
}

static void decode_row(pl_decoder *d, json_t *row, const pl_param *p, size_t width, void *rows,
                       size_t first)
{
    if (!json_is_array(row) || json_array_size(row) != width) {
        char expected[64];
        snprintf(expected, sizeof expected, "array of %zu numbers", width);
        pl_decode_refuse(d, row, "wrong_type", expected, "");
        return;
    }
    for (size_t j = 0; j < width; j++) {
        size_t mark = pl_decode_enter_item(d, j);
        decode_cell(d, json_array_get(row, j), p, rows, first + j);
        pl_decode_leave(d, mark);
    }
}

/* Rows of `width` numbers, each an array or all in one flat array. NULL if none could be read. */
void *pl_decode_rows(pl_decoder *d, json_t *value, const pl_param *p, size_t width, int64_t *count)
{
    size_t size = json_array_size(value);
    bool nested = json_is_array(json_array_get(value, 0));
    size_t numbers = nested ? size * width : size;
    if (!json_is_array(value) || size == 0 || numbers % width != 0) {
        char expected[192], hint[96];
        pl_param_expected(p, expected, sizeof expected);
        snprintf(hint, sizeof hint, "a flat array's length must be a multiple of %zu", width);
        pl_decode_refuse(d, value, "wrong_type", expected, size % width ? hint : "");
        return NULL;
    }
    if (numbers > PL_SCENE_INLINE_MAX) {
        bool heights = p->custom == PL_CUSTOM_HEIGHTS;
        pl_decode_refuse(d, value, "too_many",
                         heights ? "at most 100000 heights"
                                 : "at most 100000 numbers in an inline mesh",
                         heights ? "an obstacle given as a mesh file can have more"
                                 : "upload a mesh file: PUT /v1/meshes/{sha256}");
        return NULL;
    }
    void *rows = calloc(numbers, 8);
    if (!rows) {
        d->no_memory = true;
        return NULL;
    }
    for (size_t i = 0; i < size; i++) {
        size_t mark = pl_decode_enter_item(d, i);
        if (nested)
            decode_row(d, json_array_get(value, i), p, width, rows, i * width);
        else
            decode_cell(d, json_array_get(value, i), p, rows, i);
        pl_decode_leave(d, mark);
    }
    *count = (int64_t)(numbers / width);
    return rows;
}

void pl_decode_vertices(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_mesh_source *mesh = out;
    mesh->vertices = pl_decode_rows(d, value, p, 3, &mesh->vertex_count);
}

void pl_decode_tets(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_mesh_source *mesh = out;
    mesh->tets = pl_decode_rows(d, value, p, 4, &mesh->tet_count);
}

void pl_decode_triangles(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_mesh_source *mesh = out;
    mesh->triangles = pl_decode_rows(d, value, p, 3, &mesh->triangle_count);
}

void pl_decode_edges(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_mesh_source *mesh = out;
    mesh->edges = pl_decode_rows(d, value, p, 2, &mesh->edge_count);
}

/* ---- rules ---- */

static void refuse_cells(pl_decoder *d, double cells)
{
    if (cells <= PL_SCENE_CELLS_MAX)
        return;
    char got[64];
    size_t mark = pl_decode_enter(d, "cells");
    snprintf(got, sizeof got, "%.15g cells", cells);
    pl_decode_fault(d, "too_many", got, "at most 8000000 cells", "");
    pl_decode_leave(d, mark);
}

void pl_check_cells(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_mesh_source *mesh = out;
    if (clean)
        refuse_cells(d, (double)mesh->cells[0] * mesh->cells[1] * mesh->cells[2]);
}

void pl_check_cloth(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_mesh_source *mesh = out;
    if (clean)
        refuse_cells(d, (double)mesh->cloth.cells[0] * mesh->cloth.cells[1]);
}

static void check_tube_cells(pl_decoder *d, const pl_tube_source *tube, int32_t strands)
{
    double across = tube->cells[0] + (tube->cells[0] & 1);
    refuse_cells(d, across * across * tube->cells[1] * strands);
}

void pl_check_tube_cylinder(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_mesh_source *mesh = out;
    if (clean)
        check_tube_cells(d, &mesh->cylinder, 1);
}

void pl_check_tube(pl_decoder *d, double tube, double most, const char *why)
{
    if (tube < most)
        return;
    char got[64], expected[160];
    size_t mark = pl_decode_enter(d, "tube");
    snprintf(got, sizeof got, "number %.15g", tube);
    snprintf(expected, sizeof expected, "number in m, below %.6g: %s", most, why);
    pl_decode_fault(d, "out_of_range", got, expected, "");
    pl_decode_leave(d, mark);
}

void pl_check_tube_torus(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_mesh_source *mesh = out;
    if (!clean)
        return;
    check_tube_cells(d, &mesh->torus, 1);
    pl_check_tube(d, mesh->torus.tube, mesh->torus.radius, "the radius of its circle");
}

/* The curve's radius of curvature is (r^2 + c^2) / r, with 2 pi c the pitch. Unrolled, its turns and strands are
 * parallel lines, pitch / strands apart along the axis. */
void pl_check_tube_helix(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_mesh_source *mesh = out;
    const pl_tube_source *helix = &mesh->helix;
    if (!clean)
        return;
    check_tube_cells(d, helix, helix->strands);
    double r = helix->radius, c = helix->pitch / (2 * M_PI), s = hypot(r, c);
    double apart = helix->pitch / helix->strands * (r / s);
    bool beside = helix->turns > 1 || helix->strands > 1;
    if (beside && apart / 2 < s * (s / r))
        pl_check_tube(d, helix->tube, apart / 2, "half the distance between turns and strands");
    else
        pl_check_tube(d, helix->tube, s * (s / r), "the curve's radius of curvature");
}

static void check_inline(pl_decoder *d, const pl_mesh_source *mesh, json_t *object)
{
    if (!json_object_get(object, "tets") && !json_object_get(object, "triangles") &&
        !json_object_get(object, "edges"))
        pl_decode_missing(d, "tets",
                          "the elements, as vertex indices: one or more of tets, triangles, edges",
                          "");
    long long numbers = 3 * mesh->vertex_count + 4 * mesh->tet_count + 3 * mesh->triangle_count +
                        2 * mesh->edge_count;
    if (numbers > PL_SCENE_INLINE_MAX) {
        char got[64];
        snprintf(got, sizeof got, "%lld numbers", numbers);
        pl_decode_fault(d, "too_many", got, "at most 100000 numbers in an inline mesh",
                        "upload a mesh file: PUT /v1/meshes/{sha256}");
    }
}

/* Two files are TetGen's, one file is of another format. */
static void check_format(pl_decoder *d, pl_mesh_source *mesh, json_t *object)
{
    bool two = mesh->upload_count == 2;
    if (!json_object_get(object, "format")) {
        mesh->format = two ? PL_UPLOAD_TETGEN : PL_UPLOAD_GMSH;
        return;
    }
    if (two == (mesh->format == PL_UPLOAD_TETGEN))
        return;
    size_t mark = pl_decode_enter(d, "format");
    pl_decode_fault(
        d, "conflict", two ? "a node and an ele file" : "tetgen, with one file",
        two ? "tetgen" : "a format of one file: gmsh, medit, obj, vtk, vtu, vega, abaqus, stl, ply",
        "tetgen takes {\"upload\": {\"node\": ..., \"ele\": ...}}");
    pl_decode_leave(d, mark);
}

void pl_check_mesh(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_mesh_source *mesh = out;
    if (!clean)
        return;
    if (mesh->kind == PL_SOURCE_INLINE)
        check_inline(d, mesh, object);
    if (mesh->kind == PL_SOURCE_UPLOAD)
        check_format(d, mesh, object);
}

void pl_check_obstacle_mesh(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_mesh_source *mesh = out;
    if (clean && mesh->kind == PL_SOURCE_UPLOAD)
        check_format(d, mesh, object);
    if (clean && mesh->kind == PL_SOURCE_INLINE && !json_object_get(object, "triangles"))
        pl_decode_missing(d, "triangles", "the triangles of the closed surface", "");
}
