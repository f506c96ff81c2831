/* ccd.h - continuous collision detection of two features that move straight from x0 to x1.
 *
 * Conservative advancement in the manner of additive CCD (Li et al. 2021, "Codimensional IPC", section 5.2): from a
 * time t, the features advance by a time in which they cannot meet, until they are close or the move ends. A plane
 * bounds that time, instead of speeds alone. Let r_i be the differences of a corner of the first feature and one of
 * the second, and n the direction between their closest points at t. The features are at least
 *
 *     min_i n . r_i(t')
 *
 * apart at every t'. Each n . r_i is linear in t', so the plane proves separation until the first of them falls to
 * the least distance. This step is never shorter than additive CCD's, distance over largest speed, and it passes
 * sliding pairs in one step. The proof holds for any n, so errors of the closest points cost iterations but never
 * miss an impact. The rounding error of n . r_i is bounded and subtracted (outward rounding).
 */
#ifndef PLIANT_ENGINE_CONTACT_CCD_H
#define PLIANT_ENGINE_CONTACT_CCD_H

#include "engine/contact/kind.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_ccd_limits {
    double least;   /* m, >= 0: features stay farther apart than this until the time of impact */
    double slack;   /* m, > 0, absolute: closer than least + slack counts as an impact */
    int iterations; /* > 0: maximum number of steps for a pair */
    int64_t work;   /* of a whole sweep: maximum, as pl_contact_work; 0: unbounded */
} pl_ccd_limits;

typedef struct pl_ccd_impact {
    bool hit;    /* false: the features stay farther apart than `least` over the whole move */
    bool capped; /* the iterations ran out: this may not be a real hit */
    double time; /* 0 to 1: before it, the features stay beyond `least`; 1 without a hit */
    int iterations;
} pl_ccd_impact;

/* Corners as pl_contact_kind orders them, double[3] each, m. The motion is x0 + t (x1 - x0). A pair that starts no
 * farther apart than `least` is a hit at time 0; so is a pair with a NaN. */
pl_ccd_impact pl_ccd_find(pl_contact_kind kind, const double *const x0[4],
                          const double *const x1[4], const pl_ccd_limits *limits);

/* A lower bound of the features' distance over the move, m. At most 0 if none can be proved. */
double pl_ccd_apart(pl_contact_kind kind, const double *const x0[4], const double *const x1[4]);

/* As pl_ccd_find, for a pair that may start closer than `least`: such a pair must keep a quarter of its distance. A
 * pair that touches at the start, to rounding, is a hit at time 0, unless a plane separates its features over the
 * whole move and the plane's normal, from the second feature to the first, is within 90 degrees of `facing`. The
 * last condition applies only if `facing` is not 0: solids may touch only with their outsides. */
pl_ccd_impact pl_ccd_find_close(pl_contact_kind kind, const double *const x0[4],
                                const double *const x1[4], const pl_ccd_limits *limits,
                                const double facing[3]);

#endif
