/* params.h - the tables of every parameter of a scene: the only description, which decoding, validation, defaults,
 * the effective scene, /v1/capabilities and the documentation all read. A parameter that is not in a table does not
 * exist.
 *
 * A table describes one JSON object and the C struct that it fills. Objects nest by PL_PARAM_OBJECT. A table whose
 * object has one of several forms (a mesh from a box, or a sphere, or an upload) is a union: its variants' keys
 * exclude each other and set the struct's `kind`.
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
    PL_PARAM_REFERENCE, /* int32_t index into the root's list or map `refers`, by name; may be
                           left out if that has one member, or if it is flagged */
    PL_PARAM_CUSTOM,    /* decoded and encoded by its own functions */
} pl_param_kind;

/* Parameters that are decoded and encoded by their own functions. */
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

/* A name that scenes may use in the future and this version does not have: rejected as `unsupported`, with its own
 * hint if there is more to say. */
typedef struct pl_absent {
    const char *name, *hint; /* a list ends with name NULL */
} pl_absent;

typedef struct pl_param_table pl_param_table;

typedef struct pl_param {
    const char *key;
    pl_param_kind kind;
    size_t offset, size;     /* offset in the C struct of the table */
    const char *unit;        /* "Pa", "s", ...; NULL if not applicable */
    double minimum, maximum; /* for numbers; items of a list; bytes of a string */
    bool above_minimum;      /* the minimum itself is rejected */
    bool required;
    int components;     /* for a vector or counts; 0: 3 */
    bool direction;     /* a vector that is normalised; zero is rejected */
    double standard[3]; /* the default of a number, integer, boolean, choice, vector or counts */
    const char *standard_text;   /* the default in words, if it is not a value: "body-K" */
    const char *const *choices;  /* NULL-terminated */
    const pl_absent *absent;     /* choices that this version does not support */
    const pl_param_table *table; /* for an object, or for a list's or map's members */
    size_t count_offset;         /* of a list's or map's int32_t count */
    const char *refers;          /* a reference's key in the root table */
    pl_custom custom;
    bool flagged; /* a bool at flag_offset records whether it was given; otherwise it is omitted */
    size_t flag_offset;
    int variant;      /* in a union: 1 + the kind to which this key belongs; 0: to any */
    bool accompanies; /* belongs to its variant, but does not select it */
    const char *type; /* for a custom parameter, in words */
    const char *doc;  /* one sentence */
} pl_param;

/* Number of components of a vector or counts. */
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
    const pl_absent *absent; /* keys that this version does not support */
};

/* Every table, for capabilities and documentation; NULL-terminated. The first is the scene's. */
const pl_param_table *const *pl_param_tables(void);
extern const pl_param_table pl_scene_table;
const pl_param_table *pl_table_named(const char *name); /* NULL if there is no such table */
const pl_param *pl_table_param(const pl_param_table *table, const char *key); /* or NULL */

/* Stores the value of an integer, a boolean or a choice. */
void pl_param_store(const pl_param *p, void *at, int64_t value);

/* Fills the struct of a table with its defaults; lists stay empty, strings NULL. */
void pl_table_defaults(const pl_param_table *table, void *out);

/* Limits of a scene beside the tables' own. */
enum {
    PL_SCENE_BYTES_MAX = 16 << 20,  /* of the JSON text */
    PL_SCENE_INLINE_MAX = 100000,   /* numbers in an inline mesh */
    PL_SCENE_CELLS_MAX = 8000000,   /* cells of a generated mesh */
    PL_SCENE_INDICES_MAX = 1000000, /* of a selection */
    PL_SCENE_LABELS_MAX = 64,
    PL_SCENE_NAME_MAX = 127, /* bytes of a name used for addressing */
    PL_SCENE_STEPS_MAX = 100000000,
};

#endif
