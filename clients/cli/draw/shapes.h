/* shapes.h - the triangles of an obstacle, from how the topology document describes it, to be
 * drawn. Rounded edges are drawn sharp, and a cylinder without ends a hundred radii long. */
#ifndef PLIANT_CLIENTS_CLI_DRAW_SHAPES_H
#define PLIANT_CLIENTS_CLI_DRAW_SHAPES_H

#include "clients/cli/draw/picture.h"
#include "protocol/text/json.h"

/* Fill o->triangles, o->corner and o->normal_at (malloc'ed) at time 0, and o->point with the point that
 * the obstacle turns about. PL_INVALID where the entry is of no kind that has triangles. */
pl_status pl_shape_triangles(const pl_json *entry, pl_picture_obstacle *o);

#endif
