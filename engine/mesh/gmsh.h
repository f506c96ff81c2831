/* gmsh.h - shared by the parts of the Gmsh reader: the file's kind, its geometric entities and the state of the
 * sections. gmsh.c walks the sections, gmsh_entities.c reads the entities and their physical groups, gmsh_cells.c
 * the nodes and elements, gmsh_fields.c the elements' data.
 */
#ifndef PLIANT_ENGINE_MESH_GMSH_H
#define PLIANT_ENGINE_MESH_GMSH_H

#include "engine/mesh/input.h"

/* Maximum number of physical groups kept for an entity. */
enum { PL_GMSH_TAGS_MAX = 4 };

typedef struct pl_gmsh_entity {
    int32_t dimension, tag;
    int32_t count; /* number of physical groups kept */
    int32_t physical[PL_GMSH_TAGS_MAX];
} pl_gmsh_entity;

/* Gmsh element types 1..31 are rejected with their names. */
enum { PL_GMSH_KINDS = 32 };

/* Kinds of sections that are read; others are skipped. */
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
    bool binary; /* everything in this file that is not text is raw bytes */
    bool seen[PL_GMSH_FIELD + 1];
    pl_gmsh_entity *entities; /* by dimension, then tag */
    int64_t entity_count, entity_capacity;
    int64_t refused[PL_GMSH_KINDS];        /* number of unusable elements of each type */
    const char *refused_at[PL_GMSH_KINDS]; /* the first of them */
} pl_gmsh;

/* Each reads the inside of its section and leaves the cursor before the $End mark, or anywhere after a fault; the
 * caller then finds the end. */
void pl_gmsh_read_entities(pl_gmsh *gmsh, bool partitioned);
void pl_gmsh_read_nodes(pl_gmsh *gmsh);
void pl_gmsh_read_elements(pl_gmsh *gmsh);
void pl_gmsh_read_field(pl_gmsh *gmsh);

/* Adds one fault for each unusable element type that was met. */
void pl_gmsh_report_refused(pl_gmsh *gmsh);

/* Reads a number on a line of its own, which is text in either form; false, with a fault, if it is not a number. */
bool pl_gmsh_read_count(pl_gmsh *gmsh, const char *what, int64_t *count);

/* Returns the bytes between the first and the last quote of the line; the cursor moves to its end. */
bool pl_gmsh_read_quoted(pl_input *in, const char **name, size_t *length);

/* The entity, or NULL if the file does not describe it. */
const pl_gmsh_entity *pl_gmsh_find_entity(const pl_gmsh *gmsh, int32_t dimension, int32_t tag);

#endif
