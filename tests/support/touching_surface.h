/* touching_surface.h - the surfaces of a run's bodies, sheets and ropes, to check that none cross; based on the meshes
 * alone, so that it does not depend on engine/contact. */
#ifndef PLIANT_TESTS_SUPPORT_TOUCHING_SURFACE_H
#define PLIANT_TESTS_SUPPORT_TOUCHING_SURFACE_H

#include "tests/support/scene_run.h"

typedef struct touching_surface {
    int32_t triangles, segments;
    int32_t *triangle, *segment; /* [][3], [][2]: the run's vertices */
} touching_surface;

touching_surface touching_surface_of(const pl_run *run);
void touching_surface_clear(touching_surface *surface);

/* How many edges go through triangles at the run's positions (contact_exact.h). */
int64_t touching_crossings(const touching_surface *surface, const pl_run *run);

/* The mean of a body's vertices by component c, of positions or velocities [][3]. */
double touching_mean(const pl_run *run, const double *values, int32_t body, int c);
/* The force of a body on a later one in the last frame, N; 0 where they do not touch. */
double touching_force(const pl_run *run, int32_t first, int32_t second, int c);

#endif
