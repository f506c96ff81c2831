/* params_obstacles.c - the parameter tables of obstacles. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

/* Keys that several shapes have. A struct's field has one default, whatever the shape. */
#define CENTER                                                                                     \
    {                                                                                              \
        .key = "center", .kind = PL_PARAM_VECTOR, AT(pl_obstacle, center), .unit = "m",            \
        FROM(-LENGTH_MAX, LENGTH_MAX), .doc = "Centre."                                            \
    }
#define RADIUS(text)                                                                               \
    {                                                                                              \
        .key = "radius", .kind = PL_PARAM_NUMBER, AT(pl_obstacle, radius), .unit = "m",            \
        ABOVE(0, LENGTH_MAX), .standard = {0.5}, .doc = text                                       \
    }
#define AXIS                                                                                       \
    {                                                                                              \
        .key = "axis", .kind = PL_PARAM_VECTOR, AT(pl_obstacle, axis), .direction = true,          \
        FROM(-LENGTH_MAX, LENGTH_MAX), .standard = {0, 1, 0},                                      \
        .doc = "Its axis, through the centre."                                                     \
    }
#define ROUNDING(text)                                                                             \
    {                                                                                              \
        .key = "rounding", .kind = PL_PARAM_NUMBER, AT(pl_obstacle, rounding), .unit = "m",        \
        FROM(0, LENGTH_MAX), .doc = text                                                           \
    }
#define TURNED                                                                                     \
    {                                                                                              \
        .key = "rotate", .kind = PL_PARAM_OBJECT, AT(pl_obstacle, place),                          \
        .table = &pl_obstacle_turn_table, .doc = "How it is turned."                               \
    }
#define INSIDE                                                                                     \
    {                                                                                              \
        .key = "inside", .kind = PL_PARAM_BOOLEAN, AT(pl_obstacle, inside),                        \
        .doc = "Bodies are kept in it, instead of out of it."                                      \
    }

static const pl_param plane_rows[] = {
    {.key = "normal",
     .kind = PL_PARAM_VECTOR,
     AT(pl_obstacle, normal),
     .direction = true,
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .standard = {0, 1, 0},
     .doc = "Towards the free side."},
    {.key = "offset",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, offset),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .doc = "The plane is normal . x = offset."},
};
const pl_param_table pl_obstacle_plane_table = {
    .name = "obstacle.plane", .doc = "A half space that nothing enters.", ROWS(plane_rows)};

static const pl_param ball_rows[] = {CENTER, RADIUS("Radius."), INSIDE};
const pl_param_table pl_obstacle_sphere_table = {
    .name = "obstacle.sphere", .doc = "A ball that nothing enters.", ROWS(ball_rows)};

static const pl_param turn_rows[] = {
    TURN_ROWS(pl_transform, rotate_axis, rotate_degrees, "Through the obstacle's centre.",
              "Counter-clockwise."),
};
const pl_param_table pl_obstacle_turn_table = {
    .name = "obstacle.rotate", .doc = "A rotation about the obstacle's centre.", ROWS(turn_rows)};

static const pl_param block_rows[] = {
    CENTER,
    {.key = "size",
     .kind = PL_PARAM_VECTOR,
     AT(pl_obstacle, size),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {1, 1, 1},
     .doc = "Edges."},
    TURNED,
    ROUNDING("Radius of edges and corners, at most half of the shortest edge."),
    INSIDE,
};
const pl_param_table pl_obstacle_box_table = {
    .name = "obstacle.box", .doc = "A box that nothing enters.", ROWS(block_rows)};

static const pl_param cylinder_rows[] = {
    CENTER,
    AXIS,
    RADIUS("Radius."),
    {.key = "height",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, height),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {1},
     .flagged = true,
     .flag_offset = offsetof(pl_obstacle, has_height),
     .standard_text = "without ends",
     .doc = "Along the axis."},
    ROUNDING("Radius of its edges, at most the radius and half the height."),
    INSIDE,
};
const pl_param_table pl_obstacle_cylinder_table = {
    .name = "obstacle.cylinder", .doc = "A cylinder that nothing enters.", ROWS(cylinder_rows)};

static const pl_param capsule_rows[] = {
    CENTER,
    AXIS,
    RADIUS("Radius."),
    {.key = "height",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, height),
     .unit = "m",
     FROM(0, LENGTH_MAX),
     .standard = {1},
     .doc = "Between the centres of its round ends."},
    INSIDE,
};
const pl_param_table pl_obstacle_capsule_table = {
    .name = "obstacle.capsule",
    .doc = "A cylinder with round ends that nothing enters.",
    ROWS(capsule_rows)};

static const pl_param torus_rows[] = {
    CENTER,
    AXIS,
    RADIUS("Of the circle in the middle of the tube."),
    {.key = "tube",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, tube),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {0.2},
     .doc = "Radius of the tube, less than radius."},
    INSIDE,
};
const pl_param_table pl_obstacle_torus_table = {
    .name = "obstacle.torus", .doc = "A ring that nothing enters.", ROWS(torus_rows)};

