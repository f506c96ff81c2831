#include "engine/mesh/kuhn.h"

#include <stdlib.h>

pl_status pl_kuhn_allocate(double vertices, double cells, pl_mesh *mesh)
{
    *mesh = (pl_mesh){0};
    if (vertices > INT32_MAX || 6 * cells > INT32_MAX)
        return PL_INVALID;
    mesh->vertex_count = (int64_t)vertices;
    mesh->tet_count = (int64_t)(6 * cells);
    mesh->vertices = malloc((size_t)mesh->vertex_count * 3 * sizeof *mesh->vertices);
    mesh->tets = malloc((size_t)mesh->tet_count * 4 * sizeof *mesh->tets);
    if (mesh->vertices && mesh->tets)
        return PL_OK;
    pl_mesh_clear(mesh);
    return PL_NO_MEMORY;
}

/* The six paths along the edges of a cell from one corner to the opposite one; each is a Kuhn tetrahedron. The
 * first three are even permutations: their determinant is positive. */
static const int kuhn_paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                     {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

/* An odd number of mirrors, like an odd path, inverts the tetrahedron; swapping its last two corners corrects that. */
int32_t *pl_kuhn_cut(const int32_t corner[8], const bool mirrored[3], int32_t *tet)
{
    unsigned start = 0;
    bool inside_out = false;
    for (int a = 0; a < 3; a++) {
        start |= (unsigned)mirrored[a] << a;
        inside_out ^= mirrored[a];
    }
    for (int p = 0; p < 6; p++, tet += 4) {
        unsigned at = start;
        for (int k = 0; k < 4; k++) {
            tet[k] = corner[at];
            if (k < 3)
                at ^= 1u << kuhn_paths[p][k];
        }
        if (inside_out != (p >= 3)) {
            int32_t swap = tet[2];
            tet[2] = tet[3];
            tet[3] = swap;
        }
    }
    return tet;
}
