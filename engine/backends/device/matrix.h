/* matrix.h - the constant matrix on a device, and solving with it.
 *
 * There is no factor. A solve is Chebyshev's iteration with Jacobi's preconditioner, as many steps as bring
 * the error, in the norm of A, to PL_SOLVE_ERROR of what it was, by bounds of the spectrum of D^-1 A that
 * are found once for a matrix (linear/spectrum.h): a count that is known beforehand, one launch a step, no
 * inner product and no word to the host. From 0 it is one and the same polynomial of A, symmetric and
 * positive definite, and so what quasi-Newton may begin with; from the last iterate it leaves of each
 * component of the error a share in [0, 1), so that projective dynamics still never goes up, whatever the
 * number of steps, and every method's fixed point is the one it has with a factor.
 *
 * Counted, for n free vertices with 14 neighbours, single precision (tests/bench/measurements.md has
 * the table): a step reads and writes 14 (4 + 4) + 6 * 16 + 12 bytes a vertex, 220 n, in one launch, and takes
 * sqrt(kappa) / 2 ln(2 / PL_SOLVE_ERROR) steps. Triangular solves by level sets would read a factor of
 * 7.6 n^(4/3) numbers twice, and launch for each panel of the largest separator, n^(2/3) / 8 twice, after
 * another. Conjugate gradients take about as many steps, of three launches with two inner products. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_MATRIX_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_MATRIX_H

#include "engine/backends/device/matrix_kernels.h"
#include "engine/model/model.h"

/* With a tenth methods took as many iterations as with a factor, to 7 in 100, on the three scenes that
 * tests/bench/measurements.md lists, and with a hundredth no fewer there; and a decrement is known to a tenth. */
#define PL_SOLVE_ERROR 0.1
/* Where admm has terms that dissipate: with a tenth it took two to ten times a factor's iterations. */
#define PL_SOLVE_ERROR_DAMPED 0.01

/* A in a device's memory, of one set of weights. */
typedef struct pl_device_system {
    pl_device_queue *queue;
    pl_device_matrix matrix;
    pl_number *diagonal; /* matrix.diagonal, for pl_device_vertices as well */
    int32_t steps;       /* of a solve, at least 1 */
    double middle,
        ratio; /* of the spectrum's interval: its middle; that over half its length, > 1 */
    void *memory[8];
} pl_device_system;

/* PL_NO_MEMORY, or PL_OK; *out is to be destroyed in either case. The model has A. */
pl_status PL_NAMED(pl_device_system_create)(pl_device_queue *queue, const pl_model *model,
                                            pl_device_system *out);
void PL_NAMED(pl_device_system_destroy)(pl_device_system *s);

/* Four vectors and a column of doubles that solves work in; of as many rows as any of the systems. */
typedef struct pl_device_iterate {
    pl_number4 *x, *r, *r0, *d[2];
} pl_device_iterate;

/* rows = A^-1 rhs, from `from` or from 0; with `columns`, (rows - from) A (rows - from) by rows. */
void PL_NAMED(pl_device_system_solve)(const pl_device_system *s, const pl_device_vertices *vertices,
                                      const pl_device_iterate *work, const pl_number *rhs,
                                      const pl_number *from, pl_number *rows, double *columns);

#endif
