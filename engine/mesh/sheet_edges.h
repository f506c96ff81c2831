/* sheet_edges.h - the edges of a mesh's triangles, equal ones side by side; private to engine/mesh.
 */
#ifndef PLIANT_ENGINE_MESH_SHEET_EDGES_H
#define PLIANT_ENGINE_MESH_SHEET_EDGES_H

#include "engine/mesh/mesh.h"

typedef struct pl_sheet_edges {
    int64_t count;  /* 3 per triangle: edge 3 t + k goes from corner k to k + 1 of triangle t */
    int32_t *keys;  /* [count][2], the lower vertex first */
    int64_t *order; /* [count] */
    const pl_mesh *mesh;
} pl_sheet_edges;

pl_status pl_sheet_edges_create(const pl_mesh *mesh, pl_sheet_edges *out);
void pl_sheet_edges_destroy(pl_sheet_edges *edges);

/* Number of triangles with the edge at place `i` of the order, its first place, and number of those that traverse
 * it from the lower vertex to the higher. */
int64_t pl_sheet_edges_run(const pl_sheet_edges *edges, int64_t i, int64_t *forward);

#endif
