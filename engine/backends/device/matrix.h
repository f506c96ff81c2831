/* matrix.h - the constant matrix on a device, and solves with it.
 *
 * There is no factor. A solve is Chebyshev iteration with a Jacobi preconditioner. It makes enough steps to reduce
 * the error, in the norm of A, to PL_SOLVE_ERROR of the initial one, by bounds of the spectrum of D^-1 A that are
 * computed once per matrix (linear/spectrum.h). So the number of steps is known in advance: one launch per step, no
 * inner product and no transfer to the host. Started from 0, the iteration is one fixed polynomial of A, symmetric
 * and positive definite, and so a valid first matrix for quasi-Newton. Started from the last iterate, it leaves of
 * each component of the error a share in [0, 1). So projective dynamics still never goes up, whatever the number of
 * steps, and every method has the same fixed point as with a factor.
 *
 * Cost for n free vertices with 14 neighbours, single precision (table in tests/bench/measurements.md): a step reads
 * and writes 14 (4 + 4) + 6 * 16 + 12 bytes per vertex, 220 n, in one launch; a solve takes sqrt(kappa) / 2
 * ln(2 / PL_SOLVE_ERROR) steps. Triangular solves by level sets would read a factor of 7.6 n^(4/3) numbers twice
 * and launch for each panel of the largest separator, n^(2/3) / 8, twice and in sequence. Conjugate gradients take
 * about as many steps, each of three launches with two inner products. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_MATRIX_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_MATRIX_H

#include "engine/backends/device/matrix_kernels.h"
#include "engine/model/model.h"

/* With a tenth, methods took as many iterations as with a factor, within 7 in 100, on the three scenes that
 * tests/bench/measurements.md lists. With a hundredth they took no fewer, and a decrement is known to a tenth. */
#define PL_SOLVE_ERROR 0.1
/* For admm with terms that dissipate: with a tenth, it took two to ten times as many iterations as with a factor. */
#define PL_SOLVE_ERROR_DAMPED 0.01

/* The launches of a solve are recorded when the same arrays come again (device.h) and replayed as one launch.
 * Methods swap their arrays, so few combinations occur. */
enum { PL_DEVICE_SOLVES = 4 };
typedef struct pl_device_solve_key {
    const pl_number *rhs, *from, *rows;
    const double *columns;
} pl_device_solve_key;
typedef struct pl_device_solves {
    pl_device_solve_key key[PL_DEVICE_SOLVES];
    pl_device_recording recording[PL_DEVICE_SOLVES]; /* empty until the key comes again */
    int32_t next;
    int64_t recorded, replayed, launched; /* number of uses */
} pl_device_solves;

/* A in a device's memory, of one set of weights. */
typedef struct pl_device_system {
    pl_device_queue *queue;
    pl_device_matrix matrix;
    pl_number *diagonal; /* matrix.diagonal, for pl_device_vertices as well */
    int32_t steps;       /* number of steps of a solve, at least 1 */
    double middle,
        ratio; /* of the spectrum's interval: its middle; its middle over half its length, > 1 */
    void *memory[8];
    pl_device_solves solves;
} pl_device_system;

/* PL_NO_MEMORY, or PL_OK; destroy *out in either case. The model must have A. */
pl_status PL_NAMED(pl_device_system_create)(pl_device_queue *queue, const pl_model *model,
                                            pl_device_system *out);
void PL_NAMED(pl_device_system_destroy)(pl_device_system *s);

/* Work arrays of a solve: four vectors and a column of doubles, with the rows of the largest system. */
typedef struct pl_device_iterate {
    pl_number4 *x, *r, *r0, *d[2];
} pl_device_iterate;

/* rows = A^-1 rhs, starting at `from` or at 0; with `columns`, also (rows - from) A (rows - from) by rows. A system
 * is always solved with the same vertices and work arrays. */
void PL_NAMED(pl_device_system_solve)(pl_device_system *s, const pl_device_vertices *vertices,
                                      const pl_device_iterate *work, const pl_number *rhs,
                                      const pl_number *from, pl_number *rows, double *columns);

#endif
