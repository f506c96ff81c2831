/* group_energy.h - the energy of a small group: of four blocks at most. */
#ifndef PLIANT_TESTS_SUPPORT_GROUP_ENERGY_H
#define PLIANT_TESTS_SUPPORT_GROUP_ENERGY_H

#include "engine/model/group.h"

#include <check.h>

static inline double group_energy(const pl_group *g, const double *x)
{
    double per_block[4], total = 0;
    ck_assert_int_le(g->blocks, 4);
    g->ops->energy(g, x, per_block, 0, g->blocks);
    for (int64_t b = 0; b < g->blocks; b++)
        total += per_block[b];
    return total;
}

#endif
