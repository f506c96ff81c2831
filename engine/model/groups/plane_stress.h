/* plane_stress.h - the stretch across a sheet at which the stress across it is 0, for the laws of triangles
 * (triangle_law.h derives it) and of their dissipation.
 *
 * dPsi/ds3 = 0 is solved by Newton's method inside a bracket, which is halved where a step leaves it or the
 * curvature is not positive.
 */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_PLANE_STRESS_H
#define PLIANT_ENGINE_MODEL_GROUPS_PLANE_STRESS_H

#include "engine/kernels/stretch.h"
#include "engine/kernels/svd32.h"

/* A converged lane is not touched again, so its bits depend on no other lane. */
enum { ACROSS_STEPS = 40 };
#define ACROSS_LEAST 1e-6
#define ACROSS_MOST  1e6
#ifdef PL_SINGLE
#define CONVERGED 4e-7f
#else
#define CONVERGED 1e-14
#endif

/* s3 for s1, s2; s[2] is the initial value. */
PL_LARGE void solve_across(const pl_stretch *m, pl_real s[3])
{
    const bool positive = m->ops->domain == PL_STRETCH_POSITIVE;
    pl_real lo = pl_set1(positive                              ? ACROSS_LEAST
                         : m->ops->domain == PL_STRETCH_SMOOTH ? 0
                                                               : -ACROSS_MOST);
    pl_real hi = pl_set1(ACROSS_MOST);
    pl_mask done = pl_lt(pl_one(), pl_zero());
    for (int k = 0; k < ACROSS_STEPS && !pl_all(done); k++) {
        pl_real psi, g[3];
        pl_stretch_curvature c;
        pl_stretch_model_energy_gradient(m, s, &psi, g);
        pl_stretch_model_curvature(m, s, &c);
        const pl_mask rising = pl_gt(g[2], pl_zero());
        hi = pl_select(rising, s[2], hi);
        lo = pl_select(rising, lo, s[2]);
        const pl_mask convex = pl_gt(c.H[8], pl_zero());
        const pl_real step = -(g[2] / pl_select(convex, c.H[8], pl_one())), next = s[2] + step;
        /* Bisects a wide bracket by ratio, because it spans decades. */
        const pl_real least = pl_set1(ACROSS_LEAST);
        const pl_real ratio = pl_sqrt(pl_max(lo, least) * pl_max(hi, least));
        const pl_real half = pl_set1(0.5) * (lo + pl_min(hi, pl_set1(4)));
        const pl_real middle = pl_select(pl_gt(lo, pl_zero()), ratio, half);
        const pl_mask inside = pl_and(convex, pl_and(pl_gt(next, lo), pl_lt(next, hi)));
        /* A step of rounding size may leave the bracket that it has just closed. */
        const pl_real tiny = pl_set1(CONVERGED) * (pl_one() + pl_abs(s[2]));
        const pl_mask settled = pl_or(pl_or(pl_eq(g[2], pl_zero()), pl_le(hi - lo, tiny)),
                                      pl_and(convex, pl_le(pl_abs(step), tiny)));
        s[2] = pl_select(done, s[2], pl_select(settled, s[2], pl_select(inside, next, middle)));
        done = pl_or(done, settled);
    }
}

/* Initial s3: constant volume for models that must not collapse, else unstrained. */
PL_INLINE pl_real across_start(const pl_stretch *m, const pl_real s[2])
{
    const pl_real area = s[0] * s[1];
    const pl_real filled = pl_one() / pl_max(area, pl_set1(1e-3));
    return m->ops->domain == PL_STRETCH_POSITIVE ? pl_clamp(filled, pl_set1(0.1), pl_set1(10))
                                                 : pl_one();
}

/* The third column of U, u1 x u2. */
PL_INLINE void plane_normal(pl_real U[9])
{
    for (int r = 0; r < 3; r++)
        U[6 + r] = U[(r + 1) % 3] * U[3 + (r + 2) % 3] - U[(r + 2) % 3] * U[3 + (r + 1) % 3];
}

/* Second derivatives of W(s1, s2) = min over s3 of Psi, the Schur complement of H_33, with s[2] already solved for.
 * With g = dW/ds, in the basis u_i v_j^T, i = 1 .. 3 with u3 = u1 x u2: a 2x2 block [00 11 01] for the stretches,
 * one pair that rotates or shears in the plane with eigenvalues twist and flip, and out_j = g_j / s_j for u3 v_j^T. */
typedef struct plane_curvature {
    pl_real H[3], flip, twist, out[2];
} plane_curvature;

PL_LARGE void plane_curve(const pl_stretch *m, const pl_real s[3], plane_curvature *at)
{
    pl_real g[3], psi;
    pl_stretch_curvature c;
    pl_stretch_model_energy_gradient(m, s, &psi, g);
    pl_stretch_model_curvature(m, s, &c);
    const pl_mask stiff = pl_gt(c.H[8], pl_zero());
    const pl_real across = pl_select(stiff, pl_one() / pl_select(stiff, c.H[8], pl_one()),
                                     pl_zero());
    const pl_real tiny = pl_set1(1e-12);
    at->H[0] = c.H[0] - c.H[6] * c.H[6] * across;
    at->H[1] = c.H[4] - c.H[7] * c.H[7] * across;
    at->H[2] = c.H[3] - c.H[6] * c.H[7] * across;
    at->flip = c.flip[2];
    at->twist = c.twist[2];
    for (int j = 0; j < 2; j++)
        at->out[j] = g[j] / pl_max(s[j], tiny);
}

#endif
