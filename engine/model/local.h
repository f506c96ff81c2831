/* local.h - the terms around one vertex at a time, for methods that minimise over vertices in turn (Chen, Liu, Zhang,
 * Yuan 2024, "Vertex block descent").
 *
 * Vertices without a common term are independent, so PL_BLOCK of them are treated at once, one in each lane. A copy
 * of a group has each of its terms once for each corner that is minimised over, in the lane of that corner's vertex.
 * A block of the copy thus has terms of as many vertices as lanes, and sums over the terms of a vertex are sums over
 * blocks, lane by lane.
 */
#ifndef PLIANT_ENGINE_MODEL_LOCAL_H
#define PLIANT_ENGINE_MODEL_LOCAL_H

#include "engine/model/group.h"
#include "engine/scene/fault.h"

/* Rows of sums around a vertex: its energy, J; the gradient, N; and the lower triangle of the Hessian by rows, N/m.
 */
enum { PL_LOCAL_ENERGY, PL_LOCAL_GRADIENT, PL_LOCAL_HESSIAN = 4, PL_LOCAL_ROWS = 10 };

/* Places of terms in a copy. */
typedef struct pl_places {
    int64_t blocks;
    int64_t
        *term; /* [block][L]: a term of the original; ~term: padding, a copy of it without energy */
    double *own; /* [block][L]: the corner of the lane's vertex, 0 to corners - 1 */
} pl_places;

/* A group has `energy` and `expand`, or, where `expand` is NULL, `keep` and `change`. */
typedef struct pl_local_ops {
    /* A copy of a group's numbers, for the functions below only. It shares what all terms share, so the original must
     * outlive it. PL_OK or PL_NO_MEMORY. */
    pl_status (*copy)(const pl_group *g, const pl_places *places, pl_group *out);
    /* Copies what the original has frozen at a stage's start to the blocks [b0, b1). NULL: nothing is frozen. */
    void (*refreeze)(const pl_group *g, const pl_places *places, pl_group *copy, int64_t b0,
                     int64_t b1);
    void (*release)(pl_group *copy);
    /* energy[L] += the energies of the terms in the blocks [b0, b1), lane by lane; +inf outside the domain. */
    void (*energy)(const pl_group *copy, const double *x, double *energy, int64_t b0, int64_t b1);
    /* sums[PL_LOCAL_ROWS][L] += energies, and their derivatives by the position of each lane's corner, own
     * [block][L]. Where the energy is infinite, the derivatives are undefined. */
    void (*expand)(const pl_group *copy, const double *x, const double *own, double *sums,
                   int64_t b0, int64_t b1);
    /* The same for all blocks of one pack, with the scale of the rounding of `change`, J, in place of the energies.
     * Keeps what `change` needs in kept [kept_head + kept_rows (b1 - b0)][L]. The energies must be finite. */
    void (*keep)(const pl_group *copy, const double *x, double *sums, double *kept, int64_t b0,
                 int64_t b1);
    /* change[L] += how the energies change if the lanes' corners move by by[3][L], each alone; +inf if that leaves the
     * domain. */
    void (*change)(const pl_group *copy, const double *kept, const double *by, double *change,
                   int64_t b0, int64_t b1);
    int32_t kept_head, kept_rows;
} pl_local_ops;

/* The numbers from[block][rows][L] of the places' terms, as new memory of the same layout, of the caller. NULL if out
 * of memory. */
double *pl_local_copy_rows(const double *from, int32_t rows, const pl_places *places);
int32_t *pl_local_copy_corners(const int32_t *from, int32_t rows, const pl_places *places);
/* The same into existing memory, for the blocks [b0, b1). */
void pl_local_fill_rows(const double *from, int32_t rows, const pl_places *places, double *to,
                        int64_t b0, int64_t b1);
/* Zeroes row 0 of padding. */
void pl_local_clear_padding(const pl_places *places, int32_t rows, double *to);

#endif
