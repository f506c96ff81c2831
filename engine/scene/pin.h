/* pin.h - constraints on vertices: pins and attachments. */
#ifndef PLIANT_ENGINE_SCENE_PIN_H
#define PLIANT_ENGINE_SCENE_PIN_H

#include "engine/scene/motion.h"
#include "engine/scene/selection.h"

#include <stdbool.h>
#include <stdint.h>

enum { PL_AXES_ALL = 7 };

/* Holds vertices at the places where the motion puts them; coordinates that are not among the axes stay free. */
typedef struct pl_pin {
    char *name; /* given, or "pin-K" */
    int32_t body;
    pl_selection select;
    int32_t axes; /* held coordinates: bit c is coordinate c */
    pl_motion motion;
} pl_pin;

/* k/2 |x - p|^2 for every selected vertex; p is a point of another body, of an obstacle's surface, or a place,
 * fixed or carried along by an obstacle. */
typedef struct pl_attachment {
    char *name; /* given, or "attachment-K" */
    int32_t body;
    pl_selection select;
    bool has_to;
    int32_t to; /* body, at its point nearest to the vertex at rest */
    bool has_obstacle;
    int32_t obstacle; /* at the point of its surface nearest to the vertex at rest, or at `point` */
    bool has_point;
    double point[3];  /* m, at time 0 */
    double stiffness; /* k, N/m */
} pl_attachment;

#endif
