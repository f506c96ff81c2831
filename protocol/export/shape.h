/* shape.h - the elements over a session's vertices: the bodies' surfaces, cloth, ropes and tetrahedra. */
#ifndef PLIANT_PROTOCOL_EXPORT_SHAPE_H
#define PLIANT_PROTOCOL_EXPORT_SHAPE_H

#include "engine/scene/fault.h"
#include "protocol/text/json.h"

/* Zero-initialise; everything is malloc'ed. */
typedef struct pl_shape {
    int64_t vertices;
    int32_t *body; /* [vertices] index of the body */
    int64_t triangles, sheet_triangles, edges, tets;
    int32_t *triangle;              /* [triangles][3]: surfaces of tetrahedra, and cloth */
    int32_t *sheet;                 /* [sheet_triangles][3]: of cloth only */
    int32_t *edge;                  /* [edges][2]: ropes */
    int32_t *tet;                   /* [tets][4]; empty if not requested */
    int64_t all_tets, all_sheets;   /* of the session, if a part of it was selected */
    int64_t first_tet, first_sheet; /* index of the part among those */
    int32_t bodies;                 /* of the session */
    char **name;                    /* [bodies] */
} pl_shape;

/* From the topology document. PL_INVALID with *why (static) if it is not as expected. */
pl_status pl_shape_read(const pl_json *topology, pl_shape *out, const char **why);
/* Reads the tetrahedra from tets.npy's bytes; call it after the other. */
pl_status pl_shape_read_tets(const char *bytes, size_t size, pl_shape *out, const char **why);
/* Reduces the shape to one body (from 0; -1: all) and, with `surface`, to the drawn parts: the surfaces as sheets,
 * ropes, no tetrahedra. Remaining vertices are renumbered: *kept [out->vertices], malloc'ed, holds their previous
 * numbers, ascending. PL_NO_MEMORY leaves the shape unchanged. */
pl_status pl_shape_choose(pl_shape *shape, int32_t body, bool surface, int32_t **kept);
void pl_shape_clear(pl_shape *shape);

#endif
