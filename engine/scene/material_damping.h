/* material_damping.h - the dissipation functions by name: a leaf for both scenes and kernels. */
#ifndef PLIANT_ENGINE_SCENE_MATERIAL_DAMPING_H
#define PLIANT_ENGINE_SCENE_MATERIAL_DAMPING_H

/* Functions R in the order of the table of names (protocol/scene/params_damping.c). */
typedef enum pl_damping_model {
    PL_DAMPING_STRAIN_RATE,      /* of the rate of Green's strain (Brown 2018, eq. 43) */
    PL_DAMPING_VISCOUS,          /* of the rate of F itself (Wang 2016, section 6) */
    PL_DAMPING_RAYLEIGH,         /* from the tangent stiffness at the step's end (eq. 46) */
    PL_DAMPING_RAYLEIGH_LAGGED,  /* ... at its start, projected to be semidefinite */
    PL_DAMPING_PRINCIPAL_STRAIN, /* of the rates of principal stretches (eq. 53) */
    PL_DAMPING_POWER_LAW,        /* a power of the rate of the stretch tensor (eq. 75) */
    PL_DAMPING_RATE_SPLINE       /* a given function of that rate (section 5.2.2) */
} pl_damping_model;
#define PL_DAMPING_MODELS ((int)PL_DAMPING_RATE_SPLINE + 1)

/* Corrections that make R independent of rotation (Brown 2018, section 6). */
typedef enum pl_damping_momentum {
    PL_MOMENTUM_NONE,
    PL_MOMENTUM_NONRIGID,         /* the nonrigid part of a velocity by projection (eq. 66) */
    PL_MOMENTUM_VELOCITY_GRADIENT /* ... by the rate of deformation (eq. 67) */
} pl_damping_momentum;

/* Place of R in the objective: separate terms beside those of elasticity, or common terms with them (Brown 2018,
 * eq. 38-40). */
typedef enum pl_damping_form {
    PL_DAMPING_AUTO, /* whichever is cheaper, by pl_damping_is_merged() of carries.h */
    PL_DAMPING_SEPARATE,
    PL_DAMPING_MERGED
} pl_damping_form;

/* Second-order correction of R in time. In the order of a scene's values: "auto", false, true. */
typedef enum pl_damping_order {
    PL_ORDER_AUTO, /* by the integrator: pl_damping_is_second_order() of carries.h */
    PL_ORDER_FIRST,
    PL_ORDER_SECOND
} pl_damping_order;

/* Sinks of energy: the models above in their order, then these. */
typedef enum pl_dissipation {
    PL_DISSIPATION_MASS = PL_DAMPING_MODELS, /* damping by mass */
    PL_DISSIPATION_AIR,
    PL_DISSIPATION_FRICTION,
    PL_DISSIPATION_COUNT
} pl_dissipation;

enum { PL_DAMPING_POINTS_MAX = 16 };

#endif
