/* arap.h - "as rigid as possible", on lanes: the distance to the nearest rotation.
 *
 *     Psi(F) = mu |F - R|^2 = mu sum (s_i - 1)^2
 *
 * an energy per rest volume, J/m^3, with mu in Pa: the corotated solid (corotated.h has the derivations) with
 * lambda = 0. It has no resistance to a change of volume as such: for small strain it is the linear solid with
 * Poisson's ratio 0 and Young's modulus 2 mu. Its prox never meets the crease, which requires lambda e > 2 mu.
 */
#ifndef PLIANT_ENGINE_KERNELS_ARAP_H
#define PLIANT_ENGINE_KERNELS_ARAP_H

#include "engine/kernels/corotated.h"

typedef struct pl_arap {
    pl_real mu, lambda; /* Pa; mu > 0, lambda is not used */
} pl_arap;

PL_INLINE pl_corotated pl_arap_as_corotated(const pl_arap *m)
{
    return (pl_corotated){m->mu, pl_zero()};
}

PL_INLINE pl_real pl_arap_energy(const pl_arap *m, const pl_mat3 *F)
{
    const pl_corotated c = pl_arap_as_corotated(m);
    return pl_corotated_energy(&c, F);
}

PL_INLINE void pl_arap_gradient(const pl_arap *m, const pl_mat3 *F, pl_mat3 *P)
{
    const pl_corotated c = pl_arap_as_corotated(m);
    pl_corotated_gradient(&c, F, P);
}

PL_INLINE pl_real pl_arap_energy_gradient(const pl_arap *m, const pl_mat3 *F, pl_mat3 *P)
{
    const pl_corotated c = pl_arap_as_corotated(m);
    return pl_corotated_energy_gradient(&c, F, P);
}

PL_INLINE void pl_arap_hessian(const pl_arap *m, const pl_mat3 *F, pl_real H[81])
{
    const pl_corotated c = pl_arap_as_corotated(m);
    pl_corotated_hessian(&c, F, H);
}

PL_INLINE pl_real pl_arap_stretch_energy(const pl_arap *m, const pl_real s[3])
{
    const pl_corotated c = pl_arap_as_corotated(m);
    return pl_corotated_stretch_energy(&c, s);
}

PL_INLINE void pl_arap_stretch_gradient(const pl_arap *m, const pl_real s[3], pl_real g[3])
{
    const pl_corotated c = pl_arap_as_corotated(m);
    pl_corotated_stretch_gradient(&c, s, g);
}

PL_INLINE void pl_arap_stretch_hessian(const pl_arap *m, const pl_real s[3], pl_real H[9])
{
    const pl_corotated c = pl_arap_as_corotated(m);
    pl_corotated_stretch_hessian(&c, s, H);
}

/* s_i = (k s~_i + 2 mu) / (k + 2 mu), so F = (k F~ + 2 mu R) / (k + 2 mu). */
PL_INLINE void pl_arap_stretch_prox(const pl_arap *m, pl_real k, const pl_real s_tilde[3],
                                    pl_real s[3])
{
    const pl_corotated c = pl_arap_as_corotated(m);
    pl_corotated_stretch_prox(&c, k, s_tilde, s);
}

PL_INLINE void pl_arap_prox(const pl_arap *m, pl_real k, const pl_mat3 *F_tilde, pl_mat3 *F)
{
    const pl_corotated c = pl_arap_as_corotated(m);
    pl_corotated_prox(&c, k, F_tilde, F);
}

#endif
