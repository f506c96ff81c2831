/* stretch_basic.h - tables (stretch.h) of the materials with kernels of their own: neo_hookean.h, corotated.h,
 * arap.h. Constants: mu, lambda, Pa. */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_BASIC_H
#define PLIANT_ENGINE_KERNELS_STRETCH_BASIC_H

#include "engine/kernels/arap.h"
#include "engine/kernels/corotated.h"
#include "engine/kernels/neo_hookean.h"
#include "engine/kernels/stretch.h"

/* The functions of a kernel behind the table's signatures. */
#define PL_STRETCH_BASIC(model)                                                                    \
    PL_INLINE pl_##model pl_stretch_##model(const pl_stretch *m)                                   \
    {                                                                                              \
        return (pl_##model){pl_stretch_constant(m, 0), pl_stretch_constant(m, 1)};                 \
    }                                                                                              \
    PL_TABLE void pl_stretch_##model##_energy_gradient(const pl_stretch *m, const pl_real s[3],    \
                                                       pl_real *psi, pl_real g[3])                 \
    {                                                                                              \
        const pl_##model c = pl_stretch_##model(m);                                                \
        *psi = pl_##model##_stretch_energy(&c, s);                                                 \
        pl_##model##_stretch_gradient(&c, s, g);                                                   \
    }                                                                                              \
    PL_TABLE void pl_stretch_##model##_prox(const pl_stretch *m, const pl_real *k,                 \
                                            const pl_real s_tilde[3], pl_real s[3])                \
    {                                                                                              \
        const pl_##model c = pl_stretch_##model(m);                                                \
        pl_##model##_stretch_prox(&c, *k, s_tilde, s);                                             \
    }
PL_STRETCH_BASIC(neo_hookean)
PL_STRETCH_BASIC(corotated)
PL_STRETCH_BASIC(arap)

/* g_i = mu s_i - c / s_i, so flip = mu + c / (s_i s_j) and twist = mu - c / (s_i s_j). */
PL_TABLE void pl_stretch_neo_hookean_curvature(const pl_stretch *m, const pl_real s[3],
                                               pl_stretch_curvature *out)
{
    const pl_neo_hookean n = pl_stretch_neo_hookean(m);
    const pl_real c = n.mu - n.lambda * pl_log(s[0] * s[1] * s[2]);
    pl_neo_hookean_stretch_hessian(&n, s, out->H);
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const pl_real push = c / (s[(p + 1) % 3] * s[(p + 2) % 3]);
        out->flip[p] = n.mu + push;
        out->twist[p] = n.mu - push;
    }
}

/* g_i = 2 mu s_i + (lambda e - 2 mu), so flip = 2 mu and
 * twist = 2 mu + 2 (lambda e - 2 mu) / (s_i + s_j); e = s0 + s1 + s2 - 3. */
PL_INLINE void pl_stretch_rotated_curvature(const pl_corotated *m, const pl_real s[3],
                                            pl_stretch_curvature *out)
{
    const pl_real one = pl_one(), mu2 = m->mu + m->mu;
    const pl_real pull = m->lambda * ((s[0] - one) + (s[1] - one) + (s[2] - one)) - mu2;
    pl_corotated_stretch_hessian(m, s, out->H);
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const pl_real thick = pl_stretch_thickness(s, p);
        out->flip[p] = mu2;
        out->twist[p] = mu2 + (pull + pull) / thick;
    }
}

PL_TABLE void pl_stretch_corotated_curvature(const pl_stretch *m, const pl_real s[3],
                                             pl_stretch_curvature *out)
{
    const pl_corotated c = pl_stretch_corotated(m);
    pl_stretch_rotated_curvature(&c, s, out);
}

PL_TABLE void pl_stretch_arap_curvature(const pl_stretch *m, const pl_real s[3],
                                        pl_stretch_curvature *out)
{
    const pl_arap a = pl_stretch_arap(m);
    const pl_corotated c = pl_arap_as_corotated(&a);
    pl_stretch_rotated_curvature(&c, s, out);
}

#endif
