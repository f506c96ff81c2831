/* params_meshes.c - the parameter tables of mesh sources. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

static const pl_param box_rows[] = {
    VECTOR("size", "m", ABOVE(0, LENGTH_MAX), EACH(1, 1, 1), pl_mesh_source, size,
           "Edges, centred at the origin."),
    COUNTS("cells", FROM(1, PL_SCENE_CELLS_MAX), EACH(8, 8, 8), pl_mesh_source, cells,
           "Cells along each axis; each is cut into 6 Kuhn tetrahedra."),
};
const pl_param_table pl_box_table = {.name = "mesh.box", .doc = "A box of cubes.", ROWS(box_rows)};

static const pl_param sphere_rows[] = {
    LENGTH("radius", 0.5, pl_mesh_source, radius, "Radius, centred at the origin."),
    INTEGER("cells", FROM(2, 200), 8, pl_mesh_source, sphere_cells, "Cells across."),
};
const pl_param_table pl_sphere_table = {.name = "mesh.sphere", .doc = "A ball.", ROWS(sphere_rows)};

static const pl_param cylinder_rows[] = {
    LENGTH("radius", 0.5, pl_mesh_source, cylinder.radius, "Radius, about the x axis."),
    LENGTH("length", 2, pl_mesh_source, cylinder.length, "Length along x, centred at the origin."),
    COUNTS("cells", FROM(1, PL_SCENE_CELLS_MAX), EACH(8, 16), pl_mesh_source, cylinder.cells,
           "Cells across (an odd number is rounded up) and along.", COMPONENTS(2)),
};
const pl_param_table pl_cylinder_table = {
    .name = "mesh.cylinder", .doc = "A cylinder.", ROWS(cylinder_rows)};

static const pl_param torus_rows[] = {
    LENGTH("radius", 0.5, pl_mesh_source, torus.radius,
           "Radius of the circle at its middle, in the plane z = 0."),
    LENGTH("tube", 0.2, pl_mesh_source, torus.tube, "Radius of the tube around it; below radius."),
    COUNTS("cells", FROM(1, PL_SCENE_CELLS_MAX), EACH(6, 32), pl_mesh_source, torus.cells,
           "Cells across the tube (an odd number is rounded up) and around, at least 3.",
           COMPONENTS(2)),
};
const pl_param_table pl_torus_table = {.name = "mesh.torus", .doc = "A ring.", ROWS(torus_rows)};

static const pl_param helix_rows[] = {
    LENGTH("radius", 0.5, pl_mesh_source, helix.radius, "Radius of the curve about the z axis."),
    LENGTH("tube", 0.1, pl_mesh_source, helix.tube,
           "Radius of the tube along the curve; turns and strands may not meet."),
    LENGTH("pitch", 1, pl_mesh_source, helix.pitch, "Rise of a turn."),
    NUMBER("turns", "1", ABOVE(0, 10000), 3, pl_mesh_source, helix.turns,
           "Turns, centred at the origin."),
    INTEGER("strands", FROM(1, 16), 1, pl_mesh_source, helix.strands,
            "2 for a double helix: pieces of one body, evenly turned about the axis."),
    COUNTS("cells", FROM(1, PL_SCENE_CELLS_MAX), EACH(4, 96), pl_mesh_source, helix.cells,
           "Cells across the tube (an odd number is rounded up) and along each strand.",
           COMPONENTS(2)),
};
const pl_param_table pl_helix_table = {
    .name = "mesh.helix", .doc = "A right-handed coil.", ROWS(helix_rows)};

static const char *const diagonals[] = {"alternating", "up", "down", NULL};

static const pl_param cloth_rows[] = {
    VECTOR("size", "m", ABOVE(0, LENGTH_MAX), EACH(1, 1), pl_mesh_source, cloth.size,
           "Size along x and y, centred at the origin in the plane z = 0.", COMPONENTS(2)),
    COUNTS("cells", FROM(1, PL_SCENE_CELLS_MAX), EACH(16, 16), pl_mesh_source, cloth.cells,
           "Rectangles along x and y; each is cut into 2 triangles.", COMPONENTS(2)),
    CHOICE("diagonal", diagonals, pl_mesh_source, cloth.diagonal,
           "Diagonals of the rectangles. alternating: they meet those of the neighbours; "
           "up: all from (-x, -y) to (+x, +y); down: all from (+x, -y) to (-x, +y)."),
    BOOLEAN(
        "springs", pl_mesh_source, cloth.springs,
        "Springs instead of triangles: along the sides and the diagonal of each cell and, against "
        "bending, from every vertex to its second neighbour. They use the material's area."),
};
const pl_param_table pl_cloth_table = {
    .name = "mesh.cloth", .doc = "A rectangular sheet of triangles or springs.", ROWS(cloth_rows)};

static const pl_param rope_rows[] = {
    LENGTH("length", 1, pl_mesh_source, rope.length,
           "Length from end to end, centred at the origin."),
    INTEGER("segments", FROM(1, PL_SCENE_CELLS_MAX), 32, pl_mesh_source, rope.segments,
            "Number of equal edges."),
    DIRECTION("direction", EACH(1, 0, 0), pl_mesh_source, rope.direction,
              "Direction towards the last vertex."),
};
const pl_param_table pl_rope_table = {
    .name = "mesh.rope", .doc = "A straight chain of edges.", ROWS(rope_rows)};

const char *const pl_format_words[] = {"gmsh", "tetgen", "medit", "obj", "vtk", "vtu",
                                       "vega", "abaqus", "stl",   "ply", NULL};
static const char *const orientations[] = {"repair", "refuse", NULL};

static const pl_param mesh_rows[] = {
    PART("box", pl_box_table, "A generated box.", FORM(PL_SOURCE_BOX)),
    PART("sphere", pl_sphere_table, "A generated ball.", FORM(PL_SOURCE_SPHERE)),
    PART("cloth", pl_cloth_table, "A generated sheet.", FORM(PL_SOURCE_CLOTH)),
    PART("rope", pl_rope_table, "A generated rope.", FORM(PL_SOURCE_ROPE)),
    PART("cylinder", pl_cylinder_table, "A generated cylinder.", FORM(PL_SOURCE_CYLINDER)),
    PART("torus", pl_torus_table, "A generated ring.", FORM(PL_SOURCE_TORUS)),
    PART("helix", pl_helix_table, "A generated coil.", FORM(PL_SOURCE_HELIX)),
    UPLOAD_ROWS,
    VERTICES("Inline rest positions."),
    ELEMENTS("tets", TETS, "[a, b, c, d]", "Inline tetrahedra."),
    ELEMENTS("triangles", TRIANGLES, "[a, b, c]", "Inline triangles."),
    ELEMENTS("edges", EDGES, "[a, b]", "Inline edges."),
    CHOICE(
        "orientation", orientations, pl_mesh_source, refuse_negative,
        "Tetrahedra of negative volume: repair reorders their vertices, refuse reports a fault."),
};
const pl_absent pl_file_absent[] = {
    {"file", "the command line uploads files: pliant submit; over HTTP, upload with PUT "
             "/v1/meshes/{sha256} and name it here as {\"upload\": \"sha256:...\"}"},
    {0}};
const pl_param_table pl_mesh_table = {.name = "mesh",
                                      .doc = "Source of a body's elements.",
                                      ROWS(mesh_rows),
                                      .one_of = true,
                                      .kind_offset = offsetof(pl_mesh_source, kind),
                                      .absent = pl_file_absent};
