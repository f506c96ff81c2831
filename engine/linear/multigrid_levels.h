/* multigrid_levels.h - the levels of a multigrid and the loops over their rows: shared by its files.
 *
 * Vectors are [rows][4], x y z and padding, so that each number of a matrix is read once and multiplies one vector
 * of 32 bytes, as in panels.h. */
#ifndef PLIANT_ENGINE_LINEAR_MULTIGRID_LEVELS_H
#define PLIANT_ENGINE_LINEAR_MULTIGRID_LEVELS_H

#include "engine/isa.h"
#include "engine/linear/aggregate.h"
#include "engine/linear/multigrid.h"

typedef double pl_quad __attribute__((vector_size(32)));

/* A level, and the way to the next one: of the coarsest, P, R and `aggregate` are empty. Matrices are scaled, so that
 * smoothers need no diagonal: A is S A_l S with s_i = 1 / a_ii^(1/2), and P is S^-1 P S of the next level. */
typedef struct pl_level {
    pl_csr A, P, R;     /* R = P^T */
    int32_t *aggregate; /* [rows] */
    double *scale;      /* [rows]: s_i */
    double bound;       /* of the spectrum of A */
} pl_level;

/* COARSE_MOST: the most rows of the level that has a factor, unless aggregates are not worth another level. */
enum { PL_LEVELS_MAX = 16, PL_COARSE_MOST = 1000 };

struct pl_multigrid {
    int32_t levels; /* at least 1 */
    pl_level level[PL_LEVELS_MAX];
    int32_t *order; /* [rows of the first level]: the k-th row is the matrix's order[k]; NULL: k */
    pl_factor *coarse; /* of the last level; NULL if that has no rows */
    double least;      /* eigenvalue of M A */
};

typedef struct pl_level_work {
    pl_quad *b, *x, *r; /* [rows]; b and x of the first level: NULL */
} pl_level_work;

struct pl_multigrid_work {
    int32_t threads;
    pl_level_work level[PL_LEVELS_MAX];
    pl_quad *x, *r, *z, *p, *Ap; /* [rows of the first level]: of the iterations */
    pl_quad *sums;               /* [chunks] */
    double *columns;             /* [3][rows of the last level] */
    pl_solve_work *coarse;
};

/* Sets `least`, by conjugate gradients on a fixed right-hand side. PL_NO_MEMORY, PL_OK, or PL_FAILED if M or A is
 * found not to be positive definite. */
pl_status pl_multigrid_measure(pl_multigrid *m);

/* Chebyshev's iteration on the spectrum of M A: its middle, its middle over half its length, and the number of
 * cycles that leave PL_APPLY_ERROR of an error. */
typedef struct pl_multigrid_interval {
    double middle, ratio;
    int32_t cycles;
} pl_multigrid_interval;
pl_multigrid_interval pl_multigrid_interval_of(const pl_multigrid *m);

/* z = M r */
void pl_multigrid_cycle(const pl_multigrid *m, pl_multigrid_work *w, const pl_quad *r, pl_quad *z);

/* Loops over rows i0 .. i1, one table per instruction set (multigrid_isa.c). No quad is passed by value: where it
 * lies depends on the instruction set. */
typedef struct pl_multigrid_ops {
    /* r = b - A x */
    void (*residual)(const pl_csr *A, const pl_quad *b, const pl_quad *x, pl_quad *r, int64_t i0,
                     int64_t i1);
    /* x = or += first r - second A r */
    void (*smooth)(const pl_csr *A, double first, double second, const pl_quad *r, bool add,
                   pl_quad *x, int64_t i0, int64_t i1);
    /* y = or += A x, for any matrix */
    void (*multiply)(const pl_csr *A, const pl_quad *x, bool add, pl_quad *y, int64_t i0,
                     int64_t i1);
    /* out = a x + b y, with numbers by column; out may be either */
    void (*combine)(const double a[3], const pl_quad *x, const double b[3], const pl_quad *y,
                    pl_quad *out, int64_t i0, int64_t i1);
    /* *sum = sum of x y, by column */
    void (*dot)(const pl_quad *x, const pl_quad *y, pl_quad *sum, int64_t i0, int64_t i1);
} pl_multigrid_ops;

const pl_multigrid_ops *pl_multigrid_ops_now(void);

PL_ISA_DECLARE(const pl_multigrid_ops, pl_multigrid_ops);

/* Rows of a chunk: the unit of work of a thread, and of a sum. */
enum { PL_CHUNK_ROWS = 1024 };
static inline int64_t pl_row_chunks(int64_t rows)
{
    return (rows + PL_CHUNK_ROWS - 1) / PL_CHUNK_ROWS;
}

/* Runs the statement after it for each chunk i0 .. i1 of `rows` rows, on the workspace's threads if that pays. */
enum { PL_ROWS_A_THREAD = 4096 };
#define PL_PRAGMA(text) _Pragma(#text)
#define PL_EACH_CHUNK(w, rows, i0, i1)                                                             \
    PL_PRAGMA(omp parallel for num_threads((w)->threads) schedule(static)                          \
                  if ((w)->threads > 1 && (rows) >= PL_ROWS_A_THREAD))                             \
    for (int64_t i0 = 0; i0 < (rows); i0 += PL_CHUNK_ROWS)                                         \
        for (int64_t i1 = i0 + PL_CHUNK_ROWS < (rows) ? i0 + PL_CHUNK_ROWS : (rows), once = 1;     \
             once; once = 0)

#endif
