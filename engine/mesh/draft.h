/* draft.h - a mesh while its file is being read.
 *
 * Readers append nodes and cells under the file's names (tags), each with its byte position. pl_draft_finish turns
 * tags into vertex indices, and so can report where a dangling reference is. Arrays grow with the data read, never
 * with the size that the file claims: memory is at most a fixed multiple of the file's size.
 */
#ifndef PLIANT_ENGINE_MESH_DRAFT_H
#define PLIANT_ENGINE_MESH_DRAFT_H

#include "engine/mesh/mesh.h"

#include <stdbool.h>

/* Cells of one kind: tetrahedra, triangles, lines or points. */
typedef struct pl_draft_cells {
    int corners;
    int64_t count, capacity;
    int64_t *nodes;   /* [count][corners] tags of the file */
    int64_t *numbers; /* [count] ids that fields refer to */
    int32_t *tags;    /* [count] 0 = none */
    int64_t *where;   /* [count] byte offset in the file */
} pl_draft_cells;

/* Values of elements, in the file's order. */
typedef struct pl_draft_field {
    char *name;
    int32_t components; /* 1, 3 or 9; tensors are left out of the mesh */
    int64_t count, capacity;
    int64_t *numbers; /* [count] of elements */
    double *values;   /* [count][components] */
} pl_draft_field;

/* More field names than this are a fault; the number of sections with one name, such as time steps, is unlimited. */
enum { PL_DRAFT_FIELDS_MAX = 8 };

/* After this many faults, the rest of a file is not read. */
enum { PL_DRAFT_FAULTS_MAX = 16 };

typedef struct pl_draft {
    pl_mesh_limits limits;
    const char *pointer;
    pl_faults *faults;
    int64_t fault_count;
    bool no_memory;
    bool stopped; /* too many faults, a limit exceeded, or out of memory: stop reading */
    int64_t node_count, node_capacity;
    int64_t *node_tags;  /* [node_count] */
    int64_t *node_where; /* [node_count] byte offset in the file */
    double *vertices;    /* [node_count][3] */
    pl_draft_cells tets, faces, lines, points;
    bool sheets; /* the draft has every triangle and line: without tetrahedra they are elements */
    pl_mesh_group *groups;
    int64_t group_count, group_capacity;
    pl_draft_field *fields; /* one per section */
    int64_t field_count, field_capacity;
    int64_t field_first[PL_DRAFT_FIELDS_MAX]; /* the first field of each name */
    int32_t field_names;
} pl_draft;

/* Place of a fault: a byte of a file, reported as a line if the file is text. */
typedef struct pl_place {
    const char *base; /* first byte of the file */
    bool binary;
    const char *part; /* which of several files, "" if there is one */
} pl_place;

void pl_draft_init(pl_draft *draft, const pl_mesh_limits *limits, const char *pointer,
                   pl_faults *faults);
void pl_draft_clear(pl_draft *draft);

/* Append; out of memory and an exceeded limit stop the draft. */
void pl_draft_add_node(pl_draft *draft, int64_t tag, const double x[3], int64_t where);
void pl_draft_add_cell(pl_draft *draft, pl_draft_cells *cells, const int64_t *nodes, int64_t number,
                       int32_t tag, int64_t where);
void pl_draft_add_group(pl_draft *draft, int32_t dimension, int32_t tag, const char *name,
                        size_t length);

/* An empty field, valid until the next call; NULL if out of memory or, with a fault at `at`, if there are too many
 * names. */
pl_draft_field *pl_draft_add_field(pl_draft *draft, const pl_place *place, const char *at,
                                   const char *name, size_t length);
void pl_draft_add_value(pl_draft *draft, pl_draft_field *field, int64_t number,
                        const double *value);

/* Reserves memory for one more item of `size` bytes; if it fails, stops the draft and returns false. */
bool pl_draft_grow(pl_draft *draft, void **items, int64_t count, int64_t capacity, size_t size);

/* True if `count`, claimed by the file, exceeds the limit, which is a fault and stops the draft. */
bool pl_draft_too_many(pl_draft *draft, const pl_place *place, const char *at, const char *what,
                       int64_t count, int64_t limit);

/* A fault at byte `at`: `got` gets "line N: " or "byte N: " and the part before the format. */
__attribute__((format(printf, 7, 8))) void pl_draft_fault(pl_draft *draft, const pl_place *place,
                                                          const char *at, const char *code,
                                                          const char *expected, const char *hint,
                                                          const char *format, ...);

/* Creates the mesh of the draft. Its elements are those of the highest dimension present; its fields are those with
 * a value for one of them, the first field of each name. Every tag is looked up, repeated node tags are rejected,
 * and vertices without an element are dropped. Node faults lie in `nodes`, cell faults in `cells`. */
pl_status pl_draft_finish(pl_draft *draft, const pl_place *nodes, const pl_place *cells,
                          pl_mesh *out);

#endif
