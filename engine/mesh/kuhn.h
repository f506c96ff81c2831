/* kuhn.h - a cell of a grid cut into six tetrahedra; private to engine/mesh. */
#ifndef PLIANT_ENGINE_MESH_KUHN_H
#define PLIANT_ENGINE_MESH_KUHN_H

#include "engine/mesh/mesh.h"

#include <stdbool.h>
#include <stdint.h>

/* Room for so many vertices and six tetrahedra a cell. PL_INVALID, without a fault, where there would
 * be more than INT32_MAX of either; PL_NO_MEMORY. */
pl_status pl_kuhn_allocate(double vertices, double cells, pl_mesh *mesh);

/* The six tetrahedra of a cell with corner[8], of which number k lies one step along axis a where
 * bit a of k is set. They share the diagonal from corner 0 to 7; mirrored[a] runs it the other way
 * along axis a. Of positive determinant where the axes are right-handed. Returns the end of what
 * was written to `tet`. Cells fit together where they agree on the mirrors along the axes of the
 * face between them. */
int32_t *pl_kuhn_cut(const int32_t corner[8], const bool mirrored[3], int32_t *tet);

#endif
