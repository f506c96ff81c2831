/* closed_mesh.h - a solid bounded by triangles: distances by a tree of boxes, signs by
 * pseudonormals.
 *
 * The sign of a point is that of its offset from the nearest point of the surface along the normal
 * there: a face's own; at an edge the sum of its two faces'; at a vertex the sum of its faces'
 * weighted with their angles (Baerentzen and Aanaes 2005, "Signed distance computation using the
 * angle weighted pseudonormal"). That is right for every point where the surface is closed, its
 * triangles turn the same way and it does not cut itself; the first two are checked where a scene is
 * laid out (engine/model/build/layout.c).
 */
#ifndef PLIANT_ENGINE_OBSTACLES_CLOSED_MESH_H
#define PLIANT_ENGINE_OBSTACLES_CLOSED_MESH_H

#include "engine/scene/fault.h"

#include <stdint.h>

typedef struct pl_closed_mesh pl_closed_mesh;

/* Of triangles [count][3] over `vertices` vertices that are a closed surface (pl_mesh_check_closed);
 * nothing is kept of the arrays. Triangles that all face inwards (the volume is
 * negative) are turned round. PL_OK or PL_NO_MEMORY. */
pl_status pl_closed_mesh_create(const double *vertex, int64_t vertices, const int64_t *triangle,
                                int64_t count, pl_closed_mesh **out);
void pl_closed_mesh_destroy(pl_closed_mesh *mesh);

#endif
