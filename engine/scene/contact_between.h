/* contact_between.h - effective contact settings of two bodies of a scene. A leaf beside scene.h. */
#ifndef PLIANT_ENGINE_SCENE_CONTACT_BETWEEN_H
#define PLIANT_ENGINE_SCENE_CONTACT_BETWEEN_H

#include "engine/scene/scene.h"

/* Effective settings of two bodies of a scene, or of one body and itself. */
typedef struct pl_contact_between {
    bool enabled;
    double friction, restitution;
} pl_contact_between;

/* From the last entry of `pairs` that names the two. Without one, all bodies touch except those attached to each
 * other, and friction is the geometric mean of their materials'. */
pl_contact_between pl_contact_between_bodies(const pl_scene *scene, int32_t a, int32_t b);

#endif
