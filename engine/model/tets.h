/* tets.h - groups of linear tetrahedra of one material model.
 *
 * D_i x = vec(F), F = [x1 - x0, x2 - x0, x3 - x0] B^-1 (Narain 2016, eq. 32), column-major.
 * U_i = V_i Psi(F) (eq. 33). The functions of a model are compiled once per instruction set
 * (tets_*_isa.c) from one text (tets_template.h) and picked at start (isa.h).
 */
#ifndef PLIANT_ENGINE_MODEL_TETS_H
#define PLIANT_ENGINE_MODEL_TETS_H

#include "engine/fault.h"
#include "engine/model/group.h"
#include "engine/scene.h"

typedef struct pl_tets {
    double *shape;    /* [block][9][L]: B^-1, column-major, 1/m */
    double *volume;   /* [block][L]: m^3, 0 in padding */
    double *mu;       /* [block][L]: first constant of the material (Lame's mu), Pa */
    double *lambda;   /* [block][L]: second constant (Lame's lambda), Pa */
    int32_t *element; /* [block][L]: tetrahedron in the model's order */
} pl_tets;

/* Lame's constants of Young's modulus and Poisson's ratio. */
void pl_lame(double young, double poisson, double *mu, double *lambda);

/* A group of the tetrahedra `element[0 .. count)` of the model's `tets` [.][4] with rest positions
 * `rest` [.][3] and constants mu, lambda per listed tetrahedron. Weights are
 * w^2 = k V, with k by the settings' `stiffness`. */
pl_status pl_tets_create(const pl_group_ops *ops, const double *rest, const int32_t *tets,
                         const int32_t *element, int64_t count, const double *mu,
                         const double *lambda, const pl_solver_settings *settings, pl_group *out);
/* k of a material, Pa. Shear: weight_scale * mu; ADMM's prox carries volume exactly, and L-BFGS
 * learns it, so the weight follows the shear stiffness, not the bulk (engine/README.md has the
 * trials). Fit: Liu 2017, eq. 11, at least mu / 100, as the matrix must be positive. */
double pl_tets_weight(const pl_group_ops *ops, const pl_solver_settings *settings, double mu,
                      double lambda);
void pl_tets_destroy(pl_group *g);
void pl_tets_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K);

#endif
