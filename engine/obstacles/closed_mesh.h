/* closed_mesh.h - a solid bounded by triangles: distances from a tree of boxes, signs from pseudonormals.
 *
 * The sign of a point is that of its offset from the nearest point of the surface along the normal there: a face's
 * own normal; at an edge, the sum of its two faces' normals; at a vertex, the sum of its faces' normals weighted
 * with their angles (Baerentzen and Aanaes 2005, "Signed distance computation using the angle weighted
 * pseudonormal"). This is correct for every point if the surface is closed, its triangles are oriented
 * consistently, and it does not intersect itself. The layout of a scene checks the first two
 * (engine/model/build/layout.c).
 */
#ifndef PLIANT_ENGINE_OBSTACLES_CLOSED_MESH_H
#define PLIANT_ENGINE_OBSTACLES_CLOSED_MESH_H

#include "engine/scene/fault.h"

#include <stdint.h>

typedef struct pl_closed_mesh pl_closed_mesh;

/* Creates it from triangles [count][3] over `vertices` vertices that form a closed surface (pl_mesh_check_closed);
 * no reference to the arrays is kept. If all triangles face inwards (negative volume), they are reversed. PL_OK or
 * PL_NO_MEMORY. */
pl_status pl_closed_mesh_create(const double *vertex, int64_t vertices, const int64_t *triangle,
                                int64_t count, pl_closed_mesh **out);
void pl_closed_mesh_destroy(pl_closed_mesh *mesh);

#endif
