/* damping.h - dissipation functions R(F, dF/dt) as terms of the objective (Brown 2018, section 5).
 *
 * The energy of a term is S(F) = V a h R(F, (F - Fp) / (a h)), J, with Fp = D xp. The stage's objective contains S
 * (stage.h), so a solver sees one more group with energy, gradient, Hessian and prox. Groups are terms (terms.h)
 * with q = F column by column: three columns for tetrahedra, two for triangles, one for edges, F = (x1 - x0) / l,
 * and fibres, F d. For bending, F is a small angle as a vector or, with hinges, any angle as a number. Damping by
 * mass and by air acts on a single vertex, and F is x itself.
 *
 * Data that a stage freezes when it begins lie in consecutive rows, [block][rows][L]. Coefficients that depend on F
 * but need no derivative (lagged stiffness, multipliers of a spline) are taken at the step's start or, with the
 * second-order correction, where its velocity leads.
 */
#ifndef PLIANT_ENGINE_MODEL_DAMPING_DAMPING_H
#define PLIANT_ENGINE_MODEL_DAMPING_DAMPING_H

#include "engine/scene/fault.h"
#include "engine/scene/material_damping.h"
#include "engine/model/group.h"

#include <stdbool.h>
#include <stdint.h>

/* Constants of a term: its factor, then the material's constants (PL_STRETCH_CONSTANTS_MAX rows). Terms with one
 * column have no such material and store instead E, s0 (damping_frame.h) and the strain at F = 1: 1, except for
 * bends, whose F is an angle. A hinge also stores its angle at rest. */
enum { PL_DAMPING_VOLUME, PL_DAMPING_YOUNG, PL_DAMPING_REST, PL_DAMPING_STRAIN, PL_HINGE_REST };
enum { PL_DAMPING_CONSTANTS = PL_HINGE_REST + 1 };

/* Frozen rows. The rows of each function follow the common ones. */
enum {
    PL_FROZEN_RATE,                 /* 1 / (a h), 1/s */
    PL_FROZEN_SCALE,                /* multiplier by strain, 1 */
    PL_FROZEN_FP,                   /* [9] */
    PL_FROZEN_V = PL_FROZEN_FP + 9, /* [9] D v at the step's start, 1/s */
    PL_FROZEN_OWN = PL_FROZEN_V + 9,
    /* functions of strain, with `momentum`: the coefficient tensor in the frame of its stretches */
    PL_FROZEN_Q_V = PL_FROZEN_OWN,     /* [9] */
    PL_FROZEN_Q_G = PL_FROZEN_Q_V + 9, /* [6] of a_i a_j: 00 11 22 01 02 12 */
    PL_FROZEN_Q_K = PL_FROZEN_Q_G + 6, /* [3] of pairs */
    PL_FROZEN_STRAIN_END = PL_FROZEN_Q_K + 3,
    /* functions of stiffness: K in the frame of the stretches (stretch_solid.h), projected */
    PL_FROZEN_K_U = PL_FROZEN_OWN,              /* [9] */
    PL_FROZEN_K_V = PL_FROZEN_K_U + 9,          /* [9] */
    PL_FROZEN_K_H = PL_FROZEN_K_V + 9,          /* [6] */
    PL_FROZEN_K_FLIP = PL_FROZEN_K_H + 6,       /* [3] */
    PL_FROZEN_K_TWIST = PL_FROZEN_K_FLIP + 3,   /* [3] */
    PL_FROZEN_K_LAGGED = PL_FROZEN_K_TWIST + 3, /* 1 where R takes the quadratic form of K */
    PL_FROZEN_STIFFNESS_END,
    /* principal stretches: those of Fp, after K of the stretches alone */
    PL_FROZEN_PRINCIPAL = PL_FROZEN_STIFFNESS_END, /* [3] */
    PL_FROZEN_PRINCIPAL_END = PL_FROZEN_PRINCIPAL + 3,
    /* functions of the stretch tensor: S of Fp */
    PL_FROZEN_S = PL_FROZEN_OWN, /* [9] */
    PL_FROZEN_STRETCH_END = PL_FROZEN_S + 9,
};

/* A piecewise linear function, constant beyond its first and last points. */
typedef struct pl_damping_spline {
    int32_t count; /* 0: the function is 1 everywhere */
    double at[PL_DAMPING_POINTS_MAX], value[PL_DAMPING_POINTS_MAX];
    double area[PL_DAMPING_POINTS_MAX]; /* for a spline over rates: integral of value(r) r from 0 */
} pl_damping_spline;

/* Properties shared by all terms of a group. */
typedef struct pl_damping {
    pl_damping_model model;
    pl_dissipation by; /* the energy's owner in metrics */
    pl_damping_momentum momentum;
    bool merged;                          /* include the element's own energy; tetrahedra only */
    bool bends;                           /* F is an angle that is 0 at rest (build_damping.c) */
    bool second_order;                    /* engine/README.md lists each function's correction */
    double shear, bulk;                   /* psi, phi, Pa s; viscous: shear only */
    double beta;                          /* s */
    double power, coefficient, smoothing; /* p, Pa s^p, 1/s */
    pl_damping_spline strain, rate;
} pl_damping;

/* True if R is a function of Green's strain rate, as for all functions with a correction for momentum. */
static inline bool pl_damping_is_strain(const pl_damping *d)
{
    return d->model == PL_DAMPING_STRAIN_RATE || d->momentum != PL_MOMENTUM_NONE;
}

/* True if the function contains the material's stiffness. */
static inline bool pl_damping_is_stiffness(pl_damping_model model)
{
    return model == PL_DAMPING_RAYLEIGH || model == PL_DAMPING_RAYLEIGH_LAGGED ||
           model == PL_DAMPING_PRINCIPAL_STRAIN;
}

/* The table of a function on elements of `corners` corners. For merged tetrahedra it covers both energies. For
 * functions with creases, the table also reports how concave the energy is. */
const pl_group_ops *pl_damping_ops(const pl_damping *damping, int32_t corners);

/* Turns a group of terms into one of a dissipation function, which it copies. PL_NO_MEMORY: the group is destroyed. */
pl_status pl_damping_attach(pl_group *group, const pl_damping *damping);

/* Copies a group at x [vertices][3] with nothing moving, so that it dissipates nothing there. The copy shares
 * everything except the frozen rows. PL_OK or PL_NO_MEMORY; clear it in either case. */
pl_status pl_damping_at_rest(const pl_group *group, int64_t vertices, const double *x,
                             pl_group *out);
void pl_damping_at_rest_clear(pl_group *still);

/* The owner of a dissipative group's energy. */
pl_dissipation pl_damping_by(const pl_group *group);

/* The tables' hash slot: hashes what every term hashes, and the function. */
uint64_t pl_damping_hash(const pl_group *group, uint64_t hash);

#endif
