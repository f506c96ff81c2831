/* draft.h - a mesh while its file is being read.
 *
 * Readers append nodes and cells under the names (tags) the file gives them, each with the byte
 * where it stands; pl_draft_finish turns tags into vertex indices, and so can say where a reference
 * leads nowhere. Arrays grow with what was read, never with what the file says it holds: memory is
 * at most a fixed multiple of the file's size.
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
    int64_t *numbers; /* [count] what fields call them */
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

/* More names of fields than this are a fault; sections of one name, as time steps have, may be any. */
enum { PL_DRAFT_FIELDS_MAX = 8 };

/* After this many faults the rest of a file is not read. */
enum { PL_DRAFT_FAULTS_MAX = 16 };

typedef struct pl_draft {
    pl_mesh_limits limits;
    const char *pointer;
    pl_faults *faults;
    int64_t fault_count;
    bool no_memory;
    bool stopped; /* too many faults, a limit passed, or out of memory: read no further */
    int64_t node_count, node_capacity;
    int64_t *node_tags;  /* [node_count] */
    int64_t *node_where; /* [node_count] byte offset in the file */
    double *vertices;    /* [node_count][3] */
    pl_draft_cells tets, faces, lines, points;
    bool sheets; /* every triangle and line is in the draft: without tetrahedra they are elements */
    pl_mesh_group *groups;
    int64_t group_count, group_capacity;
    pl_draft_field *fields; /* a section each */
    int64_t field_count, field_capacity;
    int64_t field_first[PL_DRAFT_FIELDS_MAX]; /* the first field of each name */
    int32_t field_names;
} pl_draft;

/* Where a fault is: a byte of a file, told as a line if the file is text. */
typedef struct pl_place {
    const char *base; /* first byte of the file */
    bool binary;
    const char *part; /* which of several files, "" if there is one */
} pl_place;

void pl_draft_init(pl_draft *draft, const pl_mesh_limits *limits, const char *pointer,
                   pl_faults *faults);
void pl_draft_clear(pl_draft *draft);

/* Append; out of memory and a passed limit stop the draft. */
void pl_draft_add_node(pl_draft *draft, int64_t tag, const double x[3], int64_t where);
void pl_draft_add_cell(pl_draft *draft, pl_draft_cells *cells, const int64_t *nodes, int64_t number,
                       int32_t tag, int64_t where);
void pl_draft_add_group(pl_draft *draft, int32_t dimension, int32_t tag, const char *name,
                        size_t length);

/* An empty field, valid until the next; NULL, with a fault at `at` or without memory, if it is of one
 * name too many. */
pl_draft_field *pl_draft_add_field(pl_draft *draft, const pl_place *place, const char *at,
                                   const char *name, size_t length);
void pl_draft_add_value(pl_draft *draft, pl_draft_field *field, int64_t number,
                        const double *value);

/* Make room for one more item of `size` bytes; false, and the draft stopped, if there is none. */
bool pl_draft_grow(pl_draft *draft, void **items, int64_t count, int64_t capacity, size_t size);

/* Is `count`, told by the file, above the limit? Then that is a fault and the draft stops. */
bool pl_draft_too_many(pl_draft *draft, const pl_place *place, const char *at, const char *what,
                       int64_t count, int64_t limit);

/* A fault at byte `at`: `got` gets "line N: " or "byte N: " and the part before the format. */
__attribute__((format(printf, 7, 8))) void pl_draft_fault(pl_draft *draft, const pl_place *place,
                                                          const char *at, const char *code,
                                                          const char *expected, const char *hint,
                                                          const char *format, ...);

/* The mesh of the draft: its elements are those of the highest dimension that is there, its fields
 * those with a value of one of them, the first of each name. Every tag looked up, repeated node tags refused, vertices without an element dropped. Node faults lie in `nodes`, cell faults in `cells`. */
pl_status pl_draft_finish(pl_draft *draft, const pl_place *nodes, const pl_place *cells,
                          pl_mesh *out);

#endif
