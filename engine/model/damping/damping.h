/* damping.h - dissipation functions R(F, dF/dt) as terms of the objective (Brown 2018, section 5).
 *
 * A term's energy is S(F) = V a h R(F, (F - Fp) / (a h)), J, with Fp = D xp: what the stage's objective
 * has of it (stage.h), so that a solver sees one more group with energy, gradient, Hessian and prox.
 * Groups are terms (terms.h) with q = F column by column: of tetrahedra three columns, of triangles
 * two, of edges one, F = (x1 - x0) / l, and of fibres, F d; of bending a small angle as a vector, or of hinges any as a
 * number; and of a vertex alone x itself, for damping by mass and by air.
 *
 * What a stage begins with is frozen in rows behind one another, [block][rows][L]. Coefficients that
 * depend on F but need not be differentiated (lagged stiffness, multipliers of a spline) are taken
 * where the step begins, or, with the second-order correction, where its velocity leads to.
 */
#ifndef PLIANT_ENGINE_MODEL_DAMPING_DAMPING_H
#define PLIANT_ENGINE_MODEL_DAMPING_DAMPING_H

#include "engine/scene/fault.h"
#include "engine/scene/material_damping.h"
#include "engine/model/group.h"

#include <stdbool.h>
#include <stdint.h>

/* Constants of a term: what it is proportional to, then the material's (PL_STRETCH_CONSTANTS_MAX rows). Of one column,
 * which has no such material, E and s0 in their place (damping_frame.h), and the strain that F of 1 is: 1, but of
 * bends, whose F is an angle. Of a hinge the angle at rest as well. */
enum { PL_DAMPING_VOLUME, PL_DAMPING_YOUNG, PL_DAMPING_REST, PL_DAMPING_STRAIN, PL_HINGE_REST };
enum { PL_DAMPING_CONSTANTS = PL_HINGE_REST + 1 };

/* Rows of what is frozen; those of a function's own follow. */
enum {
    PL_FROZEN_RATE,                 /* 1 / (a h), 1/s */
    PL_FROZEN_SCALE,                /* multiplier by strain, 1 */
    PL_FROZEN_FP,                   /* [9] */
    PL_FROZEN_V = PL_FROZEN_FP + 9, /* [9] D v at the step's start, 1/s */
    PL_FROZEN_OWN = PL_FROZEN_V + 9,
    /* of strain: the tensor of coefficients in the frame of its stretches, with `momentum` */
    PL_FROZEN_Q_V = PL_FROZEN_OWN,     /* [9] */
    PL_FROZEN_Q_G = PL_FROZEN_Q_V + 9, /* [6] of a_i a_j: 00 11 22 01 02 12 */
    PL_FROZEN_Q_K = PL_FROZEN_Q_G + 6, /* [3] of pairs */
    PL_FROZEN_STRAIN_END = PL_FROZEN_Q_K + 3,
    /* of stiffness: K in the frame of the stretches (stretch_solid.h), projected */
    PL_FROZEN_K_U = PL_FROZEN_OWN,              /* [9] */
    PL_FROZEN_K_V = PL_FROZEN_K_U + 9,          /* [9] */
    PL_FROZEN_K_H = PL_FROZEN_K_V + 9,          /* [6] */
    PL_FROZEN_K_FLIP = PL_FROZEN_K_H + 6,       /* [3] */
    PL_FROZEN_K_TWIST = PL_FROZEN_K_FLIP + 3,   /* [3] */
    PL_FROZEN_K_LAGGED = PL_FROZEN_K_TWIST + 3, /* 1 where R has the quadratic form of K */
    PL_FROZEN_STIFFNESS_END,
    /* of principal stretches those of Fp, after K of the stretches alone */
    PL_FROZEN_PRINCIPAL = PL_FROZEN_STIFFNESS_END, /* [3] */
    PL_FROZEN_PRINCIPAL_END = PL_FROZEN_PRINCIPAL + 3,
    /* of the stretch tensor: S of Fp */
    PL_FROZEN_S = PL_FROZEN_OWN, /* [9] */
    PL_FROZEN_STRETCH_END = PL_FROZEN_S + 9,
};

/* A piecewise linear function, constant outside of its points. */
typedef struct pl_damping_spline {
    int32_t count; /* 0: 1 everywhere */
    double at[PL_DAMPING_POINTS_MAX], value[PL_DAMPING_POINTS_MAX];
    double area[PL_DAMPING_POINTS_MAX]; /* of a spline by rate: integral of value(r) r from 0 */
} pl_damping_spline;

/* What all terms of a group share. */
typedef struct pl_damping {
    pl_damping_model model;
    pl_dissipation by; /* whose energy it is, in metrics */
    pl_damping_momentum momentum;
    bool merged;                          /* with the element's own energy, of tetrahedra */
    bool bends;                           /* F is an angle that is 0 at rest (build_damping.c) */
    bool second_order;                    /* engine/README.md has each function's correction */
    double shear, bulk;                   /* psi, phi, Pa s; of viscous: shear alone */
    double beta;                          /* s */
    double power, coefficient, smoothing; /* p, Pa s^p, 1/s */
    pl_damping_spline strain, rate;
} pl_damping;

/* Whether R is of Green's strain rate: all that have a correction for momentum are. */
static inline bool pl_damping_is_strain(const pl_damping *d)
{
    return d->model == PL_DAMPING_STRAIN_RATE || d->momentum != PL_MOMENTUM_NONE;
}

/* Whether it has the material's stiffness in it. */
static inline bool pl_damping_is_stiffness(pl_damping_model model)
{
    return model == PL_DAMPING_RAYLEIGH || model == PL_DAMPING_RAYLEIGH_LAGGED ||
           model == PL_DAMPING_PRINCIPAL_STRAIN;
}

/* The table of a function on elements of `corners` corners: of tetrahedra, that of both energies where it is
 * merged, and one that says how concave it is where it has creases. */
const pl_group_ops *pl_damping_ops(const pl_damping *damping, int32_t corners);

/* Makes a group of terms one of a dissipation function, of which it keeps a copy; PL_NO_MEMORY: it is
 * destroyed. */
pl_status pl_damping_attach(pl_group *group, const pl_damping *damping);

/* A copy of a group as it stands at x [vertices][3] where nothing moves, so that it dissipates nothing there.
 * It shares all but what is frozen. PL_OK or PL_NO_MEMORY; to be cleared either way. */
pl_status pl_damping_at_rest(const pl_group *group, int64_t vertices, const double *x,
                             pl_group *out);
void pl_damping_at_rest_clear(pl_group *still);

/* Whose energy a dissipative group takes. */
pl_dissipation pl_damping_by(const pl_group *group);

/* The slot of the tables: what all terms hash, and the function. */
uint64_t pl_damping_hash(const pl_group *group, uint64_t hash);

#endif
