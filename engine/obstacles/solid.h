/* solid.h - the closed triangle meshes of obstacles given by vertices or by heights. */
#ifndef PLIANT_ENGINE_OBSTACLES_SOLID_H
#define PLIANT_ENGINE_OBSTACLES_SOLID_H

#include "engine/obstacles/closed_mesh.h"
#include "engine/scene/scene.h"

#include <stdbool.h>

/* Vertices [vertex_count][3] and triangles [triangle_count][3], malloc'ed. */
typedef struct pl_solid_arrays {
    int64_t vertex_count, triangle_count;
    double *vertex;
    int64_t *triangle;
} pl_solid_arrays;

/* True if an obstacle is one of these. */
bool pl_obstacle_is_solid(const pl_obstacle *obstacle);

/* Its number of triangles; 0 for a shape with a formula. */
int64_t pl_obstacle_triangles(const pl_obstacle *obstacle);

/* A mesh placed by its transform; or a heightfield about its own centre, not yet rotated: two triangles per cell,
 * walls down to a flat bottom. PL_OK or PL_NO_MEMORY. */
pl_status pl_solid_arrays_create(const pl_obstacle *obstacle, pl_solid_arrays *out);
void pl_solid_arrays_clear(pl_solid_arrays *arrays);

/* Allocates empty arrays of a given capacity, and appends to them. PL_OK or PL_NO_MEMORY. */
pl_status pl_solid_arrays_reserve(int64_t vertices, int64_t triangles, pl_solid_arrays *out);
void pl_solid_put_vertex(pl_solid_arrays *arrays, double x, double y, double z);
void pl_solid_put_triangle(pl_solid_arrays *arrays, int64_t i, int64_t j, int64_t k);

#endif
