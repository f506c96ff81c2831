/* force.h - forces on bodies, other than gravity and contact. */
#ifndef PLIANT_ENGINE_SCENE_FORCE_H
#define PLIANT_ENGINE_SCENE_FORCE_H

#include "engine/scene/selection.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_load_kind { PL_LOAD_WIND, PL_LOAD_POINT, PL_LOAD_PRESSURE } pl_load_kind;

/* A force on bodies, in steps that start at or after `from` and before `until`. */
typedef struct pl_scene_force {
    char *name; /* given, or "force-K" */
    pl_load_kind kind;
    double from; /* s */
    bool has_until;
    double until;  /* s */
    bool has_body; /* wind: otherwise on all bodies */
    int32_t body;
    double velocity[3]; /* wind: of the air, m/s */
    double density;     /* wind: of the air, kg/m^3 */
    double drag;        /* wind: coefficient, 1 */
    pl_selection select;
    double force[3]; /* point, N: of the selection, or of each of its vertices */
    bool each;
    double pressure; /* Pa, inside minus outside */
} pl_scene_force;

#endif
