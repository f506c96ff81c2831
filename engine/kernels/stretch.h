/* stretch.h - an isotropic material as a table of functions of its principal stretches, on lanes.
 *
 * With the signed decomposition F = U diag(s) V^T of svd3.h, s0 >= s1 >= |s2|, an isotropic energy is a symmetric
 * function Psi(s), J per m^3 of rest volume. The table holds what is specific to a model; decompositions,
 * derivatives in F and the general prox are written once (stretch_solid.h, stretch_prox.h). There is one table for
 * each model and instruction set (engine/model/groups/isa.h), so callers on lanes are also compiled per instruction
 * set and use their own table.
 *
 * A membrane is a solid in plane stress (engine/model/groups/triangle_law.h). It solves for the s[2] at which the
 * stress across it is 0 and reads the first two entries of each result. Pair 2 covers rotation in its plane, and
 * g_i / s_i rotation out of it.
 */
#ifndef PLIANT_ENGINE_KERNELS_STRETCH_H
#define PLIANT_ENGINE_KERNELS_STRETCH_H

#include "engine/kernels/mat3.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of rows of constants of a model. */
enum { PL_STRETCH_CONSTANTS_MAX = 4 };

/* Length of one spline, and of a spline material's `shared` (stretch_spline.h). */
enum {
    PL_SPLINE_KNOTS_MAX = 16,
    PL_SPLINE_NUMBERS = 4 + 2 * PL_SPLINE_KNOTS_MAX,
    PL_SPLINE_SHARED = 3 * PL_SPLINE_NUMBERS,
};

/* The part of R^3 in which an energy is defined. */
typedef enum pl_stretch_domain {
    PL_STRETCH_SMOOTH,   /* all of it; a smooth function of F */
    PL_STRETCH_CREASED,  /* all of it, with a crease where two stretches are opposite */
    PL_STRETCH_POSITIVE, /* J > 0; +inf elsewhere */
} pl_stretch_domain;

/* The least stretch that a prox returns for a model defined only for J > 0. */
#ifdef PL_SINGLE
#define PL_STRETCH_LEAST 1e-3f
#else
#define PL_STRETCH_LEAST 1e-4
#endif

/* Least divisor s_i + s_j in a Hessian: closer to a crease, the curvature is that at this distance. */
#ifdef PL_SINGLE
#define PL_STRETCH_CREASE 1e-3f
#else
#define PL_STRETCH_CREASE 1e-6
#endif

typedef struct pl_stretch_ops pl_stretch_ops;

/* An entry of a table. */
#ifdef PL_DEVICE
#define PL_TABLE PL_INLINE
#else
#define PL_TABLE static
#endif

/* The material of one block of elements. With `blend`, which only solids have, its energy is
 *
 *     (1 - b) Psi(s) + b kappa sum (s_i - 1)^2            (Wang 2016, eq. 18)
 *
 * with rows b, 0 to 1, and kappa, Pa: eq. 16 with the stiffness it lacks, and with signed stretches, so that an
 * inverted element is pulled out along its shortest direction (Irving 2004). */
typedef struct pl_stretch {
    const pl_stretch_ops *ops;
    const pl_scalar *constants; /* [ops->constants][PL_ROW] */
    const pl_scalar *shared;    /* numbers shared by all elements; NULL if the model has none */
    const pl_scalar *blend;     /* [2][PL_ROW], or NULL */
} pl_stretch;

/* Second derivatives. Pair p consists of the two stretches i < j other than s[p]. Both quotients are finite where
 * their denominators vanish (clamped at a crease). */
typedef struct pl_stretch_curvature {
    pl_real H[9];     /* d2 Psi / ds_i ds_j, H[i + 3 j] */
    pl_real flip[3];  /* (g_i - g_j) / (s_i - s_j) */
    pl_real twist[3]; /* (g_i + g_j) / (s_i + s_j) */
} pl_stretch_curvature;

/* A model as seen by a device's kernels. */
typedef struct pl_stretch_model {
    int32_t constants, kind; /* pl_material_kind */
    pl_stretch_domain domain;
} pl_stretch_model;

#ifdef PL_DEVICE
/* Devices have no tables of functions: there, a model is its kind, and stretch_kinds.h, which comes after the
 * models, selects the functions. */
struct pl_stretch_ops {
    int32_t constants, kind;
    pl_stretch_domain domain;
};
#ifdef PL_STRETCH_KINDS
PL_INLINE void pl_stretch_model_energy_gradient(const pl_stretch *m, const pl_real s[3],
                                                pl_real *psi, pl_real g[3]);
