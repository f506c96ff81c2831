/* params_rows.h - notation for the rows of the parameter tables, and the tables of params_*.c; private to
 * protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_PARAMS_ROWS_H
#define PLIANT_PROTOCOL_SCENE_PARAMS_ROWS_H

#include "engine/scene/obstacle.h"
#include "protocol/scene/params.h"

/* Parts of a row: offset of the value in the table's struct, bounds, default. */
#define AT(type, field) .offset = offsetof(type, field), .size = sizeof(((type *)0)->field)
#define FROM(lo, hi)    .minimum = (lo), .maximum = (hi)
#define ABOVE(lo, hi)   .minimum = (lo), .maximum = (hi), .above_minimum = true
#define EACH(...)       __VA_ARGS__ /* the default of each component */
#define ROWS(rows)      .params = (rows), .count = sizeof(rows) / sizeof(rows)[0]

/* Options after a row's text. */
#define REQUIRED           .required = true
#define UNIT(of)           .unit = (of)
#define DEFAULT(...)       .standard = {__VA_ARGS__}
#define WORDED(words)      .standard_text = (words) /* the default, in words */
#define COMPONENTS(n)      .components = (n)
#define LACKING(names)     .absent = (names)  /* unsupported by this version */
#define OR_WORD(words)     .choices = (words) /* an object or a boolean, or one of these strings */
#define FORM(kind_of)      .variant = 1 + (kind_of)
#define GOES_WITH(kind_of) .variant = 1 + (kind_of), .accompanies = true
/* An optional key; `flag` records whether it was given, `words` describe the default. */
#define OPTIONAL(type, flag, words)                                                                \
    .flagged = true, .flag_offset = offsetof(type, flag), .standard_text = (words)

/* Rows by kind: key, unit, bounds, default, place, one sentence, and then options. */
#define ROW(name, of_kind, text, ...)                                                              \
    {                                                                                              \
        .key = name, .kind = of_kind, .doc = text, __VA_ARGS__                                     \
    }
#define NUMBER(name, of, bounds, value, type, field, text, ...)                                    \
    ROW(name, PL_PARAM_NUMBER, text, AT(type, field), .unit = of, bounds, .standard = {value},     \
        __VA_ARGS__)
#define LENGTH(name, value, type, field, text, ...)                                                \
    NUMBER(name, "m", ABOVE(0, LENGTH_MAX), value, type, field, text, __VA_ARGS__)
#define INTEGER(name, bounds, value, type, field, text, ...)                                       \
    ROW(name, PL_PARAM_INTEGER, text, AT(type, field), bounds, .standard = {value}, __VA_ARGS__)
#define BOOLEAN(name, type, field, text, ...)                                                      \
    ROW(name, PL_PARAM_BOOLEAN, text, AT(type, field), __VA_ARGS__)
#define STRING(name, bounds, value, type, field, text)                                             \
    ROW(name, PL_PARAM_STRING, text, AT(type, field), bounds, .standard_text = value)
#define CHOICE(name, words, type, field, text, ...)                                                \
    ROW(name, PL_PARAM_CHOICE, text, AT(type, field), .choices = words, __VA_ARGS__)
#define VECTOR(name, of, bounds, value, type, field, text, ...)                                    \
    ROW(name, PL_PARAM_VECTOR, text, AT(type, field), .unit = of, bounds, .standard = {value},     \
        __VA_ARGS__)
#define POINT(name, type, field, text, ...)                                                        \
    VECTOR(name, "m", FROM(-LENGTH_MAX, LENGTH_MAX), 0, type, field, text, __VA_ARGS__)
#define DIRECTION(name, value, type, field, text, ...)                                             \
    ROW(name, PL_PARAM_VECTOR, text, AT(type, field), FROM(-LENGTH_MAX, LENGTH_MAX),               \
        .direction = true, .standard = {value}, __VA_ARGS__)
#define COUNTS(name, bounds, value, type, field, text, ...)                                        \
    ROW(name, PL_PARAM_COUNTS, text, AT(type, field), bounds, .standard = {value}, __VA_ARGS__)
#define OBJECT(name, of_table, type, field, text, ...)                                             \
    ROW(name, PL_PARAM_OBJECT, text, AT(type, field), .table = &of_table, __VA_ARGS__)
