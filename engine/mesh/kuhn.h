/* kuhn.h - division of a grid cell into six tetrahedra; private to engine/mesh. */
#ifndef PLIANT_ENGINE_MESH_KUHN_H
#define PLIANT_ENGINE_MESH_KUHN_H

#include "engine/mesh/mesh.h"

#include <stdbool.h>
#include <stdint.h>

/* Allocates this many vertices and six tetrahedra per cell. PL_INVALID, without a fault, if there would be more
 * than INT32_MAX of either; PL_NO_MEMORY. */
pl_status pl_kuhn_allocate(double vertices, double cells, pl_mesh *mesh);

/* Writes the six tetrahedra of a cell with corner[8]; corner k lies one step along axis a if bit a of k is set.
 * They share the diagonal from corner 0 to 7; mirrored[a] reverses it along axis a. Their determinants are positive
 * if the axes are right-handed. Returns the end of the data written to `tet`. Cells fit together if they agree on
 * the mirrors along the axes of their common face. */
int32_t *pl_kuhn_cut(const int32_t corner[8], const bool mirrored[3], int32_t *tet);

#endif
