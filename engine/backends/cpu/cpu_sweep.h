/* cpu_sweep.h - the order of a sweep over vertices: colours, and packs of PL_BLOCK vertices of one colour.
 *
 * Two vertices of a colour have no term in common, so they may move at the same time. Colours are assigned greedily,
 * in the order of the vertices. A pack has one vertex in each lane; its terms are consecutive blocks of the groups' copies
 * (model/local.h). Vertices of a colour are ordered by their number of terms, so that packs have little padding.
 */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_SWEEP_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_SWEEP_H

#include "engine/model/local.h"
#include "engine/model/model.h"

/* The terms of one group, by packs. */
typedef struct pl_sweep_group {
    const pl_group *of;
    const pl_local_ops *ops;
    pl_group copy;
    pl_places places;
    int64_t *first; /* [packs + 1]: blocks of a pack */
} pl_sweep_group;

typedef struct pl_sweep {
    int32_t colours, group_count;
    int64_t packs;
    int64_t *colour;       /* [colours + 1]: packs of a colour */
    int32_t *vertex;       /* [packs][L]: unused lanes, which are the last, repeat the first */
    int32_t *used;         /* [packs]: lanes */
    double *mass;          /* [packs][L], kg */
    double *diagonal;      /* [packs][L]: A_ii, N/m */
    double *held;          /* [packs][3][L]: 1 where a pin holds the coordinate */
    int16_t *colour_of;    /* [vertices]: -1 where held */
    pl_sweep_group *group; /* [group_count]: the groups that have terms */
} pl_sweep;

/* Every group must have sums around vertices. PL_OK or PL_NO_MEMORY. */
pl_status pl_sweep_create(const pl_model *model, pl_sweep *out);
void pl_sweep_destroy(pl_sweep *sweep);

#endif
