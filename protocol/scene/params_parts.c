/* params_parts.c - the parameter tables of what a scene is made of: bodies, pins,
 * their motions and selections. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

/* ---- bodies ---- */

static const pl_param rotate_rows[] = {
    TURN_ROWS(pl_transform, rotate_axis, rotate_degrees, "Through the origin.",
              "Counter-clockwise."),
};
const pl_param_table pl_rotate_table = {
    .name = "rotate", .doc = "A rotation about the origin.", ROWS(rotate_rows)};

static const pl_param transform_rows[] = {
    {.key = "scale",
     .kind = PL_PARAM_CUSTOM,
     AT(pl_transform, scale),
     .custom = PL_CUSTOM_SCALE,
     .unit = "1",
     ABOVE(0, LENGTH_MAX),
     .standard = {1, 1, 1},
     .type = "number, or array of 3 numbers",
     .doc = "Applied first."},
    {.key = "rotate", .kind = PL_PARAM_OBJECT, .table = &pl_rotate_table, .doc = "Applied second."},
    {.key = "translate",
     .kind = PL_PARAM_VECTOR,
     AT(pl_transform, translate),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .doc = "Applied last."},
};
const pl_param_table pl_transform_table = {
    .name = "transform", .doc = "How a mesh is placed.", ROWS(transform_rows)};

static const pl_param random_rows[] = {
    {.key = "seed",
     .kind = PL_PARAM_INTEGER,
     AT(pl_initial, seed),
     FROM(0, 9007199254740992.0),
     .standard = {1},
     .doc = "The same seed gives the same positions."},
};
const pl_param_table pl_random_table = {
    .name = "shape.random", .doc = "Uniform in the body's bounding box.", ROWS(random_rows)};

static const pl_param twisted_rows[] = {
    {.key = "turns",
     .kind = PL_PARAM_NUMBER,
     AT(pl_initial, turns),
     .unit = "1",
     FROM(-1000, 1000),
     .standard = {1},
     .doc = "Turns from one end to the other."},
    {.key = "axis",
     .kind = PL_PARAM_VECTOR,
     AT(pl_initial, axis),
     .direction = true,
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .standard = {1, 0, 0},
     .doc = "Through the body's centre."},
};
const pl_param_table pl_twisted_table = {
    .name = "shape.twisted", .doc = "Turned about an axis, evenly along it.", ROWS(twisted_rows)};

static const pl_param shape_rows[] = {
    {.key = "random",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_random_table,
     .variant = 1 + PL_SHAPE_RANDOM,
     .doc = "Every vertex anywhere."},
    {.key = "twisted",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_twisted_table,
     .variant = 1 + PL_SHAPE_TWISTED,
     .doc = "Twisted."},
    {.key = "stretched",
     .kind = PL_PARAM_VECTOR,
     AT(pl_initial, stretch),
     .unit = "1",
     FROM(-1e6, 1e6),
     .standard = {1, 1, 1},
     .variant = 1 + PL_SHAPE_STRETCHED,
     .doc = "Scaled about the body's centre."},
};
const pl_param_table pl_shape_table = {.name = "shape",
                                       .doc = "A starting shape other than the rest shape.",
                                       ROWS(shape_rows),
                                       .one_of = true,
                                       .kind_offset = offsetof(pl_initial, shape)};
static const char *const shape_words[] = {"rest", "collapsed", NULL};

static const pl_param initial_rows[] = {
    {.key = "velocity",
     .kind = PL_PARAM_VECTOR,
     AT(pl_initial, velocity),
     .unit = "m/s",
     FROM(-RATE_MAX, RATE_MAX),
     .doc = "Of every vertex."},
    {.key = "angular_velocity",
     .kind = PL_PARAM_VECTOR,
     AT(pl_initial, angular_velocity),
     .unit = "rad/s",
     FROM(-RATE_MAX, RATE_MAX),
     .doc = "About the centre of mass."},
    {.key = "shape",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_shape_table,
     .choices = shape_words,
     .standard_text = "rest",
     .doc = "Positions at time 0."},
};
const pl_param_table pl_initial_table = {
    .name = "initial", .doc = "The state at time 0.", ROWS(initial_rows)};

static const pl_param body_fields_rows[] = {
    {.key = "stiffness",
     .kind = PL_PARAM_STRING,
     AT(pl_body_fields, stiffness),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "none",
     .doc =
         "A field of one number: a factor > 0 on the energy of each element, bending, fibres and "
         "springs included."},
    {.key = "fibers",
     .kind = PL_PARAM_STRING,
     AT(pl_body_fields, fibers),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "none",
     .doc = "A field of vectors in the mesh's coordinates, in place of the direction of the "
            "material's fibers; of any length, and where it is 0 there are no fibres."},
};
const pl_param_table pl_body_fields_table = {
    .name = "body.fields",
    .doc = "Fields of the mesh file (Gmsh's $ElementData), by name.",
    ROWS(body_fields_rows)};

