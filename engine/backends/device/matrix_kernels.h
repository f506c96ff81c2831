/* matrix_kernels.h - kernels of the constant matrix A (model.h): right-hand sides, and Chebyshev iteration in place
 * of a factor (matrix.h explains why). One thread per free vertex, all three coordinates.
 *
 * Off the diagonal, A is stored in slices of PL_SLICE rows, each as wide as its widest row: entry k of row i is at
 * start[i / PL_SLICE] + k PL_SLICE + i % PL_SLICE, so neighbouring threads read adjacent entries. Padding of a row
 * is 0 times its own vertex. Where a pin holds a coordinate, A_k has the identity's row and column. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_MATRIX_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_MATRIX_KERNELS_H

#include "engine/backends/device/row_kernels.h"

enum { PL_SLICE = 32 };

typedef struct pl_device_matrix {
    const int32_t *start;      /* [slices + 1] */
    const int32_t *column;     /* [start[slices]]: free rows */
    const pl_number *value;    /* [start[slices]], N/m */
    const pl_number *diagonal; /* [free]: A_ii */
    const pl_number *sum;      /* [free]: of a row, with its diagonal */
    /* A's columns of held coordinates, by free row: indices are model vertices. */
    const int32_t *coupling_start, *coupling_vertex;
    const pl_number *coupling_value;
} pl_device_matrix;

/* rows = inertia M x~ + load - A_fp x_p, and the position itself where a coordinate is held. */
typedef struct pl_stage_rows_arguments {
    pl_device_vertices vertices;
    pl_device_matrix matrix;
    double inertia;
    const pl_number *x, *x_pred, *load; /* load may be NULL */
    pl_number *rows;
} pl_stage_rows_arguments;

/* rows = base + contributions, gathered. */
typedef struct pl_gather_rows_arguments {
    pl_device_vertices vertices;
    const pl_number4 *contributions;
    const pl_number *base;
    pl_number *rows;
} pl_gather_rows_arguments;

/* For each free vertex, the square of the gathered sum over free coordinates. */
typedef struct pl_gather_square_arguments {
    pl_device_vertices vertices;
    const pl_number4 *contributions;
    double *columns; /* [free] */
} pl_gather_square_arguments;

/* Steps of Chebyshev iteration for A x = rhs (Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1,
 * with D^-1 A):
 *
 *     begin   x <- from, r <- D^-1 (rhs - A x), d <- first r
 *     step    r <- r - D^-1 A d, x <- x + d, d <- on d + down r
 *     end     r <- r - D^-1 A d, rows <- x + d
 *
 * A step writes d to a different array from the one it reads, because neighbours read it. */
typedef struct pl_iterate_arguments {
    pl_device_vertices vertices;
    pl_device_matrix matrix;
    double first, on, down;
    const pl_number *rhs, *from; /* rows; from NULL: 0 */
    pl_number4 *x, *r, *r0;      /* [free]; r0: the first r, or NULL */
    const pl_number4 *d;
    pl_number4 *d_new;
    pl_number *rows;
    double *columns; /* [free]: (rows - from)_i A (rows - from)_i, from D (r0 - r); or NULL */
} pl_iterate_arguments;

/* clang-format off */
#define PL_MATRIX_KERNELS(DO)                                                                      \
    DO(stage_rows, pl_stage_rows_arguments)                                                        \
    DO(gather_rows, pl_gather_rows_arguments)                                                      \
    DO(gather_square, pl_gather_square_arguments)                                                  \
    DO(iterate_begin, pl_iterate_arguments)                                                        \
    DO(iterate_step, pl_iterate_arguments)                                                         \
    DO(iterate_end, pl_iterate_arguments)
/* clang-format on */

#ifndef PL_MATRIX_KERNELS_ARE_HERE
#define DO(name, type)                                                                             \
    void PL_NAMED(pl_device_##name)(pl_device_queue * queue, const type *arguments,                \
                                    int64_t threads);
PL_MATRIX_KERNELS(DO)
#undef DO
#endif

#endif
