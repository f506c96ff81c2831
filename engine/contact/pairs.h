/* pairs.h - pairs of features that touch or nearly touch: one pair for each touch.
 *
 * Two surfaces near each other have many candidates for one touch: a vertex above a crease is near both of its
 * triangles, their common edge and the edges around. So each feature of a surface has a feasible region: the points
 * of space whose closest point on the surface nearby lies on the feature (offset geometric contact, Chen et al.
 * 2025):
 *   - for the inside of a triangle, the prism along its normal;
 *   - for an edge, the wedge between the prisms of its triangles: the points that project inside the
 *     edge and outside of every triangle at it. A flat edge or a valley has none, a rope's edge all;
 *   - for a vertex, the cone behind all of its edges: the points that project onto each of them at the
 *     vertex.
 * A vertex pairs with the feature in whose region it lies. Two edges pair if each lies in the other's region.
 * Regions do not overlap, and every triangle decides them by the same numbers (closest.h), so a touch is neither
 * counted twice nor lost at a border.
 *
 * Edges whose closest points are at an end, or that are parallel, form no pair: the vertices at their ends take
 * their place.
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
    double reach; /* m: largest distance of a pair; at most the reach of the trees */
    /* How far, as the sine of an angle, the direction between two edges may leave their regions. 0 accepts only
     * sharp edges, and flat ones within rounding; 1 accepts all that cross. */
    double widen;
    const pl_contact_filter *filter; /* or NULL */
} pl_contact_rules;

/* Finds the pairs at positions x [n][3], m, which must lie on the move for which the trees were updated. The list
 * is the same for any number of threads, tree and instruction set. PL_OK or PL_NO_MEMORY; on failure `out` is
 * empty. The caller clears `out`. */
pl_status pl_contact_pairs_find(const pl_contact_trees *trees, const double *x,
                                const pl_contact_rules *rules, int threads, pl_contact_pairs *out);
void pl_contact_pairs_clear(pl_contact_pairs *pairs);

#endif
