/* params_meshes.c - the parameter tables of where a body's mesh comes from. */
#include "protocol/params_rows.h"

#include "engine/scene.h"

static const pl_param box_rows[] = {
    {.key = "size",
     .kind = PL_PARAM_VECTOR,
     AT(pl_mesh_source, size),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {1, 1, 1},
     .doc = "Edges, centred at the origin."},
    {.key = "cells",
     .kind = PL_PARAM_COUNTS,
     AT(pl_mesh_source, cells),
     FROM(1, PL_SCENE_CELLS_MAX),
     .standard = {8, 8, 8},
     .doc = "Cells along each axis; each is cut into 6 Kuhn tetrahedra."},
};
const pl_param_table pl_box_table = {.name = "mesh.box", .doc = "A box of cubes.", ROWS(box_rows)};

static const pl_param sphere_rows[] = {
    {.key = "radius",
     .kind = PL_PARAM_NUMBER,
     AT(pl_mesh_source, radius),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {0.5},
     .doc = "Radius, centred at the origin."},
    {.key = "cells",
     .kind = PL_PARAM_INTEGER,
     AT(pl_mesh_source, sphere_cells),
     FROM(2, 200),
     .standard = {8},
     .doc = "Cells across."},
};
const pl_param_table pl_sphere_table = {.name = "mesh.sphere", .doc = "A ball.", ROWS(sphere_rows)};

static const char *const diagonals[] = {"alternating", "up", "down", NULL};

static const pl_param cloth_rows[] = {
    {.key = "size",
     .kind = PL_PARAM_VECTOR,
     .components = 2,
     AT(pl_mesh_source, cloth.size),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {1, 1},
     .doc = "Along x and y, centred at the origin in the plane z = 0."},
    {.key = "cells",
     .kind = PL_PARAM_COUNTS,
     .components = 2,
     AT(pl_mesh_source, cloth.cells),
     FROM(1, PL_SCENE_CELLS_MAX),
     .standard = {16, 16},
     .doc = "Rectangles along x and y; each is cut into 2 triangles."},
    {.key = "diagonal",
     .kind = PL_PARAM_CHOICE,
     AT(pl_mesh_source, cloth.diagonal),
     .choices = diagonals,
     .doc =
         "How they are cut: by diagonals that meet those of the neighbours; all from (-x, -y) to "
         "(+x, +y); all from (+x, -y) to (-x, +y)."},
};
const pl_param_table pl_cloth_table = {
    .name = "mesh.cloth", .doc = "A rectangular sheet of triangles.", ROWS(cloth_rows)};

static const pl_param rope_rows[] = {
    {.key = "length",
     .kind = PL_PARAM_NUMBER,
     AT(pl_mesh_source, rope.length),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {1},
     .doc = "From end to end, centred at the origin."},
    {.key = "segments",
     .kind = PL_PARAM_INTEGER,
     AT(pl_mesh_source, rope.segments),
     FROM(1, PL_SCENE_CELLS_MAX),
     .standard = {32},
     .doc = "Equal edges."},
    {.key = "direction",
     .kind = PL_PARAM_VECTOR,
     AT(pl_mesh_source, rope.direction),
     .direction = true,
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .standard = {1, 0, 0},
     .doc = "Towards the last vertex."},
};
const pl_param_table pl_rope_table = {
    .name = "mesh.rope", .doc = "A straight chain of edges.", ROWS(rope_rows)};

static const char *const formats[] = {"gmsh", "tetgen", "medit", NULL};
static const char *const orientations[] = {"repair", "refuse", NULL};

static const pl_param mesh_rows[] = {
    {.key = "box",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_box_table,
     .variant = 1 + PL_SOURCE_BOX,
     .doc = "A generated box."},
    {.key = "sphere",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_sphere_table,
     .variant = 1 + PL_SOURCE_SPHERE,
     .doc = "A generated ball."},
    {.key = "cloth",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_cloth_table,
     .variant = 1 + PL_SOURCE_CLOTH,
     .doc = "A generated sheet."},
    {.key = "rope",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_rope_table,
     .variant = 1 + PL_SOURCE_ROPE,
     .doc = "A generated rope."},
    {.key = "upload",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_UPLOAD,
     .variant = 1 + PL_SOURCE_UPLOAD,
     .type = "\"sha256:<64 hex digits>\", or {\"node\": ..., \"ele\": ...} for tetgen",
     .doc = "A mesh file uploaded before."},
    {.key = "format",
     .kind = PL_PARAM_CHOICE,
     AT(pl_mesh_source, format),
     .choices = formats,
     .variant = 1 + PL_SOURCE_UPLOAD,
     .accompanies = true,
     .standard_text = "gmsh; tetgen for {\"node\", \"ele\"}",
     .doc = "Of the uploaded file."},
    {.key = "vertices",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_VERTICES,
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .variant = 1 + PL_SOURCE_INLINE,
     .type = "array of numbers, flat or as [x, y, z]",
     .doc = "Inline rest positions."},
    {.key = "tets",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_TETS,
     FROM(0, INT32_MAX),
     .variant = 1 + PL_SOURCE_INLINE,
     .accompanies = true,
     .type = "array of vertex indices, flat or as [a, b, c, d]",
     .doc = "Inline tetrahedra."},
    {.key = "triangles",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_TRIANGLES,
     FROM(0, INT32_MAX),
     .variant = 1 + PL_SOURCE_INLINE,
     .accompanies = true,
     .type = "array of vertex indices, flat or as [a, b, c]",
     .doc = "Inline triangles."},
    {.key = "edges",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_EDGES,
     FROM(0, INT32_MAX),
     .variant = 1 + PL_SOURCE_INLINE,
     .accompanies = true,
     .type = "array of vertex indices, flat or as [a, b]",
     .doc = "Inline edges."},
    {.key = "orientation",
     .kind = PL_PARAM_CHOICE,
     AT(pl_mesh_source, refuse_negative),
     .choices = orientations,
     .doc = "Whether tetrahedra of negative volume are turned round, or a fault."},
};
#define NO_GENERATOR                                                                               \
    "the generators are box, sphere, cloth and rope; any other mesh can be uploaded"
static const pl_absent mesh_absent[] = {
    {"file", "the command line uploads files: pliant submit; over HTTP upload with PUT "
             "/v1/meshes/{sha256} and name it here as {\"upload\": \"sha256:...\"}"},
    {"cylinder", NO_GENERATOR},
    {"torus", NO_GENERATOR},
    {"helix", NO_GENERATOR},
    {0}};
const pl_param_table pl_mesh_table = {.name = "mesh",
                                      .doc = "Where a body's elements come from.",
                                      ROWS(mesh_rows),
                                      .one_of = true,
                                      .kind_offset = offsetof(pl_mesh_source, kind),
                                      .absent = mesh_absent};
