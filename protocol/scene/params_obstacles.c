/* params_obstacles.c - the parameter tables of obstacles. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

/* Keys that several shapes have. A struct's field has one default, whatever the shape. */
#define RADIUS(text)   LENGTH("radius", 0.5, pl_obstacle, radius, text)
#define AXIS           DIRECTION("axis", EACH(0, 1, 0), pl_obstacle, axis, "Its axis, through the centre.")
#define ROUNDING(text) NUMBER("rounding", "m", FROM(0, LENGTH_MAX), 0, pl_obstacle, rounding, text)
#define TURNED         OBJECT("rotate", pl_obstacle_turn_table, pl_obstacle, place, "How it is turned.")
#define INSIDE(type)   BOOLEAN("inside", type, inside, "Bodies are kept in it, instead of out of it.")

static const pl_param plane_rows[] = {
    PLANE_ROWS(pl_obstacle, "Towards the free side.", "The plane is normal . x = offset."),
};
const pl_param_table pl_obstacle_plane_table = {
    .name = "obstacle.plane", .doc = "A half space that nothing enters.", ROWS(plane_rows)};

static const pl_param ball_rows[] = {CENTER(pl_obstacle), RADIUS("Radius."), INSIDE(pl_obstacle)};
const pl_param_table pl_obstacle_sphere_table = {
    .name = "obstacle.sphere", .doc = "A ball that nothing enters.", ROWS(ball_rows)};

static const pl_param turn_rows[] = {
    TURN_ROWS(pl_transform, rotate_axis, rotate_degrees, "Through the obstacle's centre.",
              "Counter-clockwise."),
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
    .name = "obstacle.box", .doc = "A box that nothing enters.", ROWS(block_rows)};

static const pl_param cylinder_rows[] = {
    CENTER(pl_obstacle),
    AXIS,
    RADIUS("Radius."),
    LENGTH("height", 1, pl_obstacle, height, "Along the axis.",
           OPTIONAL(pl_obstacle, has_height, "without ends")),
    ROUNDING("Radius of its edges, at most the radius and half the height."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_cylinder_table = {
    .name = "obstacle.cylinder", .doc = "A cylinder that nothing enters.", ROWS(cylinder_rows)};

static const pl_param capsule_rows[] = {
    CENTER(pl_obstacle),
    AXIS,
    RADIUS("Radius."),
    NUMBER("height", "m", FROM(0, LENGTH_MAX), 1, pl_obstacle, height,
           "Between the centres of its round ends."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_capsule_table = {
    .name = "obstacle.capsule",
    .doc = "A cylinder with round ends that nothing enters.",
    ROWS(capsule_rows)};

static const pl_param cone_rows[] = {
    CENTER(pl_obstacle),
    DIRECTION("axis", EACH(0, 1, 0), pl_obstacle, axis, "Through the centre, towards its tip."),
    RADIUS("Of its base."),
    LENGTH("height", 1, pl_obstacle, height, "From base to tip; the centre is half way."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_cone_table = {
    .name = "obstacle.cone", .doc = "A cone that nothing enters.", ROWS(cone_rows)};

static const pl_param torus_rows[] = {
    CENTER(pl_obstacle),
    AXIS,
    RADIUS("Of the circle in the middle of the tube."),
    LENGTH("tube", 0.2, pl_obstacle, tube, "Radius of the tube, less than radius."),
    INSIDE(pl_obstacle),
};
const pl_param_table pl_obstacle_torus_table = {
    .name = "obstacle.torus", .doc = "A ring that nothing enters.", ROWS(torus_rows)};

static const pl_param field_rows[] = {
    CENTER(pl_obstacle),
    CUSTOM("heights", HEIGHTS, "array of rows along z, each an array of numbers along x",
           "Along y from the centre, at least 2 x 2; two triangles a cell.",
           AT(pl_obstacle, heights), UNIT("m"), FROM(-LENGTH_MAX, LENGTH_MAX), REQUIRED),
    LENGTH("spacing", 1, pl_obstacle, spacing,
           "Between neighbouring samples; the field is centred in x and z."),
    LENGTH("depth", 0, pl_obstacle, depth, "Of its flat bottom below the lowest sample.",
           OPTIONAL(pl_obstacle, has_depth, "the longer side")),
    TURNED,
};
const pl_param_table pl_obstacle_heightfield_table = {
    .name = "obstacle.heightfield", .doc = "Ground by its heights.", ROWS(field_rows)};

static const pl_param solid_rows[] = {
    UPLOAD_ROWS,
    VERTICES("Positions."),
    ELEMENTS("triangles", TRIANGLES, "[a, b, c]",
             "Of a closed surface, counter-clockwise from outside."),
    OBJECT("transform", pl_transform_table, pl_obstacle_mesh, transform, "How it is placed."),
    INSIDE(pl_obstacle_mesh),
};
const pl_param_table pl_obstacle_mesh_table = {
    .name = "obstacle.mesh",
    .doc = "A solid that nothing enters, by its closed surface or its tetrahedra.",
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
    PART("heightfield", pl_obstacle_heightfield_table, "Ground by its heights.",
         FORM(PL_OBSTACLE_HEIGHTFIELD)),
    OBJECT("mesh", pl_obstacle_mesh_table, pl_obstacle, mesh,
           "A closed surface, inline or from a file.", FORM(PL_OBSTACLE_MESH)),
    NUMBER("friction", "1", FROM(0, 1e6), 0, pl_obstacle, friction, "Coulomb's coefficient."),
    NUMBER("restitution", "1", FROM(0, 1), 0, pl_obstacle, restitution,
           "What a vertex leaves with, of the normal velocity that it came with. Bodies bounce by "
           "their own elasticity besides."),
    NUMBER("margin", "m", FROM(0, LENGTH_MAX), 0, pl_obstacle, margin,
           "Contacts keep vertices so far from the surface, so that triangles between them "
           "do not cut through it. With inside: less than what fits in."),
    MOTION(pl_obstacle, "at rest", "How it moves."),
};
const pl_param_table pl_obstacle_table = {.name = "obstacle",
                                          .doc = "What bodies collide with.",
                                          ROWS(obstacle_rows),
                                          .one_of = true,
                                          .kind_offset = offsetof(pl_obstacle, kind)};
