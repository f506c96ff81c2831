/* panels.h - the factor L in its layout for solves: CHOLMOD computes it, and this layout is kept.
 *
 * L is divided into panels of up to PL_PANEL columns of similar structure. A panel of w columns has a triangle on
 * the diagonal, stored inverted so that a solve multiplies instead of waiting for divisions, and r dense rows below
 * it. A row present in only some of its columns is filled with zeros where that costs less than a separate panel.
 * The three right-hand sides are stored together as [n][4], x y z and padding, so that each number of L is read
 * once and multiplies one vector of 32 bytes. Two passes over L, forward and backward, are all the traffic.
 *
 * Panels are grouped in parts: bundles of independent subtrees of the elimination tree and, last, the top,
 * everything above them. A part subtracts its updates of the top's rows from its own copy, and the copies are added
 * up in order, so threads may take parts in any order. The division depends on the matrix alone, and so do the
 * bits; they depend neither on a BLAS nor on the instruction set.
 */
#ifndef PLIANT_ENGINE_LINEAR_PANELS_H
#define PLIANT_ENGINE_LINEAR_PANELS_H

#include "engine/isa.h"
#include "engine/scene/fault.h"

#include <stdint.h>

enum { PL_PANEL = 8 };

/* L as computed: column j has count[j] entries, rows ascending from the diagonal, at row[row_at[j]] and
 * value[value_at[j]]. Entry i of L is entry order[i] of the matrix. */
typedef struct pl_columns {
    int64_t n;
    int64_t *row_at, *value_at;
    int32_t *count;
    const int32_t *row, *order;
    const double *value;
} pl_columns;

typedef struct pl_panel {
    int32_t column, width; /* the first column; columns, 1 .. PL_PANEL */
    int32_t rows, own;     /* number of rows below the triangle, and of these in the own part */
    int64_t row, value;    /* start of its rows and of its numbers */
} pl_panel;

typedef struct pl_panels {
    int64_t n, panel_count, row_count, value_count;
    int64_t part_count; /* the last one is the top */
    pl_panel *panel;    /* [panel_count] */
    int64_t *part;      /* [part_count + 1]: the first panel of each */
    int64_t *column;    /* [part_count + 1]: the first column of each */
    int32_t *row;       /* ascending within a panel */
    double *value;      /* per panel: inverse triangle by rows [w (w + 1) / 2], then [rows][w] */
    int32_t *order;     /* [n]: the matrix's row for row i here */
} pl_panels;

pl_status pl_panels_create(const pl_columns *L, pl_panels *out);
void pl_panels_clear(pl_panels *panels);

/* Size of a solve's work memory in doubles, aligned to 64 bytes. */
int64_t pl_panels_work(const pl_panels *panels);
/* Solves L L^T x = b with three right-hand sides, column-major [3][n]; x may be b. */
void pl_panels_solve3(const pl_panels *panels, double *work, int32_t threads, const double *b,
                      double *x);

/* The two passes over panels [p0, p1), one table per instruction set (panels_isa.c). y is [n][4]; rows outside the
 * panels' part are in `top`, which begins at the top's first row. */
typedef struct pl_panels_ops {
    void (*forward)(const pl_panels *L, int64_t p0, int64_t p1, double *y, double *top);
    void (*backward)(const pl_panels *L, int64_t p0, int64_t p1, double *y);
} pl_panels_ops;

PL_ISA_DECLARE(const pl_panels_ops, pl_panels_ops);

#endif
