/* overlaps.h - bodies that are in one another as they stand. */
#ifndef PLIANT_ENGINE_CONTACT_OVERLAPS_H
#define PLIANT_ENGINE_CONTACT_OVERLAPS_H

#include "engine/contact/trees.h"

/* Marks [bodies][bodies], symmetric, of pairs for which it is 0: 1 where two bodies cross or one is inside
 * the other, on the diagonal where a body crosses itself, at positions x [n][3], m. Bodies that only
 * touch do not overlap: surfaces of solids are drawn in by a thousandth of their mean edge first.
 * Updates the trees. PL_OK, PL_NO_MEMORY, or PL_FAILED (trees.h). */
pl_status pl_contact_overlaps_mark(pl_contact_trees *trees, const double *x, int32_t bodies,
                                   uint8_t *mark);

#endif
