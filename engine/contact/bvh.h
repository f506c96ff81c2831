/* bvh.h - a linear bounding volume hierarchy over swept features: boxes in Morton order.
 *
 * Items (vertices, edges or triangles of a surface) are sorted by the Morton code of their middle, ties by index.
 * Eight neighbours in that order make a leaf, eight leaves a node, and so on. The tree is an array of levels
 * without pointers; its depth is log8 of the number of items, even if all of them lie in one point. A build sorts;
 * a refit keeps the order and only recomputes boxes.
 *
 * An item's box contains its corners at both ends of the move x0 -> x1, and so the whole straight move. It is
 * enlarged by half the reach on every side: two boxes overlap wherever the items can come within the reach of each
 * other. Boxes are in single precision relative to the scene's middle and rounded outwards, so they are never too
 * small. The tree and all its boxes are the same for any number of threads.
 */
#ifndef PLIANT_ENGINE_CONTACT_BVH_H
#define PLIANT_ENGINE_CONTACT_BVH_H

#include "engine/scene/fault.h"

#include <stdint.h>

enum { PL_BVH_WIDTH = 8, PL_BVH_LEVELS = 12 };

/* Boxes of the children of a node, or of the items of a leaf: [coordinate][child], m. An empty place has lo > hi. */
typedef struct pl_bvh_node {
    float lo[3][PL_BVH_WIDTH], hi[3][PL_BVH_WIDTH];
} __attribute__((aligned(64))) pl_bvh_node;

/* A move of the scene's vertices, [n][3] m each. x1 may be x0. */
typedef struct pl_contact_move {
    const double *x0, *x1;
    double reach;     /* m, >= 0 */
    double centre[3]; /* origin of the boxes; set, like `extent`, by pl_contact_move_bound */
    double extent;    /* largest distance of a vertex from the centre along an axis, m */
} pl_contact_move;

typedef struct pl_bvh {
    int32_t items, corners;
    const int32_t *corner; /* [items][corners], the scene's indices; owned by the caller */
    int32_t *order;        /* [items]: the item at each place; place p is in leaf p / 8 */
    int32_t levels;        /* 0 without items; level 0 holds the leaves, the last level one node */
    int32_t nodes[PL_BVH_LEVELS];
    pl_bvh_node *level[PL_BVH_LEVELS];
    double girth, girth_built; /* sum of the leaves' extents, m: now, and at the last build */
    struct pl_bvh_sort *sort;  /* scratch memory for a build */
} pl_bvh;

/* Creates a tree of items with 1 to 3 corners. PL_OK or PL_NO_MEMORY. The order is undefined until the first build. */
pl_status pl_bvh_create(int32_t items, int corners, const int32_t *corner, pl_bvh *out);
void pl_bvh_clear(pl_bvh *bvh);

/* Sets centre and extent from the positions of `count` vertices `vertex`. PL_FAILED if a position or the reach is
 * not finite or too large for a box (1e18 m); no tree may then be built or refitted. */
pl_status pl_contact_move_bound(pl_contact_move *move, const int32_t *vertex, int32_t count,
                                int threads);

/* Sorts the items by their current position and computes all boxes. PL_OK or PL_NO_MEMORY. */
pl_status pl_bvh_build(pl_bvh *bvh, const pl_contact_move *move, int threads);
/* Recomputes all boxes in the existing order. */
void pl_bvh_refit(pl_bvh *bvh, const pl_contact_move *move, int threads);

#endif
