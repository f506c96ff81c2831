/* contact.h - a scene's settings of contact between bodies, and of a body with itself. */
#ifndef PLIANT_ENGINE_SCENE_CONTACT_H
#define PLIANT_ENGINE_SCENE_CONTACT_H

#include <stdbool.h>
#include <stdint.h>

/* Overrides of the scene's settings for two bodies, or for one body and itself. If several name the same bodies,
 * the last wins. */
typedef struct pl_contact_pair_settings {
    int32_t body[2]; /* the same body twice: contact with itself */
    bool enabled;
    bool has_friction; /* otherwise from their materials */
    double friction;   /* Coulomb coefficient, >= 0 */
    double restitution;
} pl_contact_pair_settings;

typedef struct pl_contact_settings {
    bool enabled;       /* enables contact between bodies, and of bodies with themselves */
    bool self;          /* of bodies with themselves */
    bool check;         /* reject steps that pass through a surface */
    bool has_thickness; /* otherwise 1 % of the mean edge of each body's surface */
    double thickness;   /* m, > 0: distance kept between surfaces; sheets: at least the
                           material's */
    double friction;    /* Coulomb coefficient where materials have none, >= 0 */
    double restitution; /* 0 .. 1 */
    int32_t pair_count;
    pl_contact_pair_settings *pairs;
} pl_contact_settings;

#endif
