/* triangulate.h - the surface of any obstacle as triangles, for drawing.
 *
 * Every vertex lies on the surface that shape.h measures, at time 0; only the flat triangles between the vertices
 * deviate from a curved surface. A circle has 64 sides, a quarter of a profile 12, so the largest gap is 0.2 % of
 * the radius of curvature.
 *
 * Vertices are shared where the surface is smooth and repeated along its edges. So a client that averages the
 * normals of the triangles at a vertex shades a sphere smoothly and a box flat. A mesh keeps its own vertices.
 */
#ifndef PLIANT_ENGINE_OBSTACLES_TRIANGULATE_H
#define PLIANT_ENGINE_OBSTACLES_TRIANGULATE_H

#include "engine/obstacles/solid.h"

/* Triangles are counter-clockwise as seen from outside the solid, even if bodies stay inside it. Infinite shapes
 * are cut: a plane is a square of side `size`, m, about its point nearest to `around`; a cylinder without height is
 * 100 radii long. Of a heightfield, only the top is drawn. PL_OK or PL_NO_MEMORY; release with
 * pl_solid_arrays_clear(). */
pl_status pl_obstacle_surface_create(const pl_obstacle *obstacle, const double around[3],
                                     double size, pl_solid_arrays *out);

#endif
