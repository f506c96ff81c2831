/* shape.h - the solid shapes of obstacles, by signed distance.
 *
 * A shape answers for any point: the distance to its surface, m, > 0 on the free side; the outward unit normal,
 * which is the distance's gradient; and on request the distance's Hessian, 1/m. All are exact, so p - distance
 * normal is the nearest point of the surface, and |distance| its distance from p. The distance is continuous
 * everywhere with slope at most 1. The normal jumps where two points of the surface are equally near (inside: on a
 * box's diagonals, at a sphere's centre); there, one of them is taken, always the same.
 *
 * Contacts keep vertices a margin away from the surface: functions named _held and _from return the distance less
 * the obstacle's margin. Metrics and drawings use the surface itself.
 *
 * With `inside`, the free side is the shape's inside: distance, normal and Hessian change sign, and a sphere is a
 * bowl.
 *
 * Coordinates are the obstacle's at time 0; the caller applies its motion (model/groups/contacts.h).
 */
#ifndef PLIANT_ENGINE_OBSTACLES_SHAPE_H
#define PLIANT_ENGINE_OBSTACLES_SHAPE_H

#include "engine/scene/fault.h"
#include "engine/scene/scene.h"

typedef struct pl_shape pl_shape;

/* Largest curvature of the surface at the margin, where it is convex towards bodies, 1/m. 0 for planes and convex
 * rooms. Edges, heightfields and meshes have 1 / margin, INFINITY without one. */
double pl_obstacle_curvature(const pl_obstacle *obstacle);

/* Keeps no reference to the obstacle. PL_OK or PL_NO_MEMORY. */
pl_status pl_shape_create(const pl_obstacle *obstacle, pl_shape **out);
void pl_shape_destroy(pl_shape *shape);

/* Signed distance of p, and the outward normal at the nearest point. */
double pl_shape_distance(const pl_shape *shape, const double p[3], double normal[3]);

/* The same less the obstacle's margin: < 0 where contacts push. */
double pl_shape_distance_held(const pl_shape *shape, const double p[3], double normal[3]);

/* An obstacle's motion with its centre of rotation: the middle of its shape if the motion names none. Its keyframes
 * are the obstacle's. */
pl_motion pl_obstacle_motion(const pl_obstacle *obstacle, const pl_shape *shape);

#endif
