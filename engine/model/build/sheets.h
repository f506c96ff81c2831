/* sheets.h - geometry and constants shared by the builders of sheets, rods and links. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_SHEETS_H
#define PLIANT_ENGINE_MODEL_BUILD_SHEETS_H

#include "engine/model/materials.h"
#include "engine/model/groups/terms.h"
#include "engine/scene/scene.h"

/* G [3][2] of a triangle: F = sum_c x_c G_c, 3x2, in the plane's frame whose first axis is `direction` projected
 * into the plane (or, if that is across the plane, the axis after it). */
void pl_triangle_shape(const double *rest, const int32_t corner[3], const double direction[3],
                       double shape[6]);
/* G [4][3] of a tetrahedron, F in the axes of rest. */
void pl_tet_shape(const double *rest, const int32_t corner[4], double shape[12]);

/* |sum_c shape_c x_c|; 0 if that is only rounding. */
double pl_link_length(const double *x, const int32_t *corner, const double *shape, int32_t corners);

/* w^2 of a soft link: its k times weight_scale / 2, with which ADMM at 2 weighs as projective dynamics does. For
 * projective dynamics, and with `fit`, k itself: the best fit of a spring is its k. */
double pl_link_weight(const pl_solver_settings *settings, double k);

/* Flexural rigidity of a sheet, N m: as given, or E t^3 / (12 (1 - nu^2)); `linear` is the material's. */
double pl_plate_stiffness(const pl_material *material, pl_linear_constants linear);
/* Flexural rigidity of a rod, N m^2: as given, or E A^2 / (4 pi) for a round one. */
double pl_rod_stiffness(const pl_material *material, pl_linear_constants linear);

/* An edge that two triangles share: its ends, and the two corners opposite. */
typedef struct pl_interior_edge {
    int32_t corner[4];
    int64_t triangle[2];
} pl_interior_edge;

/* Lists all of them, ordered by their ends; edges of three or more triangles are excluded. malloc'ed. */
pl_status pl_interior_edges(const int32_t *triangles, int64_t count, pl_interior_edge **out,
                            int64_t *found);

#endif