static const pl_param body_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_body, name),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "body-K, K from 0",
     .doc = "Unique among bodies."},
    {.key = "mesh",
     .kind = PL_PARAM_OBJECT,
     AT(pl_body, mesh),
     .table = &pl_mesh_table,
     .required = true,
     .doc = "Its elements."},
    {.key = "material",
     .kind = PL_PARAM_REFERENCE,
     AT(pl_body, material),
     .refers = "materials",
     .standard_text = "the only one, where there is one",
     .doc = "A key of materials."},
    {.key = "materials_by_tag",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_BY_TAG,
     .refers = "materials",
     FROM(0, 256),
     .type = "object: keys of materials by group of the mesh file, its name or number",
     .doc = "Another material for the elements of a group; of several groups the last one given."},
    {.key = "fields",
     .kind = PL_PARAM_OBJECT,
     AT(pl_body, fields),
     .table = &pl_body_fields_table,
     .doc = "What its mesh file says of each element."},
    {.key = "transform",
     .kind = PL_PARAM_OBJECT,
     AT(pl_body, transform),
     .table = &pl_transform_table,
     .doc = "Placement of its rest shape."},
    {.key = "initial",
     .kind = PL_PARAM_OBJECT,
     AT(pl_body, initial),
     .table = &pl_initial_table,
     .doc = "Its state at time 0."},
    {.key = "friction",
     .kind = PL_PARAM_NUMBER,
     AT(pl_body, friction),
     .unit = "1",
     FROM(0, 1e6),
     .standard = {1},
     .doc = "A factor on the friction of every obstacle, for this body."},
};
const pl_param_table pl_body_table = {.name = "body", .doc = "A deformable body.", ROWS(body_rows)};

/* ---- pins ---- */

static const pl_param select_box_rows[] = {
    {.key = "min",
     .kind = PL_PARAM_VECTOR,
     AT(pl_selection, lo),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .required = true,
     .doc = "Lower corner."},
    {.key = "max",
     .kind = PL_PARAM_VECTOR,
     AT(pl_selection, hi),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .required = true,
     .doc = "Upper corner."},
};
const pl_param_table pl_select_box_table = {
    .name = "select.box", .doc = "Vertices in a box.", ROWS(select_box_rows)};

static const pl_param select_sphere_rows[] = {
    {.key = "center",
     .kind = PL_PARAM_VECTOR,
     AT(pl_selection, center),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .doc = "Centre."},
    {.key = "radius",
     .kind = PL_PARAM_NUMBER,
     AT(pl_selection, radius),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .required = true,
     .doc = "Radius."},
};
const pl_param_table pl_select_sphere_table = {
    .name = "select.sphere", .doc = "Vertices in a ball.", ROWS(select_sphere_rows)};

static const pl_param select_plane_rows[] = {
    {.key = "normal",
     .kind = PL_PARAM_VECTOR,
     AT(pl_selection, normal),
     .direction = true,
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .standard = {0, 1, 0},
     .doc = "Away from the selection."},
    {.key = "offset",
     .kind = PL_PARAM_NUMBER,
     AT(pl_selection, offset),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .doc = "Vertices with normal . x <= offset."},
};
const pl_param_table pl_select_plane_table = {
    .name = "select.plane", .doc = "Vertices on one side of a plane.", ROWS(select_plane_rows)};

static const pl_param select_rows[] = {
    {.key = "side",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_SIDE,
     .variant = 1 + PL_SELECT_SIDE,
     .type = "one of: -x, +x, -y, +y, -z, +z",
     .doc = "A face of the body's bounding box."},
    {.key = "box",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_select_box_table,
     .variant = 1 + PL_SELECT_BOX,
     .doc = "In a box."},
    {.key = "sphere",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_select_sphere_table,
     .variant = 1 + PL_SELECT_SPHERE,
     .doc = "In a ball."},
    {.key = "plane",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_select_plane_table,
     .variant = 1 + PL_SELECT_PLANE,
     .doc = "Below a plane."},
    {.key = "indices",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_INDICES,
     FROM(0, INT32_MAX),
     .variant = 1 + PL_SELECT_INDICES,
     .type = "array of integers",
     .doc = "Vertices by number, in mesh order from 0."},
    {.key = "tag",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_TAG,
     .variant = 1 + PL_SELECT_TAG,
     .type = "string or integer",
     .doc = "A group of the mesh file, by name or number."},
    {.key = "relative",
     .kind = PL_PARAM_BOOLEAN,
     AT(pl_selection, relative),
     .doc = "Coordinates run from 0 to 1 over the body's bounding box."},
};
const pl_param_table pl_select_table = {.name = "select",
                                        .doc = "Which vertices of a body.",
                                        ROWS(select_rows),
                                        .one_of = true,
                                        .kind_offset = offsetof(pl_selection, kind)};
