/* material.h - materials of bodies. */
#ifndef PLIANT_ENGINE_SCENE_MATERIAL_H
#define PLIANT_ENGINE_SCENE_MATERIAL_H

#include "engine/scene/material_damping.h"
#include "engine/scene/material_kind.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_bending_model { PL_BENDING_QUADRATIC, PL_BENDING_HINGE } pl_bending_model;
/* Bending: of triangles over their interior edges, of edges at vertices with two edges. */
typedef struct pl_bending {
    bool present;
    pl_bending_model model;
    bool has_stiffness;
    double stiffness; /* N m; for edges N m^2 */
} pl_bending;

typedef enum pl_limit_kind { PL_LIMIT_COLUMNS, PL_LIMIT_SINGULAR_VALUES } pl_limit_kind;
/* Stretches stay in [low, high] (Narain 2016, section 5). */
typedef struct pl_strain_limit {
    bool present;
    pl_limit_kind by;
    double low, high;
    double direction[3]; /* unit: of the first column of triangles */
} pl_strain_limit;

/* kappa/2 (|F d| - 1)^2 added to the energy density (Liu 2017, section 4.4). */
typedef struct pl_fibers {
    bool present;
    double stiffness;    /* kappa, Pa */
    double direction[3]; /* d, unit */
} pl_fibers;

/* Whether edges are springs, limited to their length, or of fixed length. */
typedef enum pl_inextensible {
    PL_EXTENSIBLE,
    PL_INEXTENSIBLE_ROPE,
    PL_INEXTENSIBLE_ROD
} pl_inextensible;

enum { PL_SPLINE_POINTS_MAX = 16, PL_CURVE_POINTS_MAX = 64 };

/* Source of a spline material's functions. */
typedef enum pl_splines_kind {
    PL_SPLINES_NONE,
    PL_SPLINES_A,      /* Liu 2017, figure 6: neo-Hookean, stiffer in compression */
    PL_SPLINES_B,      /* neo-Hookean, stiffer in tension */
    PL_SPLINES_POINTS, /* through given points */
    PL_SPLINES_CURVE,  /* fitted to a measured curve */
} pl_splines_kind;

/* a, b, c of Psi = sum a(s_i) + sum b(s_i s_j) + c(J) (Liu 2017, eq. 9). */
typedef struct pl_splines {
    pl_splines_kind kind;
    int32_t count[3];                          /* points of a, b, c */
    double points[3][PL_SPLINE_POINTS_MAX][2]; /* argument, ascending; value, Pa */
    int32_t curve_count;
    double curve[PL_CURVE_POINTS_MAX][2]; /* stretch, ascending; stress per rest area, Pa */
} pl_splines;

typedef struct pl_lame_constants {
    double mu, lambda; /* Pa */
} pl_lame_constants;

/* Wang 2016, eq. 13-15; constants that its model does not have are 0. */
typedef struct pl_rubber_constants {
    double s0, s1, s2; /* Pa */
    double s3;         /* 1 */
} pl_rubber_constants;

/* A piecewise linear function by its points, constant beyond the first and last; count 0: none. */
typedef struct pl_damping_points {
    int32_t count;
    double points[PL_DAMPING_POINTS_MAX][2]; /* argument, ascending; multiplier */
} pl_damping_points;

/* Dissipation of a material's elements (engine/model/damping/damping.h). */
typedef struct pl_material_damping {
    bool present;
    pl_damping_model model;
    double viscosity, bulk_viscosity;     /* Pa s */
    double beta;                          /* s */
    double coefficient, power, smoothing; /* Pa s^p, 1, 1/s */
    double mass;                          /* 1/s */
    pl_damping_points strain_spline;      /* for any model: by principal stretch */
    pl_damping_points rate_spline;        /* by |dS/dt|, 1/s */
    pl_damping_momentum momentum;
    pl_damping_order second_order;
    pl_damping_form form;
} pl_material_damping;

typedef struct pl_material {
    char *name;
    pl_material_kind model;
    double young;   /* Pa */
    double poisson; /* 1 */
    bool has_lame;  /* replaces young and poisson */
    pl_lame_constants lame;
    bool has_constants; /* replaces either pair */
    pl_rubber_constants constants;
    pl_splines splines;
    bool invertible;  /* under strong compression, energies turn into a convex one */
    double density;   /* kg/m^3 */
    double thickness; /* for triangles, m */
    double area;      /* cross-section, for edges, m^2 */
    pl_bending bending;
    pl_strain_limit strain_limit;
    pl_fibers fibers;
    pl_inextensible inextensible; /* edges */
    pl_material_damping damping;
    double air_damping; /* N s/m^3 */
    bool has_friction;  /* otherwise contact.friction of the scene */
    double friction;    /* against other bodies, >= 0 */
} pl_material;

#endif
