/* drawn_obstacle.h - an obstacle as drawn: triangles of the topology document, or an infinite plane. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_DRAWN_OBSTACLE_H
#define PLIANT_CLIENTS_CLI_SESSION_DRAWN_OBSTACLE_H

#include "engine/scene/motion.h"
#include "protocol/text/json.h"

typedef struct pl_drawn_obstacle {
    int64_t vertices;
    float *positions;  /* [vertices][3] */
    int64_t triangles; /* 0: a plane */
    int32_t *triangle; /* [triangles][3], counter-clockwise from outside */
    float normal[3];   /* plane: unit */
    float point[3];    /* plane: a point on it; others: the centre of rotation of motions */
} pl_drawn_obstacle;

/* An obstacle at time 0, from `entry` of the document's "obstacles" and `surface` of its "obstacle_surfaces".
 * PL_INVALID if there is nothing to draw: bodies are kept inside, or the document has no triangles. */
pl_status pl_drawn_obstacle_read(const pl_json *entry, const pl_json *surface,
                                 pl_drawn_obstacle *out);
pl_status pl_drawn_obstacle_copy(const pl_drawn_obstacle *from, pl_drawn_obstacle *out);
/* Move `start` to its position at a time. `out` is a copy of it. */
void pl_drawn_obstacle_move(const pl_drawn_obstacle *start, const pl_motion *motion, double time,
                            pl_drawn_obstacle *out);
void pl_drawn_obstacle_clear(pl_drawn_obstacle *o);

#endif
