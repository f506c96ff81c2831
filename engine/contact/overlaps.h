/* overlaps.h - bodies that are in one another as they stand. */
#ifndef PLIANT_ENGINE_CONTACT_OVERLAPS_H
#define PLIANT_ENGINE_CONTACT_OVERLAPS_H

#include "engine/contact/trees.h"

/* Marks [bodies][bodies], symmetric, of pairs for which it is 0: 1 where two bodies cross or one is inside
 * the other, on the diagonal where a body crosses itself, at positions x [n][3], m. Solids that only
 * touch do not overlap: their surfaces are drawn in by a thousandth of their mean edge first. Sheets and ropes
 * that touch each other do: which side they are on is unknown.
 * Updates the trees. PL_OK, PL_NO_MEMORY, or PL_FAILED (trees.h). */
pl_status pl_contact_overlaps_mark(pl_contact_trees *trees, const double *x, int32_t bodies,
                                   uint8_t *mark);

#endif
