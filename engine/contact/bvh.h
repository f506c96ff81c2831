/* bvh.h - a linear bounding volume hierarchy over swept features: boxes in Morton order.
 *
 * Items (vertices, edges or triangles of a surface) are sorted by the Morton code of their middle,
 * ties by index. Eight neighbours in that order make a leaf, eight leaves a node, and so on: the
 * tree is an array of levels without pointers, whose depth is log8 of the items even if all of them
 * lie in one point. A build sorts, a refit keeps the order and only computes boxes.
 *
 * An item's box contains its corners at both ends of the move x0 -> x1, and therefore all of a
 * straight move, enlarged by half the reach on every side: two boxes overlap wherever the items can
 * come within the reach. Boxes are in single precision relative to the scene's middle, rounded
 * outwards, so they only ever err by being too large. The tree and all its boxes are the same for
 * any number of threads.
 */
#ifndef PLIANT_ENGINE_CONTACT_BVH_H
#define PLIANT_ENGINE_CONTACT_BVH_H

#include "engine/scene/fault.h"

#include <stdint.h>

enum { PL_BVH_WIDTH = 8, PL_BVH_LEVELS = 12 };

/* Boxes of the children of a node, or of the items of a leaf: [coordinate][child], m. A place
 * without a child has lo > hi. */
typedef struct pl_bvh_node {
    float lo[3][PL_BVH_WIDTH], hi[3][PL_BVH_WIDTH];
} __attribute__((aligned(64))) pl_bvh_node;

/* A move of the scene's vertices, [n][3] m each. x1 may be x0. */
typedef struct pl_contact_move {
    const double *x0, *x1;
    double reach;     /* m, >= 0 */
    double centre[3]; /* what boxes are relative to; pl_contact_move_bound sets both */
    double extent;    /* largest distance of a vertex from the centre along an axis, m */
} pl_contact_move;

typedef struct pl_bvh {
    int32_t items, corners;
    const int32_t *corner; /* [items][corners], the scene's indices; the caller's, kept */
    int32_t *order;        /* [items]: the item at each place; place p is in leaf p / 8 */
    int32_t levels;        /* 0 without items; level 0 has the leaves, the last one node */
    int32_t nodes[PL_BVH_LEVELS];
    pl_bvh_node *level[PL_BVH_LEVELS];
    double girth, girth_built; /* sum of the leaves' extents, m: now and when last built */
    struct pl_bvh_sort *sort;  /* what a build needs */
} pl_bvh;

/* Of items with 1 to 3 corners. PL_OK or PL_NO_MEMORY; the order is not set before a build. */
pl_status pl_bvh_create(int32_t items, int corners, const int32_t *corner, pl_bvh *out);
void pl_bvh_clear(pl_bvh *bvh);

/* Set centre and extent from the positions of `count` vertices `vertex`. PL_FAILED if a position or
 * the reach is not finite or too large for a box (1e18 m): no tree may be built or refitted then. */
pl_status pl_contact_move_bound(pl_contact_move *move, const int32_t *vertex, int32_t count,
                                int threads);

/* Sort the items by where they are now and compute all boxes. PL_OK or PL_NO_MEMORY. */
pl_status pl_bvh_build(pl_bvh *bvh, const pl_contact_move *move, int threads);
/* Compute all boxes in the order there is. */
void pl_bvh_refit(pl_bvh *bvh, const pl_contact_move *move, int threads);

#endif
