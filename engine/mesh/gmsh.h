/* gmsh.h - what the parts of the Gmsh reader share: the file's kind, its geometric entities and
 * the state of the sections. gmsh.c walks the sections, gmsh_entities.c reads the entities and
 * their physical groups, gmsh_cells.c the nodes and elements, gmsh_fields.c the elements' data.
 */
#ifndef PLIANT_ENGINE_MESH_GMSH_H
#define PLIANT_ENGINE_MESH_GMSH_H

#include "engine/mesh/input.h"

/* An element of one entity may lie in several physical groups; so many are kept. */
enum { PL_GMSH_TAGS_MAX = 4 };

typedef struct pl_gmsh_entity {
    int32_t dimension, tag;
    int32_t count; /* physical groups kept */
    int32_t physical[PL_GMSH_TAGS_MAX];
} pl_gmsh_entity;

/* Gmsh element types 1..31 are told apart by name when they are refused. */
enum { PL_GMSH_KINDS = 32 };

/* What a section is, for the ones we read; others are passed over. */
typedef enum pl_gmsh_section {
    PL_GMSH_OTHER,
    PL_GMSH_NAMES,
    PL_GMSH_ENTITIES,
    PL_GMSH_PARTITIONED,
    PL_GMSH_NODES,
    PL_GMSH_ELEMENTS,
    PL_GMSH_FIELD,
} pl_gmsh_section;

typedef struct pl_gmsh {
    pl_input in;
    pl_draft *draft;
    int version; /* 2 or 4 */
    bool binary; /* what is not text in this file is raw bytes */
    bool seen[PL_GMSH_FIELD + 1];
    pl_gmsh_entity *entities; /* by dimension, then tag */
    int64_t entity_count, entity_capacity;
    int64_t refused[PL_GMSH_KINDS];        /* elements of each type that cannot be used */
    const char *refused_at[PL_GMSH_KINDS]; /* the first of them */
} pl_gmsh;

/* Each reads the inside of its section and leaves the cursor before the $End mark, or anywhere
 * after a fault; the caller finds the end. */
void pl_gmsh_read_entities(pl_gmsh *gmsh, bool partitioned);
void pl_gmsh_read_nodes(pl_gmsh *gmsh);
void pl_gmsh_read_elements(pl_gmsh *gmsh);
void pl_gmsh_read_field(pl_gmsh *gmsh);

/* One fault for each type of element that was met and cannot be used. */
void pl_gmsh_report_refused(pl_gmsh *gmsh);

/* A number on a line of its own, which is text in either form; false, with a fault, if it is none. */
bool pl_gmsh_read_count(pl_gmsh *gmsh, const char *what, int64_t *count);

/* The bytes between the first and the last quote of the line; the cursor goes to its end. */
bool pl_gmsh_read_quoted(pl_input *in, const char **name, size_t *length);

/* The entity, or NULL if the file does not describe it. */
const pl_gmsh_entity *pl_gmsh_find_entity(const pl_gmsh *gmsh, int32_t dimension, int32_t tag);

#endif
