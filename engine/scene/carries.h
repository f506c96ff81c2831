/* carries.h - which method can carry which terms, and why another cannot. Every part of a scene
 * that puts terms into the objective has traits; a method refuses a trait with a reason. Validation
 * and capabilities read this one table. A leaf beside scene.h: no model is needed.
 */
#ifndef PLIANT_ENGINE_SCENE_CARRIES_H
#define PLIANT_ENGINE_SCENE_CARRIES_H

#include "engine/scene/fault.h"
#include "engine/scene/scene.h"

#include <stddef.h>

/* What terms lack, as bits. */
typedef enum pl_trait {
    PL_TRAIT_HARD = 1,         /* the energy is 0 or infinite: a hard constraint */
    PL_TRAIT_NO_PROX = 2,      /* no proximal operator, so no local step */
    PL_TRAIT_NOT_DISTANCE = 4, /* not k/2 times a squared distance from a set (Liu 2017, eq. 5) */
    PL_TRAIT_NO_HESSIAN = 8,   /* no second derivatives */
    PL_TRAIT_HELD = 16,        /* a constraint with multipliers that its method renews */
} pl_trait;

/* Why the method cannot carry terms with these traits, a clause to follow on a colon; NULL where
 * it can. Static. */
const char *pl_method_refuses(pl_method_kind method, unsigned traits);

/* Whether a scene may ask for the method with such terms: auto takes what its descent or ADMM does. */
bool pl_method_takes(pl_method_kind method, unsigned traits);

/* The traits of a material model's terms. */
unsigned pl_material_traits(pl_material_kind model);

/* Whether the method solves with the constant matrix, which then is made and factored. */
bool pl_method_uses_matrix(pl_method_kind method);

/* The name of a method in a scene. */
const char *pl_method_name(pl_method_kind method);

/* "admm or projective_dynamics": the methods that carry all of these traits, of which some does.
 * Returns text. */
const char *pl_methods_that_carry(unsigned traits, char *text, size_t size);

/* The method that auto selects for a scene: PL_METHOD_AUTO, its own descent, or PL_METHOD_ADMM for
 *   - hard constraints, which have no energy to descend;
 *   - obstacles under a second-order integrator, which gains energy from stiff springs, unless
 *     solver.obstacles is energy;
 *   - bodies that start random or collapsed, where descent may find another minimum, or stretched inside
 *     out of a material whose energy is infinite there, or of fung;
 *   - but no scene with hinges for its bodies' starts alone, as ADMM cannot carry them. */
pl_method_kind pl_auto_method(const pl_scene *scene);

/* Whether a scene's obstacles are constraints: as it says, or else where the method holds them. */
bool pl_obstacles_are_hard(const pl_solver_settings *solver);

/* Whether a step of it is one stage that looks at no step before: backward Euler, and statics. */
bool pl_integrator_is_euler(pl_integrator_kind kind);

/* Whether the dissipation of a material's tetrahedra is in one term with their elastic energy: as the
 * material says, or else where that is the cheaper (tests/bench/measurements.md). Triangles and edges
 * have terms of their own for it always. */
bool pl_damping_is_merged(const pl_scene *scene, const pl_material *material);

/* Whether the dissipation of a material is corrected for the second order in time: as the material says, or
 * else under integrators of that order. */
bool pl_damping_is_second_order(const pl_scene *scene, const pl_material *material);

/* How Newton's steps are solved for: as the scene says, or else by a factor of H up to this many free
 * vertices, and by conjugate gradients with the constant matrix's beyond. A factor's time grows as the
 * square of the vertices, n^1.6 by measure, the gradients' as n; at 5,000 these take a half or less,
 * with a stiff twisted bar of nu = 0.49 two thirds, at 33,000 a tenth. */
enum { PL_DIRECT_MOST = 4096 };
pl_linear_kind pl_newton_linear(const pl_solver_settings *solver, int64_t free_vertices);

/* Parts of a scene that put like terms into the objective. */
typedef struct pl_carried {
    const char *what; /* "obstacle", "neo_hookean material": one of them */
    int32_t count;    /* > 0 */
    unsigned traits;
} pl_carried;
enum { PL_CARRIED_MAX = PL_MATERIAL_KINDS + 8 };

/* How many bodies have elements of a material: its model's energy is of tetrahedra and triangles, a
 * spring has none of it. */
typedef struct pl_material_uses {
    int32_t model; /* bodies with tetrahedra or triangles of it */
    int32_t triangles, edges;
} pl_material_uses;

/* All of them, at most PL_CARRIED_MAX; returns how many. uses: [material_count]. */
int32_t pl_scene_carried(const pl_scene *scene, const pl_material_uses *uses, pl_carried *out);

/* What a scene has that a GPU's backend (backends/device) has not: a fault for each, located. uses:
 * [material_count]. PL_OK where there is nothing, or the device is the CPU; PL_INVALID. */
pl_status pl_device_carries(const pl_scene *scene, const pl_material_uses *uses, pl_faults *faults);

#endif
