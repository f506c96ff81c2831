/* expectation.h - expectations about a run, and the quantities they test. */
#ifndef PLIANT_ENGINE_SCENE_EXPECTATION_H
#define PLIANT_ENGINE_SCENE_EXPECTATION_H

#include "engine/scene/selection.h"

#include <stdbool.h>
#include <stdint.h>

/* The quantity of an expectation. Quantities up to PL_QUANTITY_SPEED are of vertices, from the stored positions;
 * the others come from a frame's metrics. Vectors take a component. */
typedef enum pl_quantity {
    PL_QUANTITY_POSITION,     /* m */
    PL_QUANTITY_DISPLACEMENT, /* m, from frame 0 */
    PL_QUANTITY_VELOCITY,     /* m/s, over the time since the previous frame; 0 in frame 0 */
    PL_QUANTITY_REACTION,     /* N, exerted by a pin or an obstacle */
    PL_QUANTITY_LINEAR_MOMENTUM,
    PL_QUANTITY_ANGULAR_MOMENTUM,
    PL_QUANTITY_KINETIC,       /* J */
    PL_QUANTITY_ELASTIC,       /* J */
    PL_QUANTITY_ENERGY,        /* J: kinetic + elastic + gravity */
    PL_QUANTITY_ENERGY_DRIFT,  /* (energy - that of frame 0) / largest |kinetic| + |elastic| */
    PL_QUANTITY_INVERTED,      /* tetrahedra */
    PL_QUANTITY_CONTACTS,      /* pairs that carry force */
    PL_QUANTITY_MAX_STRETCH,   /* 1 */
    PL_QUANTITY_CONVERGED,     /* fraction of the frame's steps */
    PL_QUANTITY_ITERATIONS,    /* of the frame's steps */
    PL_QUANTITY_HALVED,        /* number of steps done as two half steps */
    PL_QUANTITY_OBJECTIVE,     /* J */
    PL_QUANTITY_GRADIENT_NORM, /* N */
    PL_QUANTITY_PENETRATION,   /* m, of the deepest vertex in an obstacle */
    PL_QUANTITY_CONTACT_PAIRS, /* of features of bodies that carry force */
    PL_QUANTITY_CONTACT_GAP,   /* m, the least distance of two such features */
    PL_QUANTITY_CONTACT_FORCE, /* N, of a body on another */
    PL_QUANTITY_FRICTION_WORK, /* J, dissipated by friction between bodies since the start */
    PL_QUANTITY_COUNT
} pl_quantity;

/* Statistic over the selected vertices. */
typedef enum pl_statistic {
    PL_STATISTIC_MEAN,
    PL_STATISTIC_MIN,
    PL_STATISTIC_MAX,
    PL_STATISTIC_RANGE, /* max - min */
} pl_statistic;
typedef enum pl_component {
    PL_COMPONENT_X,
    PL_COMPONENT_Y,
    PL_COMPONENT_Z,
    PL_COMPONENT_NORM
} pl_component;
/* Frames to test: one; or all frames in [from, to], at least one of them, or their mean. */
typedef enum pl_when {
    PL_WHEN_END,
    PL_WHEN_START,
    PL_WHEN_EVERY,
    PL_WHEN_SOME,
    PL_WHEN_MEAN,
    PL_WHEN_TIME
} pl_when;

/* An expectation of a run: min <= quantity <= max, or |quantity - equals| <= tolerance. Changes no bit of the run. */
typedef struct pl_expectation {
    char *name;
    pl_quantity quantity;
    pl_component component; /* with has_component; otherwise the norm */
    pl_statistic statistic; /* for vertices; with has_statistic, otherwise the mean */
    int32_t body;           /* with has_body; otherwise every body's vertices */
    pl_selection select;    /* with has_select; otherwise all of the body's */
    int32_t pin, obstacle;  /* for a reaction or penetration, with has_pin or has_obstacle */
    int32_t between[2];     /* bodies, with has_between: the force of the first on the second */
    pl_when when;
    double at;       /* s, with PL_WHEN_TIME: the frame nearest to it */
    double from, to; /* s */
    double min, max, equals, tolerance;
    bool has_component, has_statistic, has_body, has_select, has_pin, has_obstacle, has_between,
        has_from, has_to, has_min, has_max, has_equals, has_tolerance;
} pl_expectation;

#endif
