/* carries.h - which method supports which terms, and why another does not. Every part of a scene that adds terms to
 * the objective has traits; a method rejects a trait with a reason. Validation and capabilities read this one
 * table. A leaf beside scene.h: no model is needed.
 */
#ifndef PLIANT_ENGINE_SCENE_CARRIES_H
#define PLIANT_ENGINE_SCENE_CARRIES_H

#include "engine/scene/fault.h"
#include "engine/scene/scene.h"

#include <stddef.h>

/* Properties that terms lack, as bits. */
typedef enum pl_trait {
    PL_TRAIT_HARD = 1,         /* the energy is 0 or infinite: a hard constraint */
    PL_TRAIT_NO_PROX = 2,      /* no proximal operator, so no local step */
    PL_TRAIT_NOT_DISTANCE = 4, /* not k/2 times a squared distance from a set (Liu 2017, eq. 5) */
    PL_TRAIT_NO_HESSIAN = 8,   /* no second derivatives */
    PL_TRAIT_HELD = 16,        /* a constraint whose multipliers its method renews */
} pl_trait;

/* The reason why the method does not support terms with these traits, a clause to follow a colon; NULL if it does.
 * Static. */
const char *pl_method_refuses(pl_method_kind method, unsigned traits);

/* True if a scene with such terms may request the method: auto supports what its descent or ADMM supports. */
bool pl_method_takes(pl_method_kind method, unsigned traits);

/* Traits of a material model's terms. */
unsigned pl_material_traits(pl_material_kind model);

/* True if the method solves with the constant matrix, which is then assembled and factored. */
bool pl_method_uses_matrix(pl_method_kind method);

/* The name of a method in a scene. */
const char *pl_method_name(pl_method_kind method);

/* "admm or projective_dynamics": the methods that support all of these traits; at least one does. Returns text. */
const char *pl_methods_that_carry(unsigned traits, char *text, size_t size);

/* The method that auto selects for a scene: PL_METHOD_AUTO, its own descent, or PL_METHOD_ADMM for
 *   - hard constraints, which have no energy to descend;
 *   - obstacles under a second-order integrator, which gains energy from stiff springs, unless
 *     solver.obstacles is energy;
 *   - bodies that start random or collapsed, where descent may find another minimum, or stretched inside
 *     out with a material whose energy is infinite there, or with fung;
 *   - but a scene with hinges never gets it for its bodies' starts alone, because ADMM does not support hinges. */
pl_method_kind pl_auto_method(const pl_scene *scene);

/* True if a scene's obstacles are constraints: as the scene says, or by default if the method holds constraints. */
bool pl_obstacles_are_hard(const pl_solver_settings *solver);

/* True if a step consists of one stage that uses no earlier step: backward Euler, and statics. */
bool pl_integrator_is_euler(pl_integrator_kind kind);

/* True if one term holds both the dissipation of a material's tetrahedra and their elastic energy: as the material
 * says, or by default whichever is cheaper (tests/bench/measurements.md). Triangles and edges always have
 * separate terms. */
bool pl_damping_is_merged(const pl_scene *scene, const pl_material *material);

/* True if a material's dissipation has the second-order correction in time: as the material says, or by default
 * under second-order integrators. */
bool pl_damping_is_second_order(const pl_scene *scene, const pl_material *material);

/* The solver for Newton's steps: as the scene says. By default, conjugate gradients preconditioned by the constant
 * matrix, and up to this many free vertices a factor of H where they take too long (`auto`). By measurement, a factor's
 * time grows as n^1.6 in the number of vertices, the gradients' as n. At 5,000 vertices the gradients take half the
 * time of a factor or less (two thirds for a stiff twisted bar of nu = 0.49), at 33,000 a tenth. */
enum { PL_DIRECT_MOST = 4096 };
pl_linear_kind pl_newton_linear(const pl_solver_settings *solver, int64_t free_vertices);

/* Adds a fault if a scene requests a solver with the constant matrix that its method or device does not use. PL_OK,
 * or PL_INVALID. */
pl_status pl_matrix_carries(const pl_scene *scene, pl_faults *faults);

/* A kind of parts of a scene that add the same kind of terms to the objective. */
typedef struct pl_carried {
    const char *what; /* "obstacle", "neo_hookean material": name of one of them */
    int32_t count;    /* > 0 */
    unsigned traits;
} pl_carried;
enum { PL_CARRIED_MAX = PL_MATERIAL_KINDS + 8 };

/* Number of bodies that have elements of a material. The energy of its model applies to tetrahedra and triangles; a
 * spring has none of it. */
typedef struct pl_material_uses {
    int32_t model; /* bodies with tetrahedra or triangles of it */
    int32_t triangles, edges;
} pl_material_uses;

/* Lists all of them, at most PL_CARRIED_MAX; returns their number. uses: [material_count]. */
int32_t pl_scene_carried(const pl_scene *scene, const pl_material_uses *uses, pl_carried *out);

/* Adds a fault, with its place, for each feature of a scene that a GPU's backend (backends/device) lacks. uses:
 * [material_count]. PL_OK if none, or the device is the CPU; PL_INVALID. */
pl_status pl_device_carries(const pl_scene *scene, const pl_material_uses *uses, pl_faults *faults);

#endif