PL_INLINE void pl_stretch_model_curvature(const pl_stretch *m, const pl_real s[3],
                                          pl_stretch_curvature *out);
PL_INLINE int pl_stretch_model_has_prox(const pl_stretch *m);
PL_INLINE void pl_stretch_model_prox(const pl_stretch *m, const pl_real *k,
                                     const pl_real s_tilde[3], pl_real s[3]);
#endif
#else
struct pl_stretch_ops {
    const char *name;
    int32_t constants; /* number of rows of constants per element */
    pl_stretch_domain domain;
    /* Psi, +inf outside the domain, and g_i = dPsi/ds_i, undefined there. */
    void (*energy_gradient)(const pl_stretch *m, const pl_real s[3], pl_real *psi, pl_real g[3]);
    /* Both functions are of the model alone: callers use pl_stretch_energy_gradient() and pl_stretch_curve(), which
     * handle blends. */
    void (*curvature)(const pl_stretch *m, const pl_real s[3], pl_stretch_curvature *out);
    /* argmin over s of Psi(s) + k/2 |s - s~|^2 for s~ in the order of svd3.h; NULL: use the general prox of
     * stretch_prox.h. */
    void (*prox)(const pl_stretch *m, const pl_real *k, const pl_real s_tilde[3], pl_real s[3]);
};

PL_INLINE void pl_stretch_model_energy_gradient(const pl_stretch *m, const pl_real s[3],
                                                pl_real *psi, pl_real g[3])
{
    m->ops->energy_gradient(m, s, psi, g);
}
PL_INLINE void pl_stretch_model_curvature(const pl_stretch *m, const pl_real s[3],
                                          pl_stretch_curvature *out)
{
    m->ops->curvature(m, s, out);
}
PL_INLINE int pl_stretch_model_has_prox(const pl_stretch *m)
{
    return m->ops->prox != NULL;
}
PL_INLINE void pl_stretch_model_prox(const pl_stretch *m, const pl_real *k,
                                     const pl_real s_tilde[3], pl_real s[3])
{
    m->ops->prox(m, k, s_tilde, s);
}
#endif

PL_INLINE pl_real pl_stretch_constant(const pl_stretch *m, int row)
{
    return pl_load(m->constants + row * PL_ROW);
}

/* s_i + s_j as a divisor. */
PL_INLINE pl_real pl_stretch_thickness(const pl_real s[3], int pair)
{
    return pl_max(s[(pair + 1) % 3] + s[(pair + 2) % 3], pl_set1(PL_STRETCH_CREASE));
}

/* a x + b y, where a term with weight zero counts as zero, even if it is infinite. */
PL_INLINE pl_real pl_stretch_mix(pl_real a, pl_real x, pl_real b, pl_real y)
{
    return pl_select(pl_gt(a, pl_zero()), a * x, pl_zero()) + b * y;
}

#if !defined(PL_DEVICE) || defined(PL_STRETCH_KINDS)
PL_LARGE void pl_stretch_energy_gradient(const pl_stretch *m, const pl_real s[3], pl_real *psi,
                                         pl_real g[3])
{
    pl_stretch_model_energy_gradient(m, s, psi, g);
    if (!m->blend)
        return;
    const pl_real b = pl_load(m->blend), kappa = pl_load(m->blend + PL_ROW), a = pl_one() - b;
    pl_real far = pl_zero();
    PL_UNROLL for (int i = 0; i < 3; i++)
    {
        const pl_real e = s[i] - pl_one();
        far += e * e;
        g[i] = pl_stretch_mix(a, g[i], b, (kappa + kappa) * e);
    }
    *psi = pl_stretch_mix(a, *psi, b, kappa * far);
}

PL_LARGE void pl_stretch_curve(const pl_stretch *m, const pl_real s[3], pl_stretch_curvature *out)
{
    pl_stretch_model_curvature(m, s, out);
    if (!m->blend)
        return;
    const pl_real b = pl_load(m->blend), kappa = pl_load(m->blend + PL_ROW), a = pl_one() - b;
    const pl_real twice = kappa + kappa;
    PL_UNROLL for (int i = 0; i < 9; i++)
        out->H[i] = pl_stretch_mix(a, out->H[i], b, i % 4 ? pl_zero() : twice);
    PL_UNROLL for (int p = 0; p < 3; p++)
    {
        const pl_real twist = twice - (twice + twice) / pl_stretch_thickness(s, p);
        out->flip[p] = pl_stretch_mix(a, out->flip[p], b, twice);
        out->twist[p] = pl_stretch_mix(a, out->twist[p], b, twist);
    }
}

#endif

#endif
