/* material_damping.h - the dissipation functions by name: a leaf that both scenes and kernels include. */
#ifndef PLIANT_ENGINE_SCENE_MATERIAL_DAMPING_H
#define PLIANT_ENGINE_SCENE_MATERIAL_DAMPING_H

/* R by its place in the table of names (protocol/scene/params_damping.c). */
typedef enum pl_damping_model {
    PL_DAMPING_STRAIN_RATE,      /* of the rate of Green's strain (Brown 2018, eq. 43) */
    PL_DAMPING_VISCOUS,          /* of the rate of F itself (Wang 2016, section 6) */
    PL_DAMPING_RAYLEIGH,         /* by the tangent stiffness where the step ends (eq. 46) */
    PL_DAMPING_RAYLEIGH_LAGGED,  /* ... where it begins, projected to be semidefinite */
    PL_DAMPING_PRINCIPAL_STRAIN, /* of the rates of principal stretches (eq. 53) */
    PL_DAMPING_POWER_LAW,        /* a power of the rate of the stretch tensor (eq. 75) */
    PL_DAMPING_RATE_SPLINE       /* a given function of that rate (section 5.2.2) */
} pl_damping_model;
#define PL_DAMPING_MODELS ((int)PL_DAMPING_RATE_SPLINE + 1)

/* What keeps R from seeing a rotation (Brown 2018, section 6). */
typedef enum pl_damping_momentum {
    PL_MOMENTUM_NONE,
    PL_MOMENTUM_NONRIGID,         /* the nonrigid part of a velocity by projection (eq. 66) */
    PL_MOMENTUM_VELOCITY_GRADIENT /* ... by the rate of deformation (eq. 67) */
} pl_damping_momentum;

/* Where R stands in the objective: as terms of its own beside those of elasticity, or in one with them
 * (Brown 2018, eq. 38-40). */
typedef enum pl_damping_form {
    PL_DAMPING_AUTO, /* the cheaper one, by pl_damping_is_merged() of carries.h */
    PL_DAMPING_SEPARATE,
    PL_DAMPING_MERGED
} pl_damping_form;

/* Whether R is corrected for the second order in time. In this order: scenes have "auto", false or true. */
typedef enum pl_damping_order {
    PL_ORDER_AUTO, /* by the integrator's: pl_damping_is_second_order() of carries.h */
    PL_ORDER_FIRST,
    PL_ORDER_SECOND
} pl_damping_order;

/* What energy goes to: the models above in their order, then. */
typedef enum pl_dissipation {
    PL_DISSIPATION_MASS = PL_DAMPING_MODELS, /* damping by mass */
    PL_DISSIPATION_AIR,
    PL_DISSIPATION_FRICTION,
    PL_DISSIPATION_COUNT
} pl_dissipation;

enum { PL_DAMPING_POINTS_MAX = 16 };

#endif
