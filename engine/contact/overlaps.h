/* overlaps.h - bodies that overlap at fixed positions. */
#ifndef PLIANT_ENGINE_CONTACT_OVERLAPS_H
#define PLIANT_ENGINE_CONTACT_OVERLAPS_H

#include "engine/contact/trees.h"

/* Marks overlaps at positions x [n][3], m, in the symmetric table [bodies][bodies]: entries that are 0 become 1
 * where two bodies cross or one is inside the other, and on the diagonal where a body crosses itself. Solids that
 * only touch do not overlap, because their surfaces are first shrunk by a thousandth of their mean edge. Sheets and
 * ropes that touch each other do overlap, because their side is unknown. Updates the trees. PL_OK, PL_NO_MEMORY, or
 * PL_FAILED (trees.h). */
pl_status pl_contact_overlaps_mark(pl_contact_trees *trees, const double *x, int32_t bodies,
                                   uint8_t *mark);

#endif
