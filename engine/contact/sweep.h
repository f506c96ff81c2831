/* sweep.h - continuous collision detection of a whole surface over a step: every pair of features that meets on the
 * way. */
#ifndef PLIANT_ENGINE_CONTACT_SWEEP_H
#define PLIANT_ENGINE_CONTACT_SWEEP_H

#include "engine/contact/ccd.h"
#include "engine/contact/filter.h"
#include "engine/contact/trees.h"

typedef struct pl_contact_impact {
    pl_contact_kind kind; /* vertex-triangle or edge-edge: these cover every other meeting */
    int32_t feature[2];   /* of the surface; of two edges the lower is first */
    bool capped;          /* undecided when the iterations ran out: counted as an impact */
    double time;          /* 0 to 1: before it, the pair keeps its least distance */
} pl_contact_impact;

typedef struct pl_contact_impacts {
    int64_t count;
    pl_contact_impact *impact; /* ordered by kind, then features */
    int64_t earliest;          /* index of the first impact with the least time, -1: none */
    int64_t work;              /* done, as pl_contact_work */
    bool crowded;              /* more work than limits->work: no impact is listed */
} pl_contact_impacts;

/* Finds the impacts of the straight move from x0 to x1 [n][3], m. Updates the trees, with a reach of least + slack.
 * The sweep misses no pair that comes closer than limits->least or, if it starts closer, than a quarter of its
 * distance (pl_ccd_find_close). Features with a common vertex form no pair. PL_OK; PL_FAILED: a position is not
 * finite (trees.h); PL_NO_MEMORY. On failure `out` is empty. limits->work bounds the time of any move. The caller
 * clears `out`. */
pl_status pl_contact_sweep(pl_contact_trees *trees, const double *x0, const double *x1,
                           const pl_ccd_limits *limits, const pl_contact_filter *filter,
                           int threads, pl_contact_impacts *out);
void pl_contact_impacts_clear(pl_contact_impacts *impacts);

#endif
