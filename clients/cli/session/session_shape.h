/* session_shape.h - what there is of a session to draw and to name: its bodies' surfaces, and its obstacles
 * where their motions have brought them. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_SESSION_SHAPE_H
#define PLIANT_CLIENTS_CLI_SESSION_SESSION_SHAPE_H

#include "clients/cli/session/drawn_obstacle.h"
#include "clients/cli/session/session_source.h"
#include "protocol/export/shape.h"

/* Zero-initialise; everything is malloc'ed. */
typedef struct pl_session_shape {
    pl_shape mesh;
    int32_t obstacles;
    pl_drawn_obstacle *obstacle;        /* as they stand at `time` */
    struct pl_session_motions *motions; /* of the obstacles */
} pl_session_shape;

/* The session's shape at a time. A session recorded before obstacles had triangles keeps its planes; the
 * others are noted as missing. */
int pl_session_shape_read(pl_session_source *s, double time, pl_session_shape *out);
/* The scene that was posted; without bodies where this version cannot read it. */
const struct pl_scene *pl_session_shape_scene(const pl_session_shape *shape);
/* The tetrahedra as well. */
int pl_session_shape_read_tets(pl_session_source *s, pl_session_shape *shape);
/* The obstacles to where they stand at another time. */
void pl_session_shape_move(pl_session_shape *shape, double time);
void pl_session_shape_clear(pl_session_shape *shape);

#endif
