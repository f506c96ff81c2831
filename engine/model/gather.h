/* gather.h - sums of term contributions at vertices, in a fixed order: groups in order, terms in order, corners in
 * order. The bits are the same for any number of threads. */
#ifndef PLIANT_ENGINE_MODEL_GATHER_H
#define PLIANT_ENGINE_MODEL_GATHER_H

#include "engine/scene/fault.h"
#include "engine/model/group.h"

/* Places of the contributions of each vertex's terms: slot[start[i] .. start[i+1]) are offsets of the x
 * contribution; y and z follow at + PL_BLOCK and + 2 PL_BLOCK. */
typedef struct pl_gather {
    int64_t *start; /* [n + 1] */
    int64_t *slot;
} pl_gather;

pl_status pl_gather_create(int64_t n, const pl_group *groups, int32_t group_count, pl_gather *out);
void pl_gather_destroy(pl_gather *g);

/* The sum at one vertex. */
static inline void pl_gather_vertex(const pl_gather *g, const double *contributions, int64_t vertex,
                                    double sum[3])
{
    double x = 0, y = 0, z = 0;
    for (int64_t k = g->start[vertex]; k < g->start[vertex + 1]; k++) {
        const double *f = contributions + g->slot[k];
        x += f[0];
        y += f[PL_BLOCK];
        z += f[2 * PL_BLOCK];
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

#endif
