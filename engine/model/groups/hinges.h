/* hinges.h - groups of bends over an interior edge of a triangle mesh:
 *
 *     U = k/2 (theta - theta0)^2
 *
 * with theta the dihedral angle, 0 where the sheet is flat, and theta0 the angle at rest (Grinspun 2003, Bridson
 * 2003). k = D |e|^2 / (A0 + A1) for a flexural rigidity D, N m, a shared edge e and the areas of its triangles, so
 * that small angles agree with quadratic bending.
 *
 * Bergou 2006 has 3 D instead, from a mean curvature that is piecewise on edges. In a sheet bent to a cylinder of
 * curvature c, only the edges along its axis turn, and 3 D sums to 3/2 D c^2 per area, on right-angled and on
 * equilateral triangles. With D the sum is the plate's D c^2 / 2. (A lattice of triangles has its own Poisson
 * effect of bending: where it is free to curl, a strip is softer by a tenth to a fifth.)
 *
 * Corners: the edge's two ends; the opposite corner in the triangle that runs along the edge from the first end to
 * the second; the other opposite corner. No reduction makes U simple, so there is no prox, and ADMM does not
 * support these groups. In the matrix, the quadratic bending of the rest shape replaces them: the same stencil and,
 * near rest, the same curvature.
 */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_HINGES_H
#define PLIANT_ENGINE_MODEL_GROUPS_HINGES_H

#include "engine/scene/fault.h"
#include "engine/model/group.h"

/* Input for a bend over an edge. */
typedef struct pl_hinge {
    int32_t corner[4];
    double stiffness; /* D, N m */
} pl_hinge;

/* `rest` is [vertices][3]. The matrix gets `weight` times the quadratic bending: pl_link_weight of 1. */
pl_status pl_hinges_create(const double *rest, const pl_hinge *hinges, int64_t count, double weight,
                           pl_group *out);

/* Bergou 2006: Q = D / (A0 + A1) K K^T (see above for the factor) with K the cotangent weights of the
 * four corners. Writes K; returns D / (A0 + A1), N/m. K^T x is |e| theta for small angles. */
double pl_quadratic_bend(const double *rest, const int32_t corner[4], double stiffness,
                         double K[4]);

/* The dihedral angle, -pi to pi, and its gradient by the corners' coordinates. */
double pl_dihedral(const double *x, const int32_t corner[4], double gradient[12]);

#endif