/* An object whose keys fill the same struct as the enclosing table. */
#define PART(name, of_table, text, ...)                                                            \
    ROW(name, PL_PARAM_OBJECT, text, .table = &of_table, __VA_ARGS__)
#define MEMBERS(type, field, counted)                                                              \
    .offset = offsetof(type, field), .size = sizeof *((type *)0)->field,                           \
    .count_offset = offsetof(type, counted)
#define LIST(name, of_table, bounds, type, field, counted, text, ...)                              \
    ROW(name, PL_PARAM_LIST, text, MEMBERS(type, field, counted), .table = &of_table, bounds,      \
        __VA_ARGS__)
#define MAP(name, of_table, bounds, type, field, counted, text, ...)                               \
    ROW(name, PL_PARAM_MAP, text, MEMBERS(type, field, counted), .table = &of_table, bounds,       \
        __VA_ARGS__)
#define REFERENCE(name, list, type, field, text, ...)                                              \
    ROW(name, PL_PARAM_REFERENCE, text, AT(type, field), .refers = list, __VA_ARGS__)
#define CUSTOM(name, what, takes, text, ...)                                                       \
    ROW(name, PL_PARAM_CUSTOM, text, .custom = PL_CUSTOM_##what, .type = takes, __VA_ARGS__)

/* ---- rows shared by several tables ---- */

#define NAME(type, one, many)                                                                      \
    STRING("name", FROM(1, PL_SCENE_NAME_MAX), one "-K, K from 0", type, name,                     \
           "Unique among " many ".")

/* A mesh of bodies and of obstacles: the table's struct begins with a pl_mesh_source. */
#define UPLOAD_ROWS                                                                                \
    CUSTOM("upload", UPLOAD,                                                                       \
           "\"sha256:<64 hex digits>\", or {\"node\": ..., \"ele\": ...} for tetgen",              \
           "A mesh file uploaded earlier.", FORM(PL_SOURCE_UPLOAD)),                               \
        CHOICE("format", pl_format_words, pl_mesh_source, format, "Format of the uploaded file.",  \
               GOES_WITH(PL_SOURCE_UPLOAD), WORDED("gmsh; tetgen for {\"node\", \"ele\"}"))
#define VERTICES(text)                                                                             \
    CUSTOM("vertices", VERTICES, "array of numbers, flat or as [x, y, z]", text, UNIT("m"),        \
           FROM(-LENGTH_MAX, LENGTH_MAX), FORM(PL_SOURCE_INLINE))
#define ELEMENTS(name, what, corners, text)                                                        \
    CUSTOM(name, what, "array of vertex indices, flat or as " corners, text, FROM(0, INT32_MAX),   \
           GOES_WITH(PL_SOURCE_INLINE))

/* A rotation: its axis, which passes through the point named in the text, and its extent. */
#define TURN_ROWS(type, axis_field, degrees_field, through, how)                                   \
    DIRECTION("axis", EACH(0, 0, 1), type, axis_field, through),                                   \
        NUMBER("degrees", "degrees", FROM(-RATE_MAX, RATE_MAX), 0, type, degrees_field, how)

#define CENTER(type) POINT("center", type, center, "Centre.")
/* The side of a plane, for an obstacle or a selection. */
#define PLANE_ROWS(type, side, where)                                                              \
    DIRECTION("normal", EACH(0, 1, 0), type, normal, side),                                        \
        NUMBER("offset", "m", FROM(-LENGTH_MAX, LENGTH_MAX), 0, type, offset, where)

/* The body that something applies to, and its vertices. */
#define BODY(type, text)                                                                           \
    REFERENCE("body", "bodies", type, body, text, WORDED("the only one, if there is one"))
#define SELECT(type, text, ...)                                                                    \
    OBJECT("select", pl_select_table, type, select, text, OR_WORD(pl_select_words), __VA_ARGS__)

/* The two bodies between which something applies. */
#define BETWEEN(type, field, text, ...)                                                            \
    CUSTOM("between", BETWEEN, "array of two bodies' names", text, AT(type, field),                \
           .refers = "bodies", __VA_ARGS__)

/* Motion of a pin or an obstacle, in a scene. */
#define MOTION(type, without, text)                                                                \
    OBJECT("motion", pl_motion_table, type, motion, text, OPTIONAL(type, motion.present, without))

/* The session's own keys, not the engine's: for scenes, and for PATCH. */
#define TITLE(type) STRING("name", FROM(0, 255), "empty", type, name, "For people.")
#define LABELS                                                                                     \
    CUSTOM("labels", LABELS, "object of strings", "User-defined labels for finding sessions.")
#define METADATA                                                                                   \
    CUSTOM("metadata", METADATA, "object",                                                         \
           "User-defined data, at most 16384 bytes; shown with the session.")
#define WEBHOOK                                                                                    \
    CUSTOM("webhook", WEBHOOK, "{\"url\": \"https://...\"}",                                       \
           "Receives a signed POST from the daemon when the session has ended.")
#define PRIORITY                                                                                   \
    CUSTOM("priority", PRIORITY, "integer",                                                        \
           "Priority in a daemon's queue: higher ones start first. Running sessions keep their "   \
           "cores.",                                                                               \
           FROM(-PL_PRIORITY_MAX, PL_PRIORITY_MAX), WORDED("0"))

/* Bounds far outside anything physical, so that products of a few numbers stay finite. */
#define LENGTH_MAX   1e9
#define RATE_MAX     1e9
#define FRICTION_MAX 1e6

/* Every table, in the order of the schema: X(scene) is pl_scene_table. One per line, so that additions merge. */
/* clang-format off */
#define PL_PARAM_TABLES(X)                                                                         \
    X(scene)                                                                                       \
    X(notes)                                                                                       \
    X(time)                                                                                        \
    X(solver)                                                                                      \
    X(material)                                                                                    \
    X(lame)                                                                                        \
    X(rubber)                                                                                      \
    X(bending)                                                                                     \
    X(strain_limit)                                                                                \
    X(fibers)                                                                                      \
    X(damping)                                                                                     \
    X(body)                                                                                        \
    X(body_fields)                                                                                 \
    X(mesh)                                                                                        \
    X(box)                                                                                         \
    X(sphere)                                                                                      \
    X(cylinder)                                                                                    \
    X(torus)                                                                                       \
    X(helix)                                                                                       \
    X(cloth)                                                                                       \
    X(rope)                                                                                        \
    X(transform)                                                                                   \
    X(rotate)                                                                                      \
    X(initial)                                                                                     \
    X(shape)                                                                                       \
    X(random)                                                                                      \
    X(twisted)                                                                                     \
    X(pin)                                                                                         \
    X(attachment)                                                                                  \
    X(select)                                                                                      \
    X(select_box)                                                                                  \
    X(select_sphere)                                                                               \
    X(select_plane)                                                                                \
    X(motion)                                                                                      \
    X(obstacle)                                                                                    \
    X(obstacle_plane)                                                                              \
    X(obstacle_sphere)                                                                             \
    X(expectation)                                                                                 \
    X(probe)                                                                                       \
    X(keyframe)                                                                                    \
    X(key_rotate)                                                                                  \
    X(force)                                                                                       \
    X(wind)                                                                                        \
    X(point)                                                                                       \
    X(pressure)                                                                                    \
    X(contact)                                                                                     \
    X(contact_pair)                                                                                \
    X(obstacle_turn)                                                                               \
    PL_EACH_OBSTACLE_TABLE(X)                                                                      \
    X(output)                                                                                      \
    X(retention)                                                                                   \
    X(resources)                                                                                   \
    X(control)                                                                                     \
    X(control_pin)                                                                                 \
    X(control_obstacle)                                                                            \
    X(control_force)                                                                               \
    X(control_damping)                                                                             \
    X(control_material)
/* clang-format on */
#define PL_DECLARE_TABLE(name) extern const pl_param_table pl_##name##_table;
PL_PARAM_TABLES(PL_DECLARE_TABLE)
#undef PL_DECLARE_TABLE

extern const char *const pl_inextensible_words[];
extern const char *const pl_format_words[]; /* as pl_upload_format has them */
extern const pl_absent pl_file_absent[];    /* known only to the command line */
extern const char *const pl_when_words[];   /* for "at", in the order of pl_when */
extern const char *const pl_select_words[]; /* for the whole of a body */

#endif
