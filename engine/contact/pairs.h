/* pairs.h - what touches or nearly does: one pair a touch.
 *
 * Two surfaces near each other have many candidates for one touch: a vertex above a crease is near
 * both of its triangles, their common edge and the edges around. Each point of a surface therefore
 * has a feasible region, the points of space whose closest point on the surface nearby it is (offset
 * geometric contact, Chen et al. 2025):
 *   - of a triangle's inside the prism along its normal;
 *   - of an edge the wedge between the prisms of its triangles: the points that project inside the
 *     edge and outside of every triangle at it. A flat edge or a valley has none, a rope's edge all;
 *   - of a vertex the cone behind all of its edges: the points that project on each of them at the
 *     vertex.
 * A vertex pairs with the feature whose region it lies in, two edges pair where each lies in the
 * other's region. Regions do not overlap and are decided by the same numbers from every triangle
 * (closest.h), so that a touch is neither counted twice nor lost at a border.
 *
 * Edges whose closest points are at an end, or that are parallel, are no pair: the vertices at their
 * ends stand for them.
 */
#ifndef PLIANT_ENGINE_CONTACT_PAIRS_H
#define PLIANT_ENGINE_CONTACT_PAIRS_H

#include "engine/contact/filter.h"
#include "engine/contact/measure.h"
#include "engine/contact/trees.h"

typedef struct pl_contact_pairs {
    int64_t count;
    pl_contact_pair *pair; /* ordered by kind, then features */
} pl_contact_pairs;

typedef struct pl_contact_rules {
    double reach; /* m: pairs at most this far apart; at most the reach of the trees */
    /* How far, as the sine of an angle, the direction between two edges may leave their regions. 0
     * takes sharp edges alone and flat ones only within rounding; 1 all that cross. */
    double widen;
    const pl_contact_filter *filter; /* or NULL */
} pl_contact_rules;

/* The pairs at positions x [n][3], m, which lie on the move that the trees were updated for. The
 * same list for any number of threads, tree and instruction set. PL_OK or PL_NO_MEMORY; on failure
 * `out` is empty. The caller clears `out`. */
pl_status pl_contact_pairs_find(const pl_contact_trees *trees, const double *x,
                                const pl_contact_rules *rules, int threads, pl_contact_pairs *out);
void pl_contact_pairs_clear(pl_contact_pairs *pairs);

#endif
