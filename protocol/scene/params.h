/* params.h - the table of every parameter a scene has: the one description that decoding,
 * validation, defaults, the effective scene, /v1/capabilities and the documentation all read. A
 * parameter that is not in a table does not exist.
 *
 * A table describes one JSON object and the C struct that it fills. Objects nest by
 * PL_PARAM_OBJECT; a table whose object is one of several forms (a mesh from a box, or a sphere, or
 * an upload) is a union: its variants' keys exclude each other and set the struct's `kind`.
 */
#ifndef PLIANT_PROTOCOL_SCENE_PARAMS_H
#define PLIANT_PROTOCOL_SCENE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pl_param_kind {
    PL_PARAM_NUMBER,  /* double */
    PL_PARAM_INTEGER, /* int64_t or int32_t by `size` */
    PL_PARAM_BOOLEAN, /* bool. With `choices`: or a string, one of these; stored as an enum of
                         these, then false and true */
    PL_PARAM_STRING,  /* char *, malloc'ed; at most `maximum` bytes */
    PL_PARAM_CHOICE,  /* enum or bool by `size`; `choices` names the values in order */
    PL_PARAM_VECTOR,  /* double[3], or of `components` */
    PL_PARAM_COUNTS,  /* int32_t[3], or of `components`: cells for example */
    PL_PARAM_OBJECT,  /* an object with a table of its own, inline in the struct. With `choices`: or
                         a string, one of these, that sets the table's kind */
    PL_PARAM_LIST,    /* array of objects: a malloc'ed array of `size`-byte structs that begin with
                         char *name, where the table has a "name". `minimum` to `maximum` of them */
    PL_PARAM_MAP,     /* the same, as an object by name; an absent or empty one makes a single
                         member called `standard_text` with the defaults */
    PL_PARAM_REFERENCE, /* int32_t index into the root's list or map `refers`, by name; may be left
                           out where that has one member, or where it is flagged */
    PL_PARAM_CUSTOM,    /* decoded and encoded by functions of its own */
} pl_param_kind;

/* What is decoded and encoded by functions of its own. */
typedef enum pl_custom {
    PL_CUSTOM_NONE,
    PL_CUSTOM_VERSION,   /* the number 1 */
    PL_CUSTOM_METADATA,  /* any object: pl_notes */
    PL_CUSTOM_LABELS,    /* an object of strings: pl_notes */
    PL_CUSTOM_SCALE,     /* a number or three: double[3] */
    PL_CUSTOM_UPLOAD,    /* "sha256:...", or {"node", "ele"}: pl_mesh_source */
    PL_CUSTOM_VERTICES,  /* numbers, flat or in threes: pl_mesh_source */
    PL_CUSTOM_TETS,      /* indices, flat or in fours: pl_mesh_source */
    PL_CUSTOM_SIDE,      /* "-x" to "+z": pl_selection */
    PL_CUSTOM_INDICES,   /* pl_selection */
    PL_CUSTOM_TAG,       /* pl_selection */
    PL_CUSTOM_AT,        /* a time or a word: pl_expectation */
    PL_CUSTOM_AXES,      /* an array of "x", "y", "z": int32_t, bit c for coordinate c */
    PL_CUSTOM_FIELDS,    /* an array of "position", "velocity": int32_t, a bit each */
    PL_CUSTOM_TRIANGLES, /* flat or in threes: pl_mesh_source */
    PL_CUSTOM_EDGES,     /* flat or in pairs: pl_mesh_source */
    PL_CUSTOM_BY_TAG,    /* an object of references by tag: pl_body */
    PL_CUSTOM_HEIGHTS,   /* rows of numbers: pl_obstacle */
    PL_CUSTOM_SPLINES,   /* "A", "B" or points of functions: pl_material */
    PL_CUSTOM_CURVE,     /* points of a stress: pl_material */
    PL_CUSTOM_POINTS,    /* points of a multiplier: pl_damping_points */
    PL_CUSTOM_PRIORITY,  /* a whole number: pl_notes */
    PL_CUSTOM_WEBHOOK,   /* an object with an address: pl_notes */
    PL_CUSTOM_BETWEEN,   /* the names of two bodies: int32_t[2] */
    PL_CUSTOM_CORES,     /* a whole number, or a range as "1-4": pl_resources */
    PL_CUSTOM_AFTER,     /* an array of sessions' ids: pl_resources */
    PL_CUSTOM_COUNT
} pl_custom;

/* A name that scenes may come to use and this version does not have: refused as `unsupported`, with
 * a hint of its own where there is more to say. */
typedef struct pl_absent {
    const char *name, *hint; /* a list ends with name NULL */
} pl_absent;

typedef struct pl_param_table pl_param_table;

typedef struct pl_param {
    const char *key;
    pl_param_kind kind;
    size_t offset, size;     /* in the C struct of the table */
    const char *unit;        /* "Pa", "s", ...; NULL where none applies */
    double minimum, maximum; /* of numbers; items of a list; bytes of a string */
    bool above_minimum;      /* the minimum itself is refused */
    bool required;
    int components;     /* of a vector or counts; 0: 3 */
    bool direction;     /* a vector that is normalised; zero is refused */
    double standard[3]; /* the default of a number, integer, boolean, choice, vector or counts */
    const char *standard_text;   /* the default in words where a value is no default: "body-K" */
    const char *const *choices;  /* NULL-terminated */
    const pl_absent *absent;     /* choices that this version lacks */
    const pl_param_table *table; /* of an object, or of a list's or map's members */
    size_t count_offset;         /* of a list's or map's int32_t count */
    const char *refers;          /* a reference's key in the root table */
    pl_custom custom;
    bool flagged; /* whether it was given is kept: a bool at flag_offset; else it is left out */
    size_t flag_offset;
    int variant;      /* in a union: 1 + the kind that this key belongs to; 0: to any */
    bool accompanies; /* goes with its variant, but does not make it */
    const char *type; /* in words, of a custom one */
    const char *doc;  /* one sentence */
} pl_param;

/* Components of a vector or counts. */
static inline int pl_param_components(const pl_param *p)
{
    return p->components ? p->components : 3;
}

struct pl_param_table {
    const char *name; /* "solver", "material", ... */
    const char *doc;
    const pl_param *params;
    size_t count;
    bool one_of; /* a union; the kind is an int at kind_offset */
    size_t kind_offset;
    const pl_absent *absent; /* keys that this version lacks */
};

/* Every table, for capabilities and documentation; NULL-terminated. The first is the scene's. */
const pl_param_table *const *pl_param_tables(void);
extern const pl_param_table pl_scene_table;
const pl_param_table *pl_table_named(const char *name); /* NULL where there is none */
const pl_param *pl_table_param(const pl_param_table *table, const char *key); /* or NULL */

/* Store the value of an integer, a boolean or a choice. */
void pl_param_store(const pl_param *p, void *at, int64_t value);

/* Fill the struct of a table with its defaults; lists stay empty, strings NULL. */
void pl_table_defaults(const pl_param_table *table, void *out);

/* Bounds of a scene beside the tables' own. */
enum {
    PL_SCENE_BYTES_MAX = 16 << 20,  /* of the JSON text */
    PL_SCENE_INLINE_MAX = 100000,   /* numbers in an inline mesh */
    PL_SCENE_CELLS_MAX = 8000000,   /* cells of a generated mesh */
    PL_SCENE_INDICES_MAX = 1000000, /* of a selection */
    PL_SCENE_LABELS_MAX = 64,
    PL_SCENE_NAME_MAX = 127, /* bytes of a name that things are addressed by */
    PL_SCENE_STEPS_MAX = 100000000,
};

#endif
