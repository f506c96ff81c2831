/* kernel_elements.h - elements at random for tests of kernels, a lane each. */
#ifndef PLIANT_TESTS_SUPPORT_KERNEL_ELEMENTS_H
#define PLIANT_TESTS_SUPPORT_KERNEL_ELEMENTS_H

#include "engine/kernels/svd3.h"
#include "tests/support/lanes_random.h"

#include <math.h>
#include <stdbool.h>

typedef struct elements {
    _Alignas(64) double F[9][PL_LANES], s[3][PL_LANES], mu[PL_LANES], lambda[PL_LANES], k[PL_LANES];
} elements;

static inline pl_mat3 load_F(const elements *e)
{
    pl_mat3 F;
    for (int i = 0; i < 9; i++)
        F.m[i] = pl_load(e->F[i]);
    return F;
}

/* F = I + noise, det F > 0, and materials up to a Poisson ratio of 0.4995. */
static inline elements some_elements(uint64_t *state, double noise)
{
    elements e;
    for (int lane = 0; lane < PL_LANES; lane++) {
        for (int i = 0; i < 9; i++)
            e.F[i][lane] = (i % 4 == 0) + noise * random_between(state, -1, 1);
        e.mu[lane] = random_scale(state, 1, 1e7);
        e.lambda[lane] = e.mu[lane] * random_scale(state, 1e-2, 1e3);
        e.k[lane] = e.mu[lane] * random_scale(state, 0.5, 100);
        for (int i = 0; i < 3; i++)
            e.s[i][lane] = 1 + noise * random_between(state, -1, 1);
    }
    return e;
}

/* Materials and F far from 1: `alike`, or each entry of F by a scale of its own. */
static inline elements elements_out_of_scale(uint64_t *state, bool alike)
{
    elements e = some_elements(state, 1);
    for (int lane = 0; lane < PL_LANES; lane++) {
        const double scale = random_scale(state, 1e-100, 1e100);
        for (int i = 0; i < 9; i++)
            e.F[i][lane] *= alike ? scale : random_scale(state, 1e-20, 1e20);
        e.k[lane] = e.mu[lane] * random_scale(state, 1e-6, 1e6);
        e.lambda[lane] = e.mu[lane] * random_scale(state, 1e-6, 1e6);
    }
    return e;
}

/* Q F R with the singular vectors of `random`, two rotations; Q too. */
static inline pl_mat3 rotate_on_both_sides(const pl_mat3 *F, const pl_mat3 *random, pl_mat3 *Q)
{
    pl_mat3 R;
    pl_real s[3];
    pl_svd3(random, Q, s, &R);
    pl_mat3 rotated = pl_mat3_mul(Q, F);
    return pl_mat3_mul(&rotated, &R);
}

#endif
