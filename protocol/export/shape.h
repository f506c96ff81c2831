/* shape.h - what a session's vertices belong to: the bodies' surfaces, cloth, ropes and tetrahedra. */
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
    int32_t *tet;                   /* [tets][4]; none where not asked for */
    int64_t all_tets, all_sheets;   /* of the session, where a part was chosen of it */
    int64_t first_tet, first_sheet; /* of the part, among those */
    int32_t bodies;                 /* of the session */
    char **name;                    /* [bodies] */
} pl_shape;

/* From the topology document. PL_INVALID with *why (static) where it is not as it should be. */
pl_status pl_shape_read(const pl_json *topology, pl_shape *out, const char **why);
/* The tetrahedra of tets.npy's bytes, after the other. */
pl_status pl_shape_read_tets(const char *bytes, size_t size, pl_shape *out, const char **why);
/* Leave one body (from 0; -1: all) and, with `surface`, what is drawn: the surfaces as sheets, ropes, no
 * tetrahedra. Vertices that are left are numbered anew: *kept [out->vertices], malloc'ed, are the numbers
 * they had, ascending. PL_NO_MEMORY leaves the shape as it was. */
pl_status pl_shape_choose(pl_shape *shape, int32_t body, bool surface, int32_t **kept);
void pl_shape_clear(pl_shape *shape);

#endif
