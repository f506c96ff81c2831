/* multigrid.h - algebraic multigrid for a sparse symmetric positive definite matrix A, with three right-hand sides:
 * in place of a factor (linear.h), whose memory and time grow as n^(4/3) and n^2.
 *
 * Smoothed aggregation (Vanek, Mandel, Brezina 1996; aggregate.h) makes the levels: A_0 = A, A_(l+1) = P^T A_l P. The
 * coarsest, of a thousand rows or fewer, has a factor. One V-cycle M is
 *
 *     x <- S b,   x <- x + P M_(l+1) P^T (b - A x),   x <- x + S (b - A x)
 *
 * with S two steps of Chebyshev's iteration of the fourth kind in D^-1 A (Lottes 2022), for which a bound of the
 * spectrum from above suffices. S is symmetric in the inner product of A, so M is a fixed symmetric positive
 * definite matrix, and no eigenvalue of M A exceeds 1. The least one is measured when the levels are made.
 *
 * Two solves are built on M:
 *   - `apply`: the polynomial of M A that Chebyshev's iteration from 0 makes on the measured spectrum. It is one
 *     fixed symmetric positive definite B near A^-1, with the eigenvalues of B A within 1 -+ PL_APPLY_ERROR. So it may
 *     be a first matrix of quasi-Newton methods, and g . B g is (g . A^-1 g) (1 -+ PL_APPLY_ERROR).
 *   - `solve`: conjugate gradients preconditioned by M, from a given start to a given share of its error.
 *
 * Nothing depends on the number of threads or on the instruction set: rows are independent of each other, and sums
 * are taken over fixed chunks of rows.
 */
#ifndef PLIANT_ENGINE_LINEAR_MULTIGRID_H
#define PLIANT_ENGINE_LINEAR_MULTIGRID_H

#include "engine/linear/linear.h"

#define PL_APPLY_ERROR 0.1

typedef struct pl_multigrid pl_multigrid;

/* Makes the levels and measures the spectrum of M A. Aggregates are those of `like`, a multigrid of a matrix with as
 * many rows that differs little, in weights or inertia; NULL: its own. PL_NO_MEMORY, or
 * PL_FAILED if A is not positive definite as far as was seen, or not suited: M A has eigenvalues below
 * PL_MULTIGRID_LEAST. */
#define PL_MULTIGRID_LEAST 0.003
pl_status pl_multigrid_create(const pl_sparse *a, const pl_multigrid *like, pl_multigrid **out);
void pl_multigrid_destroy(pl_multigrid *m);

/* Workspace on up to `threads` threads; one for each concurrent user. */
typedef struct pl_multigrid_work pl_multigrid_work;
pl_status pl_multigrid_work_create(const pl_multigrid *m, int32_t threads, pl_multigrid_work **out);
void pl_multigrid_work_set_threads(pl_multigrid_work *w, int32_t threads);
void pl_multigrid_work_destroy(pl_multigrid_work *w);

/* x = B b, column-major [3][n]; x may be b. */
void pl_multigrid_apply3(const pl_multigrid *m, pl_multigrid_work *w, const double *b, double *x);

typedef struct pl_multigrid_result {
    double square[3]; /* of each column, (x - x0) . A (x - x0) of the answer x and the start x0 */
    int32_t cycles;
} pl_multigrid_result;
/* Solves A x = b, [3][n], from the given x until the error, in the norm of A and over all columns, is `error` of
 * the first, as estimated by r . M r and the rate of convergence. If a number is not finite, so are x and the squares.
 * PL_FAILED if that takes more than PL_CYCLES_MOST cycles, or M is found not to be positive definite; x is then
 * undefined. */
enum { PL_CYCLES_MOST = 80 };
pl_status pl_multigrid_solve3(const pl_multigrid *m, pl_multigrid_work *w, double error,
                              const double *b, double *x, pl_multigrid_result *out);

/* Numbers that describe it. */
typedef struct pl_multigrid_facts {
    int32_t levels;
    int64_t entries;      /* of all A_l, both triangles */
    double least;         /* eigenvalue of M A */
    int32_t apply_cycles; /* V-cycles of an apply */
    int64_t bytes;        /* of memory, without workspaces */
} pl_multigrid_facts;
pl_multigrid_facts pl_multigrid_describe(const pl_multigrid *m);

#endif
