/* solid.h - the triangles of a picture: the bodies' surfaces, edges as rods, and obstacles. Each corner has a normal,
 * smooth except across creases.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_SOLID_H
#define PLIANT_CLIENTS_CLI_DRAW_SOLID_H

#include "clients/cli/draw/vec.h"
#include "clients/cli/session/drawn_obstacle.h"

#include "engine/scene/fault.h"

enum { PL_SOLID_OBSTACLE = -1 };

/* The triangles, rods and obstacles of a picture. */
typedef struct pl_geometry {
    int64_t vertices;
    const float *positions; /* [vertices][3] */
    int64_t triangles;
    const int32_t *triangle; /* [triangles][3], outward */
    int64_t edges;
    const int32_t *edge; /* [edges][2], drawn as thin rods */
    const int32_t *body; /* [vertices] index of the body: its colour */
    const float *colour; /* [vertices][3] of a field, linear light; NULL: the bodies' own colours */
    int32_t obstacles;
    const pl_drawn_obstacle *obstacle;
} pl_geometry;

typedef struct pl_solid {
    int64_t triangles;
    int64_t body_triangles; /* they come first */
    pl_vec *corner;         /* [triangles][3] */
    pl_vec *normal;         /* [triangles][3] */
    pl_vec *colour;         /* [body_triangles][3] where the geometry has colours, else NULL */
    int32_t *body;          /* [triangles], or PL_SOLID_OBSTACLE */
} pl_solid;

pl_status pl_solid_create(const pl_geometry *geometry, pl_solid *out);
/* Append the edges as rods of PL_ROD_TRIANGLES triangles each. */
enum { PL_ROD_SIDES = 6, PL_ROD_TRIANGLES = 2 * PL_ROD_SIDES };
void pl_solid_add_rods(const pl_geometry *geometry, pl_solid *s);

void pl_solid_clear(pl_solid *s);

#endif
