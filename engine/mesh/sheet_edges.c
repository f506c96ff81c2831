#include "engine/mesh/sheet_edges.h"

#include "engine/mesh/order.h"

#include <stdlib.h>

pl_status pl_sheet_edges_create(const pl_mesh *mesh, pl_sheet_edges *out)
{
    *out = (pl_sheet_edges){.count = 3 * mesh->triangle_count, .mesh = mesh};
    out->keys = malloc((size_t)(2 * out->count + 1) * sizeof *out->keys);
    if (!out->keys)
        return PL_NO_MEMORY;
    for (int64_t e = 0; e < out->count; e++) {
        const int32_t *corner = mesh->triangles + 3 * (e / 3);
        out->keys[2 * e] = corner[e % 3];
        out->keys[2 * e + 1] = corner[(e + 1) % 3];
        pl_order_corners(out->keys + 2 * e, 2);
    }
    pl_status status = pl_order_records(out->keys, out->count, 2, (int32_t)mesh->vertex_count,
                                        &out->order);
    if (status != PL_OK)
        pl_sheet_edges_destroy(out);
    return status;
}

void pl_sheet_edges_destroy(pl_sheet_edges *edges)
{
    free(edges->keys);
    free(edges->order);
    *edges = (pl_sheet_edges){0};
}

int64_t pl_sheet_edges_run(const pl_sheet_edges *edges, int64_t i, int64_t *forward)
{
    int64_t j = i;
    *forward = 0;
    for (; j < edges->count; j++) {
        int64_t e = edges->order[j];
        if (!pl_order_equal(edges->keys, 2, edges->order[i], e))
            break;
        *forward += edges->keys[2 * e] == edges->mesh->triangles[3 * (e / 3) + e % 3];
    }
    return j - i;
}
