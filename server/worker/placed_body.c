#include "server/worker/placed_body.h"

#include "engine/scene/transform.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>

pl_status pl_placed_body_init(pl_placed_body *p, const pl_body *body, const pl_mesh *mesh)
{
    *p = (pl_placed_body){.body = body,
                          .mesh = mesh,
                          .lo = {INFINITY, INFINITY, INFINITY},
                          .hi = {-INFINITY, -INFINITY, -INFINITY}};
    p->x = malloc((3 * (size_t)mesh->vertex_count + 1) * sizeof *p->x);
    if (!p->x)
        return PL_NO_MEMORY;
    pl_transform_points(&body->transform, mesh->vertices, mesh->vertex_count, p->x);
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        p->lo[i % 3] = fmin(p->lo[i % 3], p->x[i]);
        p->hi[i % 3] = fmax(p->hi[i % 3], p->x[i]);
    }
    double d[3];
    for (int c = 0; c < 3; c++) {
        p->middle[c] = (p->lo[c] + p->hi[c]) / 2;
        d[c] = p->hi[c] - p->lo[c];
    }
    p->size = sqrt(pl_vector_dot(d, d));
    return PL_OK;
}

void pl_placed_body_clear(pl_placed_body *p)
{
    free(p->x);
    *p = (pl_placed_body){0};
}
