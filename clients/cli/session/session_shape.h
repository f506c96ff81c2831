/* session_shape.h - the drawable parts of a session and their names: its bodies' surfaces, and its obstacles at their
 * positions at a given time. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_SESSION_SHAPE_H
#define PLIANT_CLIENTS_CLI_SESSION_SESSION_SHAPE_H

#include "clients/cli/session/drawn_obstacle.h"
#include "clients/cli/session/session_source.h"
#include "protocol/export/shape.h"

/* Zero-initialise; everything is malloc'ed. */
typedef struct pl_session_shape {
    pl_shape mesh;
    int32_t obstacles;
    pl_drawn_obstacle *obstacle;        /* at `time` */
    struct pl_session_motions *motions; /* of the obstacles */
} pl_session_shape;

/* The session's shape at a time. A session recorded before obstacles had triangles keeps its planes; its other
 * obstacles are reported as missing. */
int pl_session_shape_read(pl_session_source *s, double time, pl_session_shape *out);
/* The scene that was posted; without bodies if this version cannot read it. */
const struct pl_scene *pl_session_shape_scene(const pl_session_shape *shape);
/* Read the tetrahedra as well. */
int pl_session_shape_read_tets(pl_session_source *s, pl_session_shape *shape);
/* Move the obstacles to another time. */
void pl_session_shape_move(pl_session_shape *shape, double time);
void pl_session_shape_clear(pl_session_shape *shape);

#endif
