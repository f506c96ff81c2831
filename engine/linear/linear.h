/* linear.h - one sparse symmetric positive definite matrix, factored once and solved many times with three
 * right-hand sides: x, y and z share it (Liu 2017, section 3).
 *
 * CHOLMOD computes the factor, with ordering and kind chosen by size (cholmod.c), on one BLAS thread, because the
 * bits of the supernodal factor depend on the number of threads. Solves use our own code (panels.h), and their bits
 * depend only on the factor.
 */
#ifndef PLIANT_ENGINE_LINEAR_LINEAR_H
#define PLIANT_ENGINE_LINEAR_LINEAR_H

#include "engine/scene/fault.h"

#include <stdint.h>

/* Lower triangle by columns, rows ascending and diagonal first. Owns its arrays. */
typedef struct pl_sparse {
    int64_t n;
    int64_t *column; /* [n + 1] */
    int32_t *row;    /* [column[n]] */
    double *value;
} pl_sparse;

/* One entry of a matrix being assembled; (row, column) in either triangle, duplicates are summed. */
typedef struct pl_entry {
    int32_t row, column;
    double value;
} pl_entry;

/* Sums entries into a lower triangle. Off-diagonal sums below 1e-12 of their diagonals' geometric mean are dropped:
 * on boxes of Kuhn tetrahedra the couplings along diagonals cancel, and keeping them doubles the factor. Sums are
 * taken in the order of `entries`, so the bits are fixed. */
pl_status pl_sparse_assemble(int64_t n, const pl_entry *entries, int64_t count, pl_sparse *out);
void pl_sparse_clear(pl_sparse *a);

/* y = A x for `columns` vectors, column-major [columns][n]. */
void pl_sparse_multiply(const pl_sparse *a, const double *x, double *y, int32_t columns);

typedef struct pl_factor pl_factor;
/* Factors A = L L^T. PL_NO_MEMORY, or PL_FAILED if A is not positive definite. */
pl_status pl_factor_create(const pl_sparse *a, pl_factor **out);
void pl_factor_destroy(pl_factor *f);
/* Workspace of solves on up to `threads` threads; one for each concurrent user of a factor. The number of threads
 * changes no bit. */
typedef struct pl_solve_work pl_solve_work;
pl_status pl_solve_work_create(const pl_factor *f, int32_t threads, pl_solve_work **out);
void pl_solve_work_set_threads(pl_solve_work *w, int32_t threads);
void pl_solve_work_destroy(pl_solve_work *w);
/* Solves A x = b with three right-hand sides, column-major [3][n]. x may be b. */
pl_status pl_factor_solve3(const pl_factor *f, pl_solve_work *w, const double *b, double *x);
/* Number of stored entries of L, including the zeros that fill panels. */
int64_t pl_factor_nonzeros(const pl_factor *f);

/* A matrix with a fixed pattern and changing values, factored repeatedly by CHOLMOD: the ordering and the symbolic
 * factor are computed once. For one right-hand side. */
typedef struct pl_refactor pl_refactor;
/* Rows come in groups of `block` with the same neighbours, such as the coordinates of a vertex: the ordering is
 * over groups. Only the pattern of `a` is read. */
pl_status pl_refactor_create(const pl_sparse *a, int32_t block, pl_refactor **out);
void pl_refactor_destroy(pl_refactor *f);
/* Factors a + shift I. PL_FAILED if that is not positive definite; another shift can be tried. */
pl_status pl_refactor_make(pl_refactor *f, const pl_sparse *a, double shift);
/* Solves with the last factor. x may be b. */
pl_status pl_refactor_solve(pl_refactor *f, const double *b, double *x);

/* OpenBLAS's core type ("SkylakeX"), which determines the bits of a supernodal factor; "none" with another BLAS or
 * without one. */
const char *pl_blas_core(void);

#endif
