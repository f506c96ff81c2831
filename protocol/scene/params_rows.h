/* params_rows.h - how the rows of the parameter tables are written, and the tables of
 * params_*.c; private to protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_PARAMS_ROWS_H
#define PLIANT_PROTOCOL_SCENE_PARAMS_ROWS_H

#include "protocol/scene/params.h"

#define AT(type, field) .offset = offsetof(type, field), .size = sizeof(((type *)0)->field)
#define FROM(lo, hi)    .minimum = (lo), .maximum = (hi)
#define ABOVE(lo, hi)   .minimum = (lo), .maximum = (hi), .above_minimum = true
#define ROWS(rows)      .params = (rows), .count = sizeof(rows) / sizeof(rows)[0]

/* A mesh file, of bodies and of obstacles: rows of a table whose struct begins with a pl_mesh_source. */
#define UPLOAD_ROWS                                                                                \
    {.key = "upload",                                                                              \
     .kind = PL_PARAM_CUSTOM,                                                                      \
     .custom = PL_CUSTOM_UPLOAD,                                                                   \
     .variant = 1 + PL_SOURCE_UPLOAD,                                                              \
     .type = "\"sha256:<64 hex digits>\", or {\"node\": ..., \"ele\": ...} for tetgen",            \
     .doc = "A mesh file uploaded before."},                                                       \
    {                                                                                              \
        .key = "format", .kind = PL_PARAM_CHOICE, AT(pl_mesh_source, format),                      \
        .choices = pl_format_words, .variant = 1 + PL_SOURCE_UPLOAD, .accompanies = true,          \
        .standard_text = "gmsh; tetgen for {\"node\", \"ele\"}", .doc = "Of the uploaded file."    \
    }

/* A rotation: its axis, through what the text says, and how far it goes. */
#define TURN_ROWS(type, axis_field, degrees_field, through, how)                                   \
    {.key = "axis",                                                                                \
     .kind = PL_PARAM_VECTOR,                                                                      \
     AT(type, axis_field),                                                                         \
     .direction = true,                                                                            \
     FROM(-LENGTH_MAX, LENGTH_MAX),                                                                \
     .standard = {0, 0, 1},                                                                        \
     .doc = through},                                                                              \
    {                                                                                              \
        .key = "degrees", .kind = PL_PARAM_NUMBER, AT(type, degrees_field), .unit = "degrees",     \
        FROM(-RATE_MAX, RATE_MAX), .doc = how                                                      \
    }

/* The body that something is about. */
#define BODY_ROW(type, text)                                                                       \
    {                                                                                              \
        .key = "body", .kind = PL_PARAM_REFERENCE, AT(type, body), .refers = "bodies",             \
        .standard_text = "the only one, where there is one", .doc = text                           \
    }

/* What is a session's own and not the engine's: of scenes, and of PATCH. */
#define LABELS_ROW                                                                                 \
    {                                                                                              \
        .key = "labels", .kind = PL_PARAM_CUSTOM, .custom = PL_CUSTOM_LABELS,                      \
        .type = "object of strings", .doc = "The user's own, to find sessions by."                 \
    }
#define METADATA_ROW                                                                               \
    {                                                                                              \
        .key = "metadata", .kind = PL_PARAM_CUSTOM, .custom = PL_CUSTOM_METADATA,                  \
        .type = "object", .doc = "The user's own, at most 16384 bytes; shown with the session."    \
    }
#define WEBHOOK_ROW                                                                                \
    {                                                                                              \
        .key = "webhook", .kind = PL_PARAM_CUSTOM, .custom = PL_CUSTOM_WEBHOOK,                    \
        .type = "{\"url\": \"https://...\"}",                                                      \
        .doc = "Where a daemon sends a signed POST when the session has ended."                    \
    }
#define PRIORITY_ROW                                                                               \
    {                                                                                              \
        .key = "priority", .kind = PL_PARAM_CUSTOM, .custom = PL_CUSTOM_PRIORITY,                  \
        FROM(-PL_PRIORITY_MAX, PL_PRIORITY_MAX), .standard_text = "0", .type = "integer",          \
        .doc = "In a daemon's queue a higher one goes first; it takes cores from none that runs."  \
    }

/* Bounds far outside anything physical, so that products of a few numbers stay finite. */
#define LENGTH_MAX 1e9
#define RATE_MAX   1e9

extern const pl_param_table pl_time_table;
extern const pl_param_table pl_solver_table;
extern const pl_param_table pl_output_table;
extern const pl_param_table pl_resources_table;
extern const pl_param_table pl_notes_table;
extern const pl_param_table pl_retention_table;
extern const pl_param_table pl_material_table;
extern const pl_param_table pl_lame_table;
extern const pl_param_table pl_rubber_table;
extern const pl_param_table pl_box_table;
extern const pl_param_table pl_sphere_table;
extern const pl_param_table pl_cylinder_table;
extern const pl_param_table pl_torus_table;
extern const pl_param_table pl_helix_table;
extern const pl_param_table pl_cloth_table;
extern const pl_param_table pl_rope_table;
extern const pl_param_table pl_mesh_table;
extern const pl_param_table pl_rotate_table;
extern const pl_param_table pl_transform_table;
extern const pl_param_table pl_random_table;
extern const pl_param_table pl_twisted_table;
extern const pl_param_table pl_shape_table;
extern const pl_param_table pl_initial_table;
extern const pl_param_table pl_body_fields_table;
extern const pl_param_table pl_body_table;
extern const pl_param_table pl_select_box_table;
extern const pl_param_table pl_select_sphere_table;
extern const pl_param_table pl_select_plane_table;
extern const pl_param_table pl_select_table;
extern const pl_param_table pl_key_rotate_table;
extern const pl_param_table pl_keyframe_table;
extern const pl_param_table pl_wind_table;
extern const pl_param_table pl_point_table;
extern const pl_param_table pl_pressure_table;
extern const pl_param_table pl_force_table;
extern const pl_param_table pl_motion_table;
extern const pl_param_table pl_pin_table;
extern const pl_param_table pl_bending_table;
extern const pl_param_table pl_strain_limit_table;
extern const pl_param_table pl_fibers_table;
extern const pl_param_table pl_damping_table;
extern const pl_param_table pl_attachment_table;
extern const char *const pl_inextensible_words[];
extern const pl_param_table pl_obstacle_plane_table;
extern const pl_param_table pl_obstacle_sphere_table;
/* Tables of the obstacles' shapes in the schema's order: declared here, listed in params.c. */
#define PL_OBSTACLE_SHAPES(X)   X(turn) X(box) X(cylinder) X(capsule) X(torus) X(heightfield) X(mesh)
#define PL_DECLARE_SHAPE(shape) extern const pl_param_table pl_obstacle_##shape##_table;
PL_OBSTACLE_SHAPES(PL_DECLARE_SHAPE)
#undef PL_DECLARE_SHAPE
extern const pl_param_table pl_obstacle_table;
extern const pl_param_table pl_expectation_table;
extern const pl_param_table pl_probe_table;
extern const pl_param_table pl_control_table;
extern const pl_param_table pl_control_pin_table;
extern const pl_param_table pl_control_obstacle_table;
extern const pl_param_table pl_control_damping_table;
extern const pl_param_table pl_control_force_table;
extern const pl_param_table pl_control_material_table;
extern const char *const pl_format_words[]; /* as pl_upload_format has them */
extern const pl_absent pl_file_absent[];    /* what only the command line knows */
extern const char *const pl_when_words[];   /* of "at", as pl_when has them */
extern const char *const pl_select_words[]; /* for the whole of a body */

#endif
