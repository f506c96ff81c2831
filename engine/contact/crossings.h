/* crossings.h - where surfaces cross as they stand: an edge that goes through a triangle. */
#ifndef PLIANT_ENGINE_CONTACT_CROSSINGS_H
#define PLIANT_ENGINE_CONTACT_CROSSINGS_H

#include "engine/contact/filter.h"
#include "engine/contact/trees.h"

typedef struct pl_contact_crossing {
    int32_t edge, triangle; /* of the surface */
} pl_contact_crossing;

typedef struct pl_contact_crossings {
    int64_t count;
    pl_contact_crossing *crossing; /* ordered by edge, then triangle */
} pl_contact_crossings;

/* All of them, of triangles at positions x [n][3], m, and edges of the same body there too, of others at
 * x_others (the same array: also there). Both lie on the move that the trees were updated for. The ends of
 * an edge that crosses are on both sides of the triangle, neither within 1e-9 of the other's distance: features
 * that only touch do not cross, nor do those with a common vertex. The same list for any number of
 * threads. PL_OK or PL_NO_MEMORY; on failure `out` is empty. The caller clears `out`. */
pl_status pl_contact_crossings_find(const pl_contact_trees *trees, const double *x,
                                    const double *x_others, const pl_contact_filter *filter,
                                    int threads, pl_contact_crossings *out);
void pl_contact_crossings_clear(pl_contact_crossings *crossings);

#endif
