/* change.h - changes to a scene while it runs. A control is a fragment of a scene: named things, and their new
 * numbers. Its contents follow the scene's tables (protocol/scene/params_control.c); flags mark the values given.
 *
 * Motions continue from where they are: rates apply from the pose that the pin or obstacle has when the control
 * takes effect; keyframes begin there and count their times from then. Materials, and their damping, determine the
 * matrix, so a control of a material needs a new model (pl_change_rebuilds).
 */
#ifndef PLIANT_ENGINE_SCENE_CHANGE_H
#define PLIANT_ENGINE_SCENE_CHANGE_H

#include "engine/scene/scene.h"

/* For a pin or an obstacle, by its index in the scene. */
typedef struct pl_change_motion {
    int32_t index;
    pl_motion motion;
} pl_change_motion;

typedef struct pl_change_force {
    int32_t index;
    bool has_velocity, has_density, has_drag, has_force, has_pressure;
    double velocity[3], density, drag; /* wind */
    double force[3];                   /* point */
    double pressure;                   /* pressure */
} pl_change_force;

/* Coefficients of a material's dissipation function, and of its damping by mass. */
typedef struct pl_change_damping {
    bool has_viscosity, has_bulk_viscosity, has_beta, has_coefficient, has_mass;
    double viscosity, bulk_viscosity, beta, coefficient, mass;
} pl_change_damping;

typedef struct pl_change_material {
    int32_t index;
    bool has_young, has_poisson, has_lame, has_constants, has_damping, has_air_damping;
    double young, poisson;
    pl_lame_constants lame;
    pl_rubber_constants constants;
    pl_change_damping damping;
    double air_damping;
} pl_change_material;

typedef struct pl_change {
    bool has_gravity;
    double gravity[3]; /* m/s^2 */
    int32_t pin_count, obstacle_count, force_count, material_count;
    pl_change_motion *pins, *obstacles;
    pl_change_force *forces;
    pl_change_material *materials;
} pl_change;

/* Releases what it owns and zeroes it. */
void pl_change_clear(pl_change *change);

/* True if it changes an input of the model's matrix. */
static inline bool pl_change_rebuilds(const pl_change *change)
{
    return change->material_count > 0;
}

/* Applies the materials' part to the scene from which the next model is created. */
void pl_scene_change(pl_scene *scene, const pl_change *change);

#endif
