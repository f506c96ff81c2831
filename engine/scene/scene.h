/* scene.h - a scene as plain structs: the client's document, with every default filled in.
 *
 * It is the interface between protocol/ (which reads it from JSON and writes it back) and engine/ (which builds a
 * model from it): plain structs in SI units, one header per noun, no behaviour except the release of memory. Names
 * follow the JSON keys. Angles are degrees where the key says so.
 */
#ifndef PLIANT_ENGINE_SCENE_SCENE_H
#define PLIANT_ENGINE_SCENE_SCENE_H

#include "engine/scene/body.h"
#include "engine/scene/contact.h"
#include "engine/scene/expectation.h"
#include "engine/scene/force.h"
#include "engine/scene/material.h"
#include "engine/scene/motion.h"
#include "engine/scene/obstacle.h"
#include "engine/scene/output.h"
#include "engine/scene/pin.h"
#include "engine/scene/settings.h"

typedef struct pl_scene {
    char *name;
    pl_time time;
    pl_solver_settings solver;
    double gravity[3]; /* m/s^2 */
    int32_t material_count, body_count, pin_count, obstacle_count, expectation_count;
    pl_material *materials;
    pl_body *bodies;
    pl_pin *pins;
    int32_t attachment_count;
    pl_attachment *attachments;
    pl_obstacle *obstacles;
    int32_t force_count;
    pl_scene_force *forces;
    pl_contact_settings contact;
    pl_expectation *expectations;
    pl_output output;
    pl_resources resources;
} pl_scene;

/* Frames of a run after frame 0: steps / every, the last partial one included. */
static inline int64_t pl_scene_frames(const pl_scene *scene)
{
    return (scene->time.steps + scene->output.every - 1) / scene->output.every;
}

static inline bool pl_scene_endless(const pl_scene *scene)
{
    return scene->time.steps == PL_STEPS_ENDLESS;
}

/* Releases what the scene owns (strings, arrays) and zeroes it. Does not free the struct itself. */
void pl_scene_clear(pl_scene *scene);

#endif
