/* bends.h - the bends of bodies, for their energies and their dissipation: over the interior edges of sheets, and
 * at the joints of rods.
 *
 *     q = sum_c G_c x_c,   U = k/2 (|q| - rest)^2,   curvature = |q| per_q
 *
 * with q = K^T x of Bergou's quadratic bending over an edge (hinges.h), or, at a joint, the change of the tangent,
 * t2 - t1. A bend that is a hinge has q = |e| (theta - theta0) instead, and rest = 0.
 */
#ifndef PLIANT_ENGINE_MODEL_BUILD_BENDS_H
#define PLIANT_ENGINE_MODEL_BUILD_BENDS_H

#include "engine/model/build/build.h"
#include "engine/model/build/elements.h"

typedef struct pl_bend {
    int32_t corners,
        corner[4];   /* 4 for an edge, in pl_hinge's order; 3 for a joint: it, and its two ends */
    double shape[4]; /* G */
    double k, rest;
    double rigidity; /* D, N m, or B, N m^2, of the element, from which k follows */
    double per_q;    /* 1 / (A0 + A1), 1/m^2, or 1 / l, 1/m: one over the area or length that has
                     this curvature */
    int64_t element; /* the first of its two elements */
} pl_bend;

/* Lists all bends of a kind of elements, triangles or edges, whose materials have `bending`, in a fixed order.
 * malloc'ed, the caller's. PL_OK or PL_NO_MEMORY. */
pl_status pl_bends(const pl_build *b, pl_element_kind kind, pl_bend **out, int64_t *count);

/* True if a bend of this material is a hinge. */
bool pl_bend_is_hinge(const pl_material *material, pl_element_kind kind);

/* The fibre of an element (Liu 2017, section 4.4): the coefficients `along` of F d = sum_c along_c x_c, with d
 * projected into the plane of a triangle, and the element's volume, m^3. False: it has no fibre. */
bool pl_fiber(const pl_build *b, pl_element_kind kind, int64_t element, double along[4],
              double *volume);

#endif
