/* crossings.h - crossings of surfaces at fixed positions: edges that pass through a triangle. */
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

/* Finds all crossings. Triangles are at positions x [n][3], m. Edges of the triangle's own body are at x too; edges
 * of other bodies are at x_others, which may be the same array. Both must lie on the move for which the trees were
 * updated. The ends of a crossing edge lie on opposite sides of the triangle, each farther from it than 1e-9 of the
 * other's distance: features that only touch do not cross, nor do features with a common vertex. The list is the
 * same for any number of threads. PL_OK or PL_NO_MEMORY; on failure `out` is empty. The caller clears `out`. */
pl_status pl_contact_crossings_find(const pl_contact_trees *trees, const double *x,
                                    const double *x_others, const pl_contact_filter *filter,
                                    int threads, pl_contact_crossings *out);
void pl_contact_crossings_clear(pl_contact_crossings *crossings);

#endif
