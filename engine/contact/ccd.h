/* ccd.h - continuous collision detection of two features that move straight from x0 to x1.
 *
 * Conservative advancement in the manner of additive CCD (Li et al. 2021, "Codimensional IPC",
 * section 5.2): from a time t the features are advanced by a time in which they cannot meet, until
 * they are close or the move ends. The time is bounded by a plane instead of by speeds alone. Let r_i
 * be the differences of a corner of the first feature and one of the second, and n the direction of
 * their closest points at t. The features are at least
 *
 *     min_i n . r_i(t')
 *
 * apart at every t', and each n . r_i is linear in t', so the plane proves separation until the first
 * of them falls to the least distance. That is never less than additive CCD's step, distance over
 * largest speed; it passes sliding pairs in one step, and the proof holds for any n, so that errors
 * of the closest points cost iterations, but never a miss. The rounding of n . r_i is bounded and
 * taken off (outward rounding).
 */
#ifndef PLIANT_ENGINE_CONTACT_CCD_H
#define PLIANT_ENGINE_CONTACT_CCD_H

#include "engine/contact/kind.h"

#include <stdbool.h>

typedef struct pl_ccd_limits {
    double least;   /* m, >= 0: features stay farther apart than this until the time of impact */
    double slack;   /* m, > 0, absolute: closer than least + slack counts as an impact */
    int iterations; /* > 0: the most steps of a pair */
} pl_ccd_limits;

typedef struct pl_ccd_impact {
    bool hit;    /* false: farther apart than `least` for all of the move */
    bool capped; /* the iterations ran out: a hit that may not be one */
    double time; /* 0 to 1: farther apart than `least` before it; 1 without a hit */
    int iterations;
} pl_ccd_impact;

/* Corners as pl_contact_kind orders them, double[3] each, m. The motion is x0 + t (x1 - x0). A pair
 * that is not farther apart than `least` at the start is a hit at time 0, as is one of NaN. */
pl_ccd_impact pl_ccd_find(pl_contact_kind kind, const double *const x0[4],
                          const double *const x1[4], const pl_ccd_limits *limits);

/* A lower bound, m, of the features' distance over the move. At most 0 if none is proved. */
double pl_ccd_apart(pl_contact_kind kind, const double *const x0[4], const double *const x1[4]);

/* As pl_ccd_find, for a pair that may start closer than `least`: it then keeps a quarter of its distance
 * instead. One that touches at the start, to rounding, is a hit at time 0 unless a plane separates its
 * features for all of the move, and its normal, from the second to the first, is within 90 degrees of
 * `facing`, where that is not 0: solids may touch with their outsides alone. */
pl_ccd_impact pl_ccd_find_close(pl_contact_kind kind, const double *const x0[4],
                                const double *const x1[4], const pl_ccd_limits *limits,
                                const double facing[3]);

#endif
