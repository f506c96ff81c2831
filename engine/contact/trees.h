/* trees.h - the hierarchies of a surface: one each for vertices, edges, triangles and ropes' edges. */
#ifndef PLIANT_ENGINE_CONTACT_TREES_H
#define PLIANT_ENGINE_CONTACT_TREES_H

#include "engine/contact/bvh.h"
#include "engine/contact/surface.h"

#include <stdbool.h>

typedef struct pl_contact_trees {
    const pl_contact_surface *surface; /* the caller's, outlives the trees */
    pl_bvh vertices, edges, triangles;
    pl_bvh ropes; /* item i is edge surface->rope[i] */
    int32_t *rope_corner;
    bool built;
    int64_t builds, refits; /* number of builds and of refits */
} pl_contact_trees;

/* PL_OK or PL_NO_MEMORY; on failure *out is NULL. */
pl_status pl_contact_trees_create(const pl_contact_surface *surface, pl_contact_trees **out);
void pl_contact_trees_destroy(pl_contact_trees *trees);

/* Computes boxes for a move of the scene's vertices from x0 to x1 [n][3], m; for no move, pass the same array
 * twice. A search then finds all pairs of features that come within `reach` of each other. The trees are built the
 * first time, and again once their leaves have grown by half since the last build; otherwise they are refitted.
 * PL_FAILED: a surface vertex or the reach is not finite, or larger than 1e18. PL_NO_MEMORY. After either failure,
 * the trees must be updated before they are searched. */
pl_status pl_contact_trees_update(pl_contact_trees *trees, const double *x0, const double *x1,
                                  double reach, int threads);

#endif
