/* params_parts.c - the parameter tables of a scene's parts: bodies, pins, their motions and selections. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

/* ---- bodies ---- */

static const pl_param rotate_rows[] = {
    TURN_ROWS(pl_transform, rotate_axis, rotate_degrees, "Axis through the origin.",
              "Angle, counter-clockwise."),
};
const pl_param_table pl_rotate_table = {
    .name = "rotate", .doc = "A rotation about the origin.", ROWS(rotate_rows)};

static const pl_param transform_rows[] = {
    CUSTOM("scale", SCALE, "number, or array of 3 numbers", "Applied first.",
           AT(pl_transform, scale), UNIT("1"), ABOVE(0, LENGTH_MAX), DEFAULT(1, 1, 1)),
    PART("rotate", pl_rotate_table, "Applied second."),
    POINT("translate", pl_transform, translate, "Applied last."),
};
const pl_param_table pl_transform_table = {
    .name = "transform", .doc = "Placement of a mesh.", ROWS(transform_rows)};

static const pl_param random_rows[] = {
    INTEGER("seed", FROM(0, 9007199254740992.0), 1, pl_initial, seed,
            "The same seed gives the same positions."),
};
const pl_param_table pl_random_table = {
    .name = "shape.random", .doc = "Uniform in the body's bounding box.", ROWS(random_rows)};

static const pl_param twisted_rows[] = {
    NUMBER("turns", "1", FROM(-1000, 1000), 1, pl_initial, turns,
           "Turns from one end to the other."),
    DIRECTION("axis", EACH(1, 0, 0), pl_initial, axis, "Axis through the body's centre."),
};
const pl_param_table pl_twisted_table = {
    .name = "shape.twisted", .doc = "Turned about an axis, evenly along it.", ROWS(twisted_rows)};

static const pl_param shape_rows[] = {
    PART("random", pl_random_table, "Every vertex at a random position.", FORM(PL_SHAPE_RANDOM)),
    PART("twisted", pl_twisted_table, "Twisted.", FORM(PL_SHAPE_TWISTED)),
    VECTOR("stretched", "1", FROM(-1e6, 1e6), EACH(1, 1, 1), pl_initial, stretch,
           "Scaled about the body's centre.", FORM(PL_SHAPE_STRETCHED)),
};
const pl_param_table pl_shape_table = {.name = "shape",
                                       .doc = "A starting shape other than the rest shape.",
                                       ROWS(shape_rows),
                                       .one_of = true,
                                       .kind_offset = offsetof(pl_initial, shape)};
static const char *const shape_words[] = {"rest", "collapsed", NULL};

static const pl_param initial_rows[] = {
    VECTOR("velocity", "m/s", FROM(-RATE_MAX, RATE_MAX), 0, pl_initial, velocity,
           "Velocity of every vertex."),
    VECTOR("angular_velocity", "rad/s", FROM(-RATE_MAX, RATE_MAX), 0, pl_initial, angular_velocity,
           "Angular velocity about the centre of mass."),
    PART("shape", pl_shape_table, "Positions at time 0.", OR_WORD(shape_words), WORDED("rest")),
};
const pl_param_table pl_initial_table = {
    .name = "initial", .doc = "The state at time 0.", ROWS(initial_rows)};

static const pl_param body_fields_rows[] = {
    STRING("stiffness", FROM(1, PL_SCENE_NAME_MAX), "none", pl_body_fields, stiffness,
           "Scalar field: a factor > 0 on each element's energy, including bending, fibres "
           "and springs."),
    STRING("fibers", FROM(1, PL_SCENE_NAME_MAX), "none", pl_body_fields, fibers,
           "Vector field in the mesh's coordinates that replaces the direction of the "
           "material's fibers. Lengths do not matter, but a zero vector means no fibres."),
};
const pl_param_table pl_body_fields_table = {
    .name = "body.fields",
    .doc = "Fields of the mesh file (Gmsh's $ElementData), by name.",
    ROWS(body_fields_rows)};

static const pl_param body_rows[] = {
    NAME(pl_body, "body", "bodies"),
    OBJECT("mesh", pl_mesh_table, pl_body, mesh, "Its elements.", REQUIRED),
    REFERENCE("material", "materials", pl_body, material, "A key of materials.",
              WORDED("the only one, if there is one")),
    CUSTOM("materials_by_tag", BY_TAG,
           "object: keys of materials by group of the mesh file, its name or number",
           "Material for the elements of a group. If an element is in several groups, the last one "
           "given applies.",
           FROM(0, 256), .refers = "materials"),
    OBJECT("fields", pl_body_fields_table, pl_body, fields, "Element data of its mesh file."),
    OBJECT("transform", pl_transform_table, pl_body, transform, "Placement of its rest shape."),
    OBJECT("initial", pl_initial_table, pl_body, initial, "Its state at time 0."),
    NUMBER("friction", "1", FROM(0, 1e6), 1, pl_body, friction,
           "A factor on the friction of every obstacle, for this body."),
};
const pl_param_table pl_body_table = {.name = "body", .doc = "A deformable body.", ROWS(body_rows)};

/* ---- pins ---- */

