/* set.h - the contacts of a scene over a step: which pairs there are, their multipliers, and a place
 * where nothing intersects.
 *
 * A step begins at x_start, where no two surfaces cross. `safe` is a place that was reached from there by
 * straight moves, each of which was swept: surfaces never passed through each other on the way. A solver's
 * iterates are free; after a solve, `advance` sweeps from `safe` to its answer x:
 *   - Pairs that meet on the way become rows, with the normal that they have when they meet; `safe`
 *     follows x up to short of the first meeting.
 *   - Pairs near each other at the new `safe` are looked for. Rows that carry force stay rows as long as
 *     they do, measured anew; others stay while they are near. Pairs
 *     are measured where nothing crosses, so each is on its right side.
 *   - Once x was reached, rows are as they are at x, and from then on they are kept: normals that follow every
 *     answer go in circles where sharp edges wedge. Rows are added as long as one is needed. A kept row whose
 *     pair is too close at x nonetheless, since its closest points have moved, is measured anew; the fourth time
 *     and later a further row of the pair is, and the others stay: answers that go to and fro between two places
 *     of the closest points are held by a row at each. Any points of two features must be apart.
 * The step has ended when its answer is reached and all gaps there are as wide as they must be. If the points of
 * rows have moved sideways from their normals by then (askew), the forces act in outdated directions, and a sliding
 * block loses speed to the vertices it passes. The set then measures the rows that push again at x, a few times a
 * step, while that helps.
 */
#ifndef PLIANT_ENGINE_CONTACT_SET_H
#define PLIANT_ENGINE_CONTACT_SET_H

#include "engine/contact/bodies.h"
#include "engine/contact/memory.h"
#include "engine/contact/rows.h"
#include "engine/contact/sweep.h"
#include "engine/scene/metrics.h"

typedef struct pl_contact_set pl_contact_set;

/* What `advance` has found. */
typedef struct pl_contact_advance {
    bool reached; /* `safe` is x */
    bool quiet;   /* no row has or had any force: without rows x would be the same */
    bool fits;    /* the rows that were kept stay: they are right at x, and no pair needs another */
    int64_t met;  /* pairs that meet on the way */
    pl_contact_impact first; /* of those that meet: the first */
} pl_contact_advance;

/* compliance [n]: how far a vertex gives way under a unit force, m/N, about; 0 where it is held. It and
 * `bodies` outlive the set. PL_OK or PL_NO_MEMORY; on failure *out is NULL. */
pl_status pl_contact_set_create(const pl_contact_bodies *bodies, const double *compliance,
                                int threads, pl_contact_set **out);
void pl_contact_set_set_threads(pl_contact_set *set, int threads);
void pl_contact_set_destroy(pl_contact_set *set);

/* A step begins at x_start [n][3], m, where nothing crosses, and is expected to end near x_guess. Rows have
 * the multipliers of the step before. PL_OK, PL_NO_MEMORY, or PL_FAILED for positions that are not
 * finite. */
pl_status pl_contact_set_begin(pl_contact_set *set, const double *x_start, const double *x_guess);

/* Rows after a solve: */
typedef enum pl_contact_keeping {
    PL_CONTACT_MEASURED, /* all pairs near its answer, measured there */
    PL_CONTACT_KEPT,     /* the old rows, and new ones that are needed */
    PL_CONTACT_STRAIGHT  /* the same; askew rows are measured again once no new ones are needed */
} pl_contact_keeping;

/* After a solve with the rows there are, whose multipliers are the forces at x: see above. Statuses as for
 * `begin`. */
pl_status pl_contact_set_advance(pl_contact_set *set, const double *x, pl_contact_keeping keeping,
                                 pl_contact_advance *out);

/* The rows to solve with, which the set owns and keeps until the next begin or advance. */
pl_contact_rows *pl_contact_set_rows(pl_contact_set *set);

/* What the rows do at the answer x of a step. */
typedef struct pl_contact_sums {
    int64_t active; /* rows that carry force */
    double
        gap; /* m, the least distance of two features that are near each other; INFINITY: none are */
    double taken;  /* J, by friction over the step */
    int32_t count; /* pairs of different bodies that touch */
    pl_body_force
        *forces; /* [count], ordered by bodies; the set's memory, until it is measured again */
} pl_contact_sums;
/* PL_OK or PL_NO_MEMORY. */
pl_status pl_contact_set_measure(pl_contact_set *set, const double *x, pl_contact_sums *out);

/* Saving and restoring (memory.h). */
/* How many there are; `out` [that many], or NULL. */
int64_t pl_contact_set_save(const pl_contact_set *set, pl_contact_memory *out);
/* Whether `count` of them are of pairs of the surface, in order and finite. */
bool pl_contact_set_accepts(const pl_contact_set *set, const pl_contact_memory *memory,
                            int64_t count);
/* Take them, which the set accepts, in place of what there is: for the next `begin`. False: no memory, and
 * there are none. */
bool pl_contact_set_restore(pl_contact_set *set, const pl_contact_memory *memory, int64_t count);

#endif
