/* blocks.h - a symmetric matrix of 3 x 3 blocks, for products: the lower triangle by columns of blocks.
 *
 * A product reads each block once, for its place and for its mirror image. So a column adds to rows that other
 * columns also add to. The columns are divided into two parts of as many blocks, each with its own sums, and the two
 * are added at the end. The division depends on the pattern alone, and so do the bits; they depend neither on the
 * number of threads nor on the instruction set. */
#ifndef PLIANT_ENGINE_LINEAR_BLOCKS_H
#define PLIANT_ENGINE_LINEAR_BLOCKS_H

#include "engine/isa.h"
#include "engine/linear/linear.h"

enum { PL_BLOCKS_PARTS = 2 };

typedef struct pl_blocks {
    int64_t n;       /* rows of blocks */
    int64_t *column; /* [n + 1]: the first block of each column */
    int32_t *row;    /* row of each block, the diagonal first, then ascending */
    double *
        value; /* [blocks][3][3], each by columns; those on the diagonal are whole. One number of padding */
} pl_blocks;

void pl_blocks_clear(pl_blocks *a);

/* Size of a product's work memory in doubles, aligned to 32 bytes, for n rows of blocks. */
int64_t pl_blocks_work(int64_t n);
/* y = A x for rows by coordinate, [3][n]; y may be x. */
void pl_blocks_multiply(const pl_blocks *a, double *work, int32_t threads, const double *x,
                        double *y);

/* The same matrix by single rows, 3 i + k for coordinate k of row i: the pattern, with values of 0. PL_NO_MEMORY:
 * nothing was created. */
pl_status pl_blocks_pattern(const pl_blocks *a, pl_sparse *out);
/* Sets the values of that pattern. */
void pl_blocks_values(const pl_blocks *a, pl_sparse *out);

/* Columns [j0, j1) of a product, one table per instruction set (blocks_isa.c). x, y [n][4], x y z and padding, which
 * is undefined in y. */
typedef struct pl_blocks_ops {
    void (*multiply)(const pl_blocks *a, const double *x, double *y, int64_t j0, int64_t j1);
} pl_blocks_ops;

PL_ISA_DECLARE(const pl_blocks_ops, pl_blocks_ops);

#endif