const char *const pl_select_words[] = {"all", NULL};

static const pl_param key_rotate_rows[] = {
    TURN_ROWS(pl_keyframe, axis, degrees, "Through the motion's origin.",
              "Counter-clockwise, from time 0; between keyframes of one axis 720 is two turns."),
};
const pl_param_table pl_key_rotate_table = {
    .name = "keyframe.rotate", .doc = "A rotation.", ROWS(key_rotate_rows)};

static const pl_param keyframe_rows[] = {
    {.key = "time",
     .kind = PL_PARAM_NUMBER,
     AT(pl_keyframe, time),
     .unit = "s",
     FROM(0, 1e12),
     .required = true,
     .doc = "After the one before."},
    {.key = "translate",
     .kind = PL_PARAM_VECTOR,
     AT(pl_keyframe, translate),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .doc = "From where it is at time 0."},
    {.key = "rotate",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_key_rotate_table,
     .doc = "About the motion's origin, from how it is at time 0."},
};
const pl_param_table pl_keyframe_table = {
    .name = "keyframe", .doc = "Where a motion is at a time.", ROWS(keyframe_rows)};

static const char *const interpolations[] = {"linear", "smooth", NULL};

static const pl_param motion_rows[] = {
    {.key = "keyframes",
     .kind = PL_PARAM_LIST,
     .table = &pl_keyframe_table,
     .offset = offsetof(pl_motion, keyframes),
     .size = sizeof(pl_keyframe),
     .count_offset = offsetof(pl_motion, keyframe_count),
     FROM(1, 10000),
     .standard_text = "none: velocity and degrees_per_second",
     .doc = "In the order of their times, from rest at time 0 to the last, and there it stays."},
    {.key = "interpolation",
     .kind = PL_PARAM_CHOICE,
     AT(pl_motion, interpolation),
     .choices = interpolations,
     .doc = "Between keyframes: at a constant rate, or smoothly from rest to rest."},
    {.key = "velocity",
     .kind = PL_PARAM_VECTOR,
     AT(pl_motion, velocity),
     .unit = "m/s",
     FROM(-RATE_MAX, RATE_MAX),
     .doc = "Translation."},
    {.key = "axis",
     .kind = PL_PARAM_VECTOR,
     AT(pl_motion, axis),
     .direction = true,
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .standard_text = "none: no rotation",
     .doc = "Of rotation; goes with degrees_per_second."},
    {.key = "degrees_per_second",
     .kind = PL_PARAM_NUMBER,
     AT(pl_motion, degrees_per_second),
     .unit = "degrees/s",
     FROM(-RATE_MAX, RATE_MAX),
     .doc = "Rate of rotation; goes with axis."},
    {.key = "origin",
     .kind = PL_PARAM_VECTOR,
     AT(pl_motion, origin),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .flagged = true,
     .flag_offset = offsetof(pl_motion, has_origin),
     .standard_text = "the centre of the selection, or of the obstacle",
     .doc = "A point on the axis of rotation."},
};
const pl_param_table pl_motion_table = {
    .name = "motion", .doc = "A rigid motion over time.", ROWS(motion_rows)};

static const pl_param pin_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_pin, name),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "pin-K, K from 0",
     .doc = "Unique among pins."},
    BODY_ROW(pl_pin, "A body's name."),
    {.key = "select",
     .kind = PL_PARAM_OBJECT,
     AT(pl_pin, select),
     .table = &pl_select_table,
     .choices = pl_select_words,
     .required = true,
     .doc = "The vertices that are held."},
    {.key = "axes",
     .kind = PL_PARAM_CUSTOM,
     AT(pl_pin, axes),
     .custom = PL_CUSTOM_AXES,
     .standard = {PL_AXES_ALL},
     .standard_text = "all three",
     .type = "array of: x, y, z",
     .doc = "The coordinates that are held; along the others the vertices are free."},
    {.key = "motion",
     .kind = PL_PARAM_OBJECT,
     AT(pl_pin, motion),
     .table = &pl_motion_table,
     .flagged = true,
     .flag_offset = offsetof(pl_pin, motion.present),
     .standard_text = "held where they are",
     .doc = "How they are moved."},
};
const pl_param_table pl_pin_table = {
    .name = "pin", .doc = "Vertices held or moved.", ROWS(pin_rows)};
