/* params_obstacles.c - the parameter tables of obstacles. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

/* Keys shared by several shapes. A struct's field has one default, whatever the shape. */
#define RADIUS(text)   LENGTH("radius", 0.5, pl_obstacle, radius, text)
#define AXIS           DIRECTION("axis", EACH(0, 1, 0), pl_obstacle, axis, "Its axis, through the centre.")
#define ROUNDING(text) NUMBER("rounding", "m", FROM(0, LENGTH_MAX), 0, pl_obstacle, rounding, text)
#define TURNED                                                                                     \
    OBJECT("rotate", pl_obstacle_turn_table, pl_obstacle, place, "Rotation about its centre.")
#define INSIDE(type) BOOLEAN("inside", type, inside, "Keeps bodies inside instead of outside.")

static const pl_param plane_rows[] = {
    PLANE_ROWS(pl_obstacle, "Normal, pointing to the free side.",
               "The plane is normal . x = offset."),
};
const pl_param_table pl_obstacle_plane_table = {
    .name = "obstacle.plane", .doc = "A half space that bodies cannot enter.", ROWS(plane_rows)};

static const pl_param ball_rows[] = {CENTER(pl_obstacle), RADIUS("Radius."), INSIDE(pl_obstacle)};
const pl_param_table pl_obstacle_sphere_table = {
    .name = "obstacle.sphere", .doc = "A ball that bodies cannot enter.", ROWS(ball_rows)};

static const pl_param turn_rows[] = {
    TURN_ROWS(pl_transform, rotate_axis, rotate_degrees, "Axis through the obstacle's centre.",
              "Angle, counter-clockwise."),
};
const pl_param_table pl_obstacle_turn_table = {
    .name = "obstacle.rotate", .doc = "A rotation about the obstacle's centre.", ROWS(turn_rows)};