static const pl_param field_rows[] = {
    CENTER,
    {.key = "heights",
     .kind = PL_PARAM_CUSTOM,
     AT(pl_obstacle, heights),
     .custom = PL_CUSTOM_HEIGHTS,
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .required = true,
     .type = "array of rows along z, each an array of numbers along x",
     .doc = "Along y from the centre, at least 2 x 2; two triangles a cell."},
    {.key = "spacing",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, spacing),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {1},
     .doc = "Between neighbouring samples; the field is centred in x and z."},
    {.key = "depth",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, depth),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .flagged = true,
     .flag_offset = offsetof(pl_obstacle, has_depth),
     .standard_text = "the longer side",
     .doc = "Of its flat bottom below the lowest sample."},
    TURNED,
};
const pl_param_table pl_obstacle_heightfield_table = {
    .name = "obstacle.heightfield", .doc = "Ground by its heights.", ROWS(field_rows)};

static const pl_param solid_rows[] = {
    UPLOAD_ROWS,
    {.key = "vertices",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_VERTICES,
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .variant = 1 + PL_SOURCE_INLINE,
     .type = "array of numbers, flat or as [x, y, z]",
     .doc = "Positions."},
    {.key = "triangles",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_TRIANGLES,
     FROM(0, INT32_MAX),
     .variant = 1 + PL_SOURCE_INLINE,
     .accompanies = true,
     .type = "array of vertex indices, flat or as [a, b, c]",
     .doc = "Of a closed surface, counter-clockwise from outside."},
    {.key = "transform",
     .kind = PL_PARAM_OBJECT,
     AT(pl_obstacle_mesh, transform),
     .table = &pl_transform_table,
     .doc = "How it is placed."},
    {.key = "inside",
     .kind = PL_PARAM_BOOLEAN,
     AT(pl_obstacle_mesh, inside),
     .doc = "Bodies are kept in it, instead of out of it."},
};
const pl_param_table pl_obstacle_mesh_table = {
    .name = "obstacle.mesh",
    .doc = "A solid that nothing enters, by its closed surface or its tetrahedra.",
    ROWS(solid_rows),
    .one_of = true,
    .kind_offset = offsetof(pl_obstacle_mesh, source.kind),
    .absent = pl_file_absent};

static const pl_param obstacle_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_obstacle, name),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "obstacle-K, K from 0",
     .doc = "Unique among obstacles."},
    {.key = "plane",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_obstacle_plane_table,
     .variant = 1 + PL_OBSTACLE_PLANE,
     .doc = "A half space."},
    {.key = "sphere",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_obstacle_sphere_table,
     .variant = 1 + PL_OBSTACLE_SPHERE,
     .doc = "A ball."},
    {.key = "box",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_obstacle_box_table,
     .variant = 1 + PL_OBSTACLE_BOX,
     .doc = "A box, turned and rounded."},
    {.key = "cylinder",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_obstacle_cylinder_table,
     .variant = 1 + PL_OBSTACLE_CYLINDER,
     .doc = "A cylinder, with ends or without."},
    {.key = "capsule",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_obstacle_capsule_table,
     .variant = 1 + PL_OBSTACLE_CAPSULE,
     .doc = "A cylinder with round ends."},
    {.key = "torus",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_obstacle_torus_table,
     .variant = 1 + PL_OBSTACLE_TORUS,
     .doc = "A ring."},
    {.key = "heightfield",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_obstacle_heightfield_table,
     .variant = 1 + PL_OBSTACLE_HEIGHTFIELD,
     .doc = "Ground by its heights."},
    {.key = "mesh",
     .kind = PL_PARAM_OBJECT,
     AT(pl_obstacle, mesh),
     .table = &pl_obstacle_mesh_table,
     .variant = 1 + PL_OBSTACLE_MESH,
     .doc = "A closed surface, inline or from a file."},
    {.key = "friction",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, friction),
     .unit = "1",
     FROM(0, 1e6),
     .doc = "Coulomb's coefficient."},
    {.key = "restitution",
     .kind = PL_PARAM_NUMBER,
     AT(pl_obstacle, restitution),
     .unit = "1",
     FROM(0, 1),
     .doc = "What a vertex leaves with, of the normal velocity that it came with. Bodies bounce by "
            "their own elasticity besides."},
    {.key = "motion",
     .kind = PL_PARAM_OBJECT,
     AT(pl_obstacle, motion),
     .table = &pl_motion_table,
     .flagged = true,
     .flag_offset = offsetof(pl_obstacle, motion.present),
     .standard_text = "at rest",
     .doc = "How it moves."},
};
const pl_param_table pl_obstacle_table = {.name = "obstacle",
                                          .doc = "What bodies collide with.",
                                          ROWS(obstacle_rows),
                                          .one_of = true,
                                          .kind_offset = offsetof(pl_obstacle, kind)};
