/* neo_hookean_around.h - the sums of neo-Hookean tetrahedra around a vertex (local.h), from fewer numbers than F.
 *
 * Of the energy V (mu/2 |F|^2 - mu log J + lambda/2 (log J)^2) of a tetrahedron, as a function of the vertex x0 alone:
 * with the edges e_c = x_c - x0 to the other corners, positively oriented, and the shape functions' gradients g_c,
 *
 *     F = sum e_c g_c^T, so mu V/2 |F|^2 has the gradient sum l_c e_c and the Hessian -sum l_c times the identity,
 *     l_c = mu V g_0 . g_c
 *     6 V J = e_1 . n,   n = (e_2 - e_1) x (e_3 - e_1), which does not depend on x0
 *     a = d log J / dx0 = -n / (6 V J)
 *     p = dU / d log J of the rest = lambda V log J - mu V:   gradient p a, Hessian (lambda V - p) a a^T
 *
 * A move by d multiplies J by r = 1 + a . d, and so changes the rest by log r (p + lambda V / 2 log r).
 */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_NEO_HOOKEAN_AROUND_H
#define PLIANT_ENGINE_MODEL_GROUPS_NEO_HOOKEAN_AROUND_H

#include "engine/isa.h"
#include "engine/model/local.h"

#define PL_NEO_HOOKEAN_AROUND_(isa) pl_neo_hookean_around_##isa
#define PL_NEO_HOOKEAN_AROUND(isa)  PL_NEO_HOOKEAN_AROUND_(isa)

/* The numbers of a term, [block][PL_AROUND_ROWS][L], in group->data: l_1 to l_3, N/m; 1 / 6V, 1/m^3; mu V and
 * lambda V, J. All but 1 / 6V are 0 in padding. Corner 0 is the lane's vertex. */
enum {
    PL_AROUND_PULL,
    PL_AROUND_SCALE = 3,
    PL_AROUND_MU,
    PL_AROUND_LAMBDA,
    PL_AROUND_ROWS,
};

/* Rows that are kept: the derivatives of the quadratic part, of the whole pack; then a and p of each block. */
enum { PL_AROUND_KEPT_HEAD = 4, PL_AROUND_KEPT_ROWS = 4 };

/* Slots of pl_local_ops. */
pl_status pl_neo_hookean_around_copy(const pl_group *g, const pl_places *places, pl_group *out);
void pl_neo_hookean_around_release(pl_group *copy);

PL_ISA_DECLARE(const pl_local_ops, pl_neo_hookean_around);

#endif
