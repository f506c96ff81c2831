/* clearance.h - a record of how far features stay apart. It proves that later moves keep clear, without a search. */
#ifndef PLIANT_ENGINE_CONTACT_CLEARANCE_H
#define PLIANT_ENGINE_CONTACT_CLEARANCE_H

#include "engine/contact/bodies.h"
#include "engine/contact/trees.h"

typedef struct pl_clearance {
    bool known;
    double *x;           /* [scene vertices][3], m: positions at which the clearance was found */
    double self, others; /* m: least distance, at those positions, of pairs of one body and of
                            pairs of two bodies that may touch */
    double *box;         /* [bodies][6], scratch */
    double *drift;       /* [bodies][2][4], scratch: mean displacement, m, and largest deviation */
    int32_t *vertices;   /* [bodies]: of each body on the surface */
} pl_clearance;

/* PL_OK or PL_NO_MEMORY. In either case pl_clearance_clear releases the memory. */
pl_status pl_clearance_init(pl_clearance *clearance, const pl_contact_bodies *bodies);
void pl_clearance_clear(pl_clearance *clearance);

/* Finds how far apart pairs stay over the move from x0 to x1 [n][3], m. The search stops, and leaves the clearance
 * unknown, at the first pair that is not proved to stay farther apart than `reach`. PL_OK, PL_NO_MEMORY, or
 * PL_FAILED for positions that are not finite. */
pl_status pl_clearance_find(pl_clearance *clearance, const pl_contact_bodies *bodies,
                            pl_contact_trees *trees, const double *x0, const double *x1,
                            double reach, int threads);

/* True if the record proves that all pairs that may touch stay farther apart than `reach` over the move from x0 to
 * x1. Two features of one body approach by at most twice the body's largest deviation from its mean displacement. */
bool pl_clearance_covers(pl_clearance *clearance, const pl_contact_bodies *bodies, const double *x0,
                         const double *x1, double reach);

#endif
