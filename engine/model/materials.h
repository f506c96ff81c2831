/* materials.h - constants of a material's energy from the scene's parameters. */
#ifndef PLIANT_ENGINE_MODEL_MATERIALS_H
#define PLIANT_ENGINE_MODEL_MATERIALS_H

#include "engine/scene/fault.h"
#include "engine/kernels/stretch.h"
#include "engine/scene/scene.h"

/* Lame's constants from Young's modulus and Poisson's ratio, Pa. */
void pl_lame(double young, double poisson, double *mu, double *lambda);

/* The linear solid equivalent to a material at small strain, however the scene specifies it. arap and polynomial
 * are not such solids: they return the given parameters. For custom splines: no lateral contraction, and Young's
 * modulus at rest, which is negative if they soften there (pl_materials_check rejects them). */
typedef struct pl_linear_constants {
    double young, poisson; /* Pa, 1 */
} pl_linear_constants;
pl_linear_constants pl_material_linear(const pl_material *material);

/* Material data for kernels. */
typedef struct pl_material_numbers {
    double constants[PL_STRETCH_CONSTANTS_MAX]; /* rows of its table, in its order */
    double shear;   /* Pa: the shear modulus at rest; for a model without one, half of `fit` */
    double fit;     /* Pa: the slope that fits its stress, Liu 2017, eq. 11; may be negative */
    double *shared; /* numbers of its splines, or NULL; owned by the caller */
    int32_t shared_count;
    pl_linear_constants linear; /* pl_material_linear() */
} pl_material_numbers;

/* Computes the numbers of a material. PL_NO_MEMORY leaves *out without `shared`. */
pl_status pl_material_make(const pl_material *material, pl_material_numbers *out);

/* k of its weights w^2 = k V, Pa. Shear: weight_scale * shear; ADMM's prox handles volume exactly, and L-BFGS
 * learns it, so the weight follows the shear stiffness, not the bulk stiffness (tests/bench/measurements.md).
 * Fit: `fit`, at least a hundredth of `shear`, because the matrix must be positive definite. */
double pl_material_weight(const pl_material_numbers *numbers, const pl_solver_settings *settings);

/* PL_INVALID for splines whose energy has no lower bound, or that have no stiffness at rest. */
pl_status pl_materials_check(const pl_scene *scene, pl_faults *faults);

#endif
