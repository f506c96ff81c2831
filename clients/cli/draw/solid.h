/* solid.h - what the picture draws as triangles: the bodies' surfaces and the sphere obstacles,
 * corner by corner with normals that are smooth except across creases.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_SOLID_H
#define PLIANT_CLIENTS_CLI_DRAW_SOLID_H

#include "clients/cli/draw/picture.h"
#include "clients/cli/draw/vec.h"

enum { PL_SOLID_OBSTACLE = -1 };

typedef struct pl_solid {
    int64_t triangles;
    int64_t body_triangles; /* they come first */
    pl_vec *corner;         /* [triangles][3] */
    pl_vec *normal;         /* [triangles][3] */
    int32_t *body;          /* [triangles], or PL_SOLID_OBSTACLE */
} pl_solid;

pl_status pl_solid_create(const pl_picture *picture, pl_solid *out);
/* The picture's edges as rods of PL_ROD_TRIANGLES each, after the triangles that are there. */
enum { PL_ROD_SIDES = 6, PL_ROD_TRIANGLES = 2 * PL_ROD_SIDES };
void pl_solid_add_rods(const pl_picture *picture, pl_solid *s);

void pl_solid_clear(pl_solid *s);

#endif
