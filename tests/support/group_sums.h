/* group_sums.h - the energy and the forces of a small group, of four blocks at most. */
#ifndef PLIANT_TESTS_SUPPORT_GROUP_SUMS_H
#define PLIANT_TESTS_SUPPORT_GROUP_SUMS_H

#include "engine/model/group.h"

#include <check.h>
#include <string.h>

static inline double group_energy(const pl_group *g, const double *x)
{
    double per_block[4], total = 0;
    ck_assert_int_le(g->blocks, 4);
    g->ops->energy(g, x, per_block, 0, g->blocks);
    for (int64_t b = 0; b < g->blocks; b++)
        total += per_block[b];
    return total;
}

/* Contributions added up at `points` points: f [points][3]. */
static inline void group_add_up(const pl_group *g, const double *c, int points, double *f)
{
    memset(f, 0, 3 * (size_t)points * sizeof *f);
    int32_t corners = g->ops->corners;
    for (int64_t t = 0; t < g->terms; t++)
        for (int32_t k = 0; k < 3 * corners; k++) {
            int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
            f[3 * g->corner[(b * corners + k / 3) * PL_BLOCK + l] + k % 3] +=
                c[(b * 3 * corners + k) * PL_BLOCK + l];
        }
}

#endif
