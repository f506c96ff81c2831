/* set.h - the contacts of a scene over a step: its pairs, their multipliers, and a place where nothing intersects.
 *
 * A step begins at x_start, where no two surfaces cross. `safe` is a place reached from x_start by straight moves,
 * each of which was swept, so that surfaces never passed through each other on the way. A solver's iterates are
 * free. After a solve, `advance` sweeps from `safe` to its answer x:
 *   - Pairs that meet on the way become rows, with the normal at the moment they meet. `safe` follows x
 *     until just before the first meeting.
 *   - A search finds the pairs near each other at the new `safe`. Rows that carry force stay rows as long
 *     as they do, and are measured again; the others stay while they are near. Nothing crosses where pairs
 *     are measured, so each is on its right side.
 *   - Once x is reached, rows are measured at x and kept from then on, because normals that follow every
 *     answer cycle where sharp edges wedge. Rows are added as long as one is needed. A kept row whose pair
 *     is nonetheless too close at x, because its closest points have moved, is measured again. From the
 *     fourth time on, the set adds a further row of the pair instead and keeps the others: an answer that
 *     alternates between two places of the closest points is then held by a row at each. This is valid
 *     because any points of two features must be apart.
 * The step ends when its answer is reached and all gaps there are as wide as they must be. By then, the points of
 * rows may have moved sideways from their normals (askew). The forces then act in outdated directions, and a
 * sliding block loses speed to the vertices it passes. The set therefore measures the rows that push again at x, a
 * few times a step, as long as that helps.
 */
#ifndef PLIANT_ENGINE_CONTACT_SET_H
#define PLIANT_ENGINE_CONTACT_SET_H

#include "engine/contact/bodies.h"
#include "engine/contact/memory.h"
#include "engine/contact/rows.h"
#include "engine/contact/sweep.h"
#include "engine/scene/metrics.h"

typedef struct pl_contact_set pl_contact_set;

/* Result of `advance`. */
typedef struct pl_contact_advance {
    bool reached; /* `safe` is x */
    bool quiet;   /* no row has or had any force: x would be the same without rows */
    bool fits;    /* the kept rows stay: they are right at x, and no pair needs another */
    bool crowded; /* more pairs are near each other on the way than can be followed; `safe` stays */
    int64_t met;  /* number of pairs that meet on the way */
    pl_contact_impact first; /* the first pair that meets */
} pl_contact_advance;

/* compliance [n]: approximate displacement of a vertex under a unit force, m/N; 0 where it is held. compliance and
 * `bodies` must outlive the set. PL_OK or PL_NO_MEMORY; on failure *out is NULL. */
pl_status pl_contact_set_create(const pl_contact_bodies *bodies, const double *compliance,
                                int threads, pl_contact_set **out);
void pl_contact_set_set_threads(pl_contact_set *set, int threads);
void pl_contact_set_destroy(pl_contact_set *set);

/* Begins a step at x_start [n][3], m, where nothing crosses, that is expected to end near x_guess. Rows take over
 * the multipliers of the previous step. PL_OK, PL_NO_MEMORY, or PL_FAILED for positions that are not finite. */
pl_status pl_contact_set_begin(pl_contact_set *set, const double *x_start, const double *x_guess);

/* How rows change after a solve: */
typedef enum pl_contact_keeping {
    PL_CONTACT_MEASURED, /* all pairs near its answer, measured there */
    PL_CONTACT_KEPT,     /* the old rows, and new ones that are needed */
    PL_CONTACT_STRAIGHT  /* the same; askew rows are measured again once no new ones are needed */
} pl_contact_keeping;

/* Advances after a solve with the current rows, whose multipliers are the forces at x: see above. Returns as
 * `begin`. */
pl_status pl_contact_set_advance(pl_contact_set *set, const double *x, pl_contact_keeping keeping,
                                 pl_contact_advance *out);

/* The rows to solve with. The set owns them and keeps them until the next begin or advance. */
pl_contact_rows *pl_contact_set_rows(pl_contact_set *set);

/* Effect of the rows at the answer x of a step. */
typedef struct pl_contact_sums {
    int64_t active; /* number of rows that carry force */
    double
        gap; /* m, the least distance of two features that are near each other; INFINITY: none are */
    double taken;  /* J, dissipated by friction over the step */
    int32_t count; /* number of pairs of different bodies that touch */
    pl_body_force
        *forces; /* [count], ordered by bodies; the set's memory, until it is measured again */
} pl_contact_sums;
/* PL_OK or PL_NO_MEMORY. */
pl_status pl_contact_set_measure(pl_contact_set *set, const double *x, pl_contact_sums *out);

/* Saving and restoring (memory.h). */
/* Returns the number of saved pairs; `out` has room for them, or is NULL. */
int64_t pl_contact_set_save(const pl_contact_set *set, pl_contact_memory *out);
/* True if all `count` pairs belong to the surface, are in order, and are finite. */
bool pl_contact_set_accepts(const pl_contact_set *set, const pl_contact_memory *memory,
                            int64_t count);
/* Restores accepted pairs in place of the current rows, for the next `begin`. False: out of memory, and no rows are
 * left. */
bool pl_contact_set_restore(pl_contact_set *set, const pl_contact_memory *memory, int64_t count);

#endif
