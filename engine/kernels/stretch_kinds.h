/* stretch_kinds.h - the models' functions by their kind, for devices (stretch.h explains why). All threads of a
 * group take the same branch. */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_KINDS_H
#define PLIANT_ENGINE_KERNELS_STRETCH_KINDS_H

#define PL_STRETCH_KINDS
#include "engine/kernels/stretch_basic.h"
#include "engine/kernels/stretch_models.h"
#include "engine/kernels/stretch_spline.h"
#include "engine/scene/material_kind.h"

PL_INLINE void pl_stretch_model_energy_gradient(const pl_stretch *m, const pl_real s[3],
                                                pl_real *psi, pl_real g[3])
{
    switch (m->ops->kind) {
#define DO(kind, model)                                                                            \
    case PL_MATERIAL_##kind:                                                                       \
        pl_stretch_##model##_energy_gradient(m, s, psi, g);                                        \
        break;
        PL_STRETCH_EACH_KIND(DO)
#undef DO
    default:
        *psi = g[0] = g[1] = g[2] = pl_set1(PL_SCALAR_NAN);
    }
}

PL_INLINE void pl_stretch_model_curvature(const pl_stretch *m, const pl_real s[3],
                                          pl_stretch_curvature *out)
{
    switch (m->ops->kind) {
#define DO(kind, model)                                                                            \
    case PL_MATERIAL_##kind:                                                                       \
        pl_stretch_##model##_curvature(m, s, out);                                                 \
        break;
        PL_STRETCH_EACH_KIND(DO)
#undef DO
    default:
        for (int i = 0; i < 9; i++)
            out->H[i] = pl_set1(PL_SCALAR_NAN);
        for (int p = 0; p < 3; p++)
            out->flip[p] = out->twist[p] = pl_set1(PL_SCALAR_NAN);
    }
}

/* The models for which stretch_isa.c has a prox. */
PL_INLINE int pl_stretch_model_has_prox(const pl_stretch *m)
{
    const int32_t kind = m->ops->kind;
    return kind == PL_MATERIAL_NEO_HOOKEAN || kind == PL_MATERIAL_COROTATED ||
           kind == PL_MATERIAL_ARAP || kind == PL_MATERIAL_POLYNOMIAL;
}

PL_INLINE void pl_stretch_model_prox(const pl_stretch *m, const pl_real *k,
                                     const pl_real s_tilde[3], pl_real s[3])
{
    switch (m->ops->kind) {
    case PL_MATERIAL_NEO_HOOKEAN:
        pl_stretch_neo_hookean_prox(m, k, s_tilde, s);
        break;
    case PL_MATERIAL_COROTATED:
        pl_stretch_corotated_prox(m, k, s_tilde, s);
        break;
    case PL_MATERIAL_ARAP:
        pl_stretch_arap_prox(m, k, s_tilde, s);
        break;
    case PL_MATERIAL_POLYNOMIAL:
        pl_stretch_polynomial_prox(m, k, s_tilde, s);
        break;
    default:
        break;
    }
}

#endif
