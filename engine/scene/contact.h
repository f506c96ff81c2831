/* contact.h - contact between bodies, and of a body with itself, as a scene asks for it. */
#ifndef PLIANT_ENGINE_SCENE_CONTACT_H
#define PLIANT_ENGINE_SCENE_CONTACT_H

#include <stdbool.h>
#include <stdint.h>

/* What holds for two bodies, or for one and itself, in place of the scene's settings. Of several that
 * name the same bodies the last holds. */
typedef struct pl_contact_pair_settings {
    int32_t body[2]; /* the same twice: with itself */
    bool enabled;
    bool has_friction; /* else by their materials */
    double friction;   /* Coulomb coefficient, >= 0 */
    double restitution;
} pl_contact_pair_settings;

typedef struct pl_contact_settings {
    bool enabled;       /* between bodies, and of bodies with themselves */
    bool self;          /* of bodies with themselves */
    bool check;         /* a step that passes through a surface is not accepted */
    bool has_thickness; /* else 1 % of the mean edge of each body's surface */
    double thickness;   /* m, > 0: surfaces keep this distance; sheets at least their material's */
    double friction;    /* Coulomb coefficient where materials have none, >= 0 */
    double restitution; /* 0 .. 1 */
    int32_t pair_count;
    pl_contact_pair_settings *pairs;
} pl_contact_settings;

#endif
