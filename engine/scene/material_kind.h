/* material_kind.h - the material models, by name. Separate from scene.h, so that a new key there does not recompile
 * all kernels. */
#ifndef PLIANT_ENGINE_SCENE_MATERIAL_KIND_H
#define PLIANT_ENGINE_SCENE_MATERIAL_KIND_H

typedef enum pl_material_kind {
    PL_MATERIAL_NEO_HOOKEAN,
    PL_MATERIAL_COROTATED,
    PL_MATERIAL_ARAP,
    PL_MATERIAL_STVK,
    PL_MATERIAL_STABLE_NEO_HOOKEAN,
    PL_MATERIAL_NEO_HOOKEAN_WANG,
    PL_MATERIAL_MOONEY_RIVLIN,
    PL_MATERIAL_FUNG,
    PL_MATERIAL_POLYNOMIAL,
    PL_MATERIAL_SPLINE,
    PL_MATERIAL_HENCKY
} pl_material_kind;
#define PL_MATERIAL_KINDS ((int)PL_MATERIAL_HENCKY + 1)

/* DO(suffix of the kind's name, name in functions and scenes) for each. */
#define PL_STRETCH_EACH_KIND(DO)                                                                   \
    DO(NEO_HOOKEAN, neo_hookean)                                                                   \
    DO(COROTATED, corotated)                                                                       \
    DO(ARAP, arap)                                                                                 \
    DO(STVK, stvk)                                                                                 \
    DO(STABLE_NEO_HOOKEAN, stable_neo_hookean)                                                     \
    DO(NEO_HOOKEAN_WANG, neo_hookean_wang)                                                         \
    DO(MOONEY_RIVLIN, mooney_rivlin)                                                               \
    DO(FUNG, fung)                                                                                 \
    DO(POLYNOMIAL, polynomial)                                                                     \
    DO(SPLINE, spline)                                                                             \
    DO(HENCKY, hencky)

#endif
