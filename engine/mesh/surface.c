#include "engine/mesh/mesh.h"
#include "engine/mesh/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Faces of a tetrahedron with positive determinant, facing outwards; face f is opposite corner 3 - f. */
static const int face_corners[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static int32_t *sorted_faces(const pl_mesh *mesh)
{
    int32_t *keys = malloc((size_t)(4 * mesh->tet_count + 1) * 3 * sizeof *keys);
    if (!keys)
        return NULL;
    int32_t *key = keys;
    for (int64_t t = 0; t < mesh->tet_count; t++)
        for (int f = 0; f < 4; f++, key += 3) {
            for (int c = 0; c < 3; c++)
                key[c] = mesh->tets[4 * t + face_corners[f][c]];
            pl_order_corners(key, 3);
        }
    return keys;
}

/* outer[f]: no other face has the same corners. Returns the number of outer faces. */
static int64_t mark_outer(const int32_t *keys, const int64_t *order, int64_t n, bool *outer)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n;) {
        int64_t j = i + 1;
        while (j < n && pl_order_equal(keys, 3, order[i], order[j]))
            j++;
        for (int64_t k = i; k < j; k++)
            outer[order[k]] = j == i + 1;
        count += j == i + 1;
        i = j;
    }
    return count;
}

/* The `count` outer faces, and after them the mesh's own triangles. */
static int32_t *collect(const pl_mesh *mesh, const bool *outer, int64_t count)
{
    size_t all = (size_t)(count + mesh->triangle_count);
    int32_t *triangles = malloc((all + 1) * 3 * sizeof *triangles);
    if (!triangles)
        return NULL;
    int32_t *to = triangles;
    for (int64_t t = 0; t < mesh->tet_count; t++)
        for (int f = 0; f < 4; f++)
            if (outer[4 * t + f])
                for (int c = 0; c < 3; c++)
                    *to++ = mesh->tets[4 * t + face_corners[f][c]];
    if (mesh->triangle_count > 0)
        memcpy(to, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof *to);
    return triangles;
}

/* The order of the result depends only on the order of the tetrahedra, then of face_corners, then of the triangles. */
pl_status pl_mesh_surface(const pl_mesh *mesh, int32_t **triangles, int64_t *count)
{
    *triangles = NULL;
    *count = 0;
    int64_t n = 4 * mesh->tet_count, *order = NULL;
    int32_t *keys = sorted_faces(mesh);
    bool *outer = malloc((size_t)n + 1);
    if (keys && outer &&
        pl_order_records(keys, n, 3, (int32_t)mesh->vertex_count, &order) == PL_OK) {
        int64_t found = mark_outer(keys, order, n, outer);
        *triangles = collect(mesh, outer, found);
        *count = *triangles ? found + mesh->triangle_count : 0;
    }
    free(order);
    free(outer);
    free(keys);
    return *triangles ? PL_OK : PL_NO_MEMORY;
}