static const pl_param select_box_rows[] = {
    POINT("min", pl_selection, lo, "Lower corner.", REQUIRED),
    POINT("max", pl_selection, hi, "Upper corner.", REQUIRED),
};
const pl_param_table pl_select_box_table = {
    .name = "select.box", .doc = "Vertices in a box.", ROWS(select_box_rows)};

static const pl_param select_sphere_rows[] = {
    CENTER(pl_selection),
    LENGTH("radius", 0, pl_selection, radius, "Radius.", REQUIRED),
};
const pl_param_table pl_select_sphere_table = {
    .name = "select.sphere", .doc = "Vertices in a ball.", ROWS(select_sphere_rows)};

static const pl_param select_plane_rows[] = {
    PLANE_ROWS(pl_selection, "Away from the selection.", "Vertices with normal . x <= offset."),
};
const pl_param_table pl_select_plane_table = {
    .name = "select.plane", .doc = "Vertices on one side of a plane.", ROWS(select_plane_rows)};

static const pl_param select_rows[] = {
    CUSTOM("side", SIDE, "one of: -x, +x, -y, +y, -z, +z", "A face of the body's bounding box.",
           FORM(PL_SELECT_SIDE)),
    PART("box", pl_select_box_table, "Vertices in a box.", FORM(PL_SELECT_BOX)),
    PART("sphere", pl_select_sphere_table, "Vertices in a ball.", FORM(PL_SELECT_SPHERE)),
    PART("plane", pl_select_plane_table, "Vertices below a plane.", FORM(PL_SELECT_PLANE)),
    CUSTOM("indices", INDICES, "array of integers", "Vertices by number, in mesh order from 0.",
           FROM(0, INT32_MAX), FORM(PL_SELECT_INDICES)),
    CUSTOM("tag", TAG, "string or integer", "A group of the mesh file, by name or number.",
           FORM(PL_SELECT_TAG)),
    BOOLEAN("relative", pl_selection, relative,
            "Coordinates run from 0 to 1 over the body's bounding box."),
};
const pl_param_table pl_select_table = {.name = "select",
                                        .doc = "A selection of a body's vertices.",
                                        ROWS(select_rows),
                                        .one_of = true,
                                        .kind_offset = offsetof(pl_selection, kind)};
const char *const pl_select_words[] = {"all", NULL};

static const pl_param key_rotate_rows[] = {
    TURN_ROWS(pl_keyframe, axis, degrees, "Axis through the motion's origin.",
              "Counter-clockwise, from time 0; between keyframes of one axis 720 is two turns."),
};
const pl_param_table pl_key_rotate_table = {
    .name = "keyframe.rotate", .doc = "A rotation.", ROWS(key_rotate_rows)};

static const pl_param keyframe_rows[] = {
    NUMBER("time", "s", FROM(0, 1e12), 0, pl_keyframe, time,
           "Time, later than the keyframe before.", REQUIRED),
    POINT("translate", pl_keyframe, translate, "Displacement since time 0."),
    PART("rotate", pl_key_rotate_table, "Rotation about the motion's origin since time 0."),
};
const pl_param_table pl_keyframe_table = {
    .name = "keyframe", .doc = "Position and rotation at a time.", ROWS(keyframe_rows)};

static const char *const interpolations[] = {"linear", "smooth", NULL};

static const pl_param motion_rows[] = {
    LIST("keyframes", pl_keyframe_table, FROM(1, 10000), pl_motion, keyframes, keyframe_count,
         "Keyframes in order of time. Motion starts from rest at time 0 and stops at the last.",
         WORDED("none: velocity and degrees_per_second")),
    CHOICE("interpolation", interpolations, pl_motion, interpolation,
           "Interpolation between keyframes: at a constant rate, or smoothly from rest to rest."),
    VECTOR("velocity", "m/s", FROM(-RATE_MAX, RATE_MAX), 0, pl_motion, velocity, "Translation."),
    DIRECTION("axis", 0, pl_motion, axis, "Axis of rotation; needs degrees_per_second.",
              WORDED("none: no rotation")),
    NUMBER("degrees_per_second", "degrees/s", FROM(-RATE_MAX, RATE_MAX), 0, pl_motion,
           degrees_per_second, "Rate of rotation; needs axis."),
    POINT("origin", pl_motion, origin, "A point on the axis of rotation.",
          OPTIONAL(pl_motion, has_origin, "the centre of the selection, or of the obstacle")),
};
const pl_param_table pl_motion_table = {
    .name = "motion", .doc = "A rigid motion over time.", ROWS(motion_rows)};

static const pl_param pin_rows[] = {
    NAME(pl_pin, "pin", "pins"),
    BODY(pl_pin, "A body's name."),
    SELECT(pl_pin, "Held vertices.", REQUIRED),
    CUSTOM("axes", AXES, "array of: x, y, z", "Fixed coordinates; the others are free.",
           AT(pl_pin, axes), DEFAULT(PL_AXES_ALL), WORDED("all three")),
    MOTION(pl_pin, "fixed in place", "Rigid motion of the fixed vertices."),
};
const pl_param_table pl_pin_table = {
    .name = "pin", .doc = "Vertices that are fixed or moved.", ROWS(pin_rows)};
