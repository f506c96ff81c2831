/* clearance.h - how far features stay apart: what proves of later moves, without a search, that nothing is near. */
#ifndef PLIANT_ENGINE_CONTACT_CLEARANCE_H
#define PLIANT_ENGINE_CONTACT_CLEARANCE_H

#include "engine/contact/bodies.h"
#include "engine/contact/trees.h"

typedef struct pl_clearance {
    bool known;
    double *x;           /* [scene vertices][3], m: positions at which it was found */
    double self, others; /* m: pairs of one body, of two, that may touch are farther apart there */
    double *box;         /* [bodies][6], scratch */
    double *drift;       /* [bodies][2][4], scratch: mean displacement, m, and the most beyond it */
    int32_t *vertices;   /* [bodies]: of the surface */
} pl_clearance;

/* PL_OK or PL_NO_MEMORY; what was made is for pl_clearance_clear. */
pl_status pl_clearance_init(pl_clearance *clearance, const pl_contact_bodies *bodies);
void pl_clearance_clear(pl_clearance *clearance);

/* Look how far apart pairs stay over the move from x0 to x1 [n][3], m. It gives up, and is not known, once a pair
 * is not proved to stay farther apart than `reach`. PL_OK, PL_NO_MEMORY, or PL_FAILED for positions that are not
 * finite. */
pl_status pl_clearance_find(pl_clearance *clearance, const pl_contact_bodies *bodies,
                            pl_contact_trees *trees, const double *x0, const double *x1,
                            double reach, int threads);

/* Whether it proves that over the move from x0 to x1 all pairs that may touch stay farther apart than `reach`.
 * Features of one body come closer by no more than twice its farthest displacement beyond their mean. */
bool pl_clearance_covers(pl_clearance *clearance, const pl_contact_bodies *bodies, const double *x0,
                         const double *x1, double reach);

#endif
