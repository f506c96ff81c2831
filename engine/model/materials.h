/* materials.h - from the parameters of a scene's material to the constants of its energy. */
#ifndef PLIANT_ENGINE_MODEL_MATERIALS_H
#define PLIANT_ENGINE_MODEL_MATERIALS_H

#include "engine/scene/fault.h"
#include "engine/kernels/stretch.h"
#include "engine/scene/scene.h"

/* Lame's constants of Young's modulus and Poisson's ratio, Pa. */
void pl_lame(double young, double poisson, double *mu, double *lambda);

/* The linear solid that a material is at small strain, however the scene says it: of arap and
 * polynomial, which are none, what they were given; of splines of their own, no lateral contraction and
 * Young's modulus at rest, which is negative where they soften there (pl_materials_check refuses them). */
typedef struct pl_linear_constants {
    double young, poisson; /* Pa, 1 */
} pl_linear_constants;
pl_linear_constants pl_material_linear(const pl_material *material);

/* What the kernels of a material need. */
typedef struct pl_material_numbers {
    double constants[PL_STRETCH_CONSTANTS_MAX]; /* rows of its table, in its order */
    double shear;   /* Pa: the shear modulus at rest; of a model without, half of `fit` */
    double fit;     /* Pa: the slope that fits its stress, Liu 2017, eq. 11; may be negative */
    double *shared; /* numbers of its splines, or NULL; owned by whoever asked */
    int32_t shared_count;
    pl_linear_constants linear; /* pl_material_linear() */
} pl_material_numbers;

/* The numbers of a material. PL_NO_MEMORY leaves *out without `shared`. */
pl_status pl_material_make(const pl_material *material, pl_material_numbers *out);

/* k of its weights w^2 = k V, Pa. Shear: weight_scale * shear; ADMM's prox carries volume exactly,
 * and L-BFGS learns it, so the weight follows the shear stiffness, not the bulk
 * (tests/bench/measurements.md has the trials). Fit: `fit`, at least a hundredth of `shear`, as the matrix must be positive. */
double pl_material_weight(const pl_material_numbers *numbers, const pl_solver_settings *settings);

/* PL_INVALID for splines whose energy has no lower bound, or no stiffness at rest. */
pl_status pl_materials_check(const pl_scene *scene, pl_faults *faults);

#endif
