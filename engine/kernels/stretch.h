/* stretch.h - an isotropic material as a table of functions of its principal stretches, on lanes.
 *
 * With the signed decomposition F = U diag(s) V^T of svd3.h, s0 >= s1 >= |s2|, an isotropic energy
 * is a symmetric function Psi(s), J per m^3 of rest volume. The table holds what is specific of a
 * model; decompositions, derivatives in F and the general prox are written once (stretch_tets.h,
 * stretch_prox.h). There is one table for each model and instruction set (engine/model/isa.h), so
 * callers on lanes are compiled per instruction set as well and take the table of theirs.
 *
 * A membrane is a solid whose third stretch is known: it passes s[2] = 1, say, and reads the first
 * two of each result, with `pair` 2 for its own plane and g_i / s_i across it.
 */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_H
#define PLIANT_ENGINE_KERNELS_STRETCH_H

#include "engine/kernels/mat3.h"

/* Most rows of constants that a model has. */
enum { PL_STRETCH_CONSTANTS_MAX = 4 };

/* What of R^3 an energy is defined on. */
typedef enum pl_stretch_domain {
    PL_STRETCH_SMOOTH,   /* all of it; a smooth function of F */
    PL_STRETCH_CREASED,  /* all of it, with a crease where two stretches are opposite */
    PL_STRETCH_POSITIVE, /* J > 0; +inf elsewhere */
} pl_stretch_domain;

/* The least stretch that a prox gives a model that is defined for J > 0 alone. */
#ifdef PL_SINGLE
#define PL_STRETCH_LEAST 1e-3f
#else
#define PL_STRETCH_LEAST 1e-4
#endif

typedef struct pl_stretch_ops pl_stretch_ops;

/* The material of one block of elements. */
typedef struct pl_stretch {
    const pl_stretch_ops *ops;
    const pl_scalar *constants; /* [ops->constants][PL_LANES] */
    const pl_scalar *shared;    /* numbers that all elements share; NULL where the model has none */
} pl_stretch;

/* Second derivatives. Pair p is of the two stretches i < j that are not s[p]. Both quotients are
 * finite where their denominators vanish (at a crease: clamped). */
typedef struct pl_stretch_curvature {
    pl_real H[9];     /* d2 Psi / ds_i ds_j, H[i + 3 j] */
    pl_real flip[3];  /* (g_i - g_j) / (s_i - s_j) */
    pl_real twist[3]; /* (g_i + g_j) / (s_i + s_j) */
} pl_stretch_curvature;

struct pl_stretch_ops {
    const char *name;
    int32_t constants; /* rows of constants per element */
    pl_stretch_domain domain;
    /* Psi, +inf outside of the domain, and g_i = dPsi/ds_i, without meaning there. */
    void (*energy_gradient)(const pl_stretch *m, const pl_real s[3], pl_real *psi, pl_real g[3]);
    void (*curvature)(const pl_stretch *m, const pl_real s[3], pl_stretch_curvature *out);
    /* argmin over s of Psi(s) + k/2 |s - s~|^2 for s~ in the order of svd3.h; NULL: the general one
     * of stretch_prox.h. */
    void (*prox)(const pl_stretch *m, const pl_real *k, const pl_real s_tilde[3], pl_real s[3]);
};

PL_INLINE pl_real pl_stretch_constant(const pl_stretch *m, int row)
{
    return pl_load(m->constants + row * PL_LANES);
}

#endif