static const pl_param block_rows[] = {
    CENTER(pl_obstacle),
    VECTOR("size", "m", ABOVE(0, LENGTH_MAX), EACH(1, 1, 1), pl_obstacle, size, "Edges."),
    TURNED,
    ROUNDING("Radius of edges and corners, at most half of the shortest edge."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_box_table = {
    .name = "obstacle.box", .doc = "A box that bodies cannot enter.", ROWS(block_rows)};

static const pl_param cylinder_rows[] = {
    CENTER(pl_obstacle),
    AXIS,
    RADIUS("Radius."),
    LENGTH("height", 1, pl_obstacle, height, "Length along the axis.",
           OPTIONAL(pl_obstacle, has_height, "without ends")),
    ROUNDING("Radius of its edges, at most the radius and half the height."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_cylinder_table = {.name = "obstacle.cylinder",
                                                   .doc = "A cylinder that bodies cannot enter.",
                                                   ROWS(cylinder_rows)};

static const pl_param capsule_rows[] = {
    CENTER(pl_obstacle),
    AXIS,
    RADIUS("Radius."),
    NUMBER("height", "m", FROM(0, LENGTH_MAX), 1, pl_obstacle, height,
           "Distance between the centres of its round ends."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_capsule_table = {
    .name = "obstacle.capsule",
    .doc = "A cylinder with round ends that bodies cannot enter.",
    ROWS(capsule_rows)};

static const pl_param cone_rows[] = {
    CENTER(pl_obstacle),
    DIRECTION("axis", EACH(0, 1, 0), pl_obstacle, axis, "Through the centre, towards its tip."),
    RADIUS("Radius of its base."),
    LENGTH("height", 1, pl_obstacle, height, "Distance from base to tip; the centre is half way."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_cone_table = {
    .name = "obstacle.cone", .doc = "A cone that bodies cannot enter.", ROWS(cone_rows)};

static const pl_param torus_rows[] = {
    CENTER(pl_obstacle),
    AXIS,
    RADIUS("Radius of the circle at the middle of the tube."),
    LENGTH("tube", 0.2, pl_obstacle, tube, "Radius of the tube, less than radius."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_torus_table = {
    .name = "obstacle.torus", .doc = "A ring that bodies cannot enter.", ROWS(torus_rows)};

static const pl_param field_rows[] = {
    CENTER(pl_obstacle),
    CUSTOM("heights", HEIGHTS, "array of rows along z, each an array of numbers along x",
           "Heights along y from the centre, at least 2 x 2; each cell is two triangles.",
           AT(pl_obstacle, heights), UNIT("m"), FROM(-LENGTH_MAX, LENGTH_MAX), REQUIRED),
    LENGTH("spacing", 1, pl_obstacle, spacing,
           "Distance between neighbouring samples; the field is centred in x and z."),
    LENGTH("depth", 0, pl_obstacle, depth, "Depth of its flat bottom below the lowest sample.",
           OPTIONAL(pl_obstacle, has_depth, "the longer side")),
    TURNED,
};
const pl_param_table pl_obstacle_heightfield_table = {
    .name = "obstacle.heightfield", .doc = "Ground given by heights on a grid.", ROWS(field_rows)};

static const pl_param solid_rows[] = {
    UPLOAD_ROWS,
    VERTICES("Positions."),
    ELEMENTS("triangles", TRIANGLES, "[a, b, c]",
             "Triangles of a closed surface, counter-clockwise seen from outside."),
    OBJECT("transform", pl_transform_table, pl_obstacle_mesh, transform, "Placement of the mesh."),
    INSIDE(pl_obstacle_mesh),
};
const pl_param_table pl_obstacle_mesh_table = {
    .name = "obstacle.mesh",
    .doc = "A solid that bodies cannot enter, given by its closed surface or its "
           "tetrahedra.",
    ROWS(solid_rows),
    .one_of = true,
    .kind_offset = offsetof(pl_obstacle_mesh, source.kind),
    .absent = pl_file_absent};

static const pl_param obstacle_rows[] = {
    NAME(pl_obstacle, "obstacle", "obstacles"),
    PART("plane", pl_obstacle_plane_table, "A half space.", FORM(PL_OBSTACLE_PLANE)),
    PART("sphere", pl_obstacle_sphere_table, "A ball.", FORM(PL_OBSTACLE_SPHERE)),
    PART("box", pl_obstacle_box_table, "A box, turned and rounded.", FORM(PL_OBSTACLE_BOX)),
    PART("cylinder", pl_obstacle_cylinder_table, "A cylinder, with ends or without.",
         FORM(PL_OBSTACLE_CYLINDER)),
    PART("capsule", pl_obstacle_capsule_table, "A cylinder with round ends.",
         FORM(PL_OBSTACLE_CAPSULE)),
    PART("cone", pl_obstacle_cone_table, "A cone.", FORM(PL_OBSTACLE_CONE)),
    PART("torus", pl_obstacle_torus_table, "A ring.", FORM(PL_OBSTACLE_TORUS)),
    PART("heightfield", pl_obstacle_heightfield_table, "Ground given by heights on a grid.",
         FORM(PL_OBSTACLE_HEIGHTFIELD)),
    OBJECT("mesh", pl_obstacle_mesh_table, pl_obstacle, mesh,
           "A closed surface, inline or from a file.", FORM(PL_OBSTACLE_MESH)),
    NUMBER("friction", "1", FROM(0, 1e6), 0, pl_obstacle, friction, "Coulomb's coefficient."),
    NUMBER("restitution", "1", FROM(0, 1), 0, pl_obstacle, restitution,
           "Share of a vertex's normal velocity that it keeps, reversed, after an impact. "
           "Bodies also bounce by their own elasticity."),
    NUMBER("margin", "m", FROM(0, LENGTH_MAX), 0, pl_obstacle, margin,
           "Distance that contact keeps between vertices and the surface, so that triangles "
           "between them do not cut through it. With inside: less than the radius of the largest "
           "ball that fits."),
    MOTION(pl_obstacle, "at rest", "Rigid motion."),
};
const pl_param_table pl_obstacle_table = {.name = "obstacle",
                                          .doc = "A rigid shape that bodies collide with.",
                                          ROWS(obstacle_rows),
                                          .one_of = true,
                                          .kind_offset = offsetof(pl_obstacle, kind)};
