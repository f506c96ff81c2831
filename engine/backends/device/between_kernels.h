/* between_kernels.h - kernels over the rows of contact between bodies (contact/rows.h), and the joint prox
 * (contact/joint_prox.h). Everything is computed in double. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_BETWEEN_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_BETWEEN_KERNELS_H

#include "engine/backends/device/device.h"
#include "engine/model/group.h"

/* A row in the device's memory. */
typedef struct pl_device_row {
    /* Corners: vertices of the scene, and their indices among the touched vertices. A missing corner repeats the
     * first with a weight of 0. */
    int32_t vertex[4], place[4];
    double weight[4], normal[3], start[3], grip[3];
    double distance, stiffness, friction, force, bound;
} pl_device_row;

/* The rows, and the lists of the touched vertices. */
typedef struct pl_device_rows {
    const pl_device_row *row;
    const int32_t *vertex, *first, *entry; /* as pl_contact_rows has them */
} pl_device_rows;

/* dU/dr and U at x. One thread per row. */
typedef struct pl_row_pull_arguments {
    pl_device_rows rows;
    const pl_number *x;
    double *pull, *energy; /* [rows][3], N; [rows], J */
} pl_row_pull_arguments;

/* out = sign C^T pull or, if x is given, the diagonal of U's Hessian there. One thread per touched vertex. */
typedef struct pl_row_gather_arguments {
    pl_device_rows rows;
    const double *pull;
    double sign;
    const pl_number *x;
    pl_number *out; /* [vertices][3] */
} pl_row_gather_arguments;

/* Progress of a prox: Nesterov's sequence, and whether it has converged. */
typedef struct pl_prox_control {
    double t, beta;
    int32_t done, sweeps;
} pl_prox_control;

/* Arrays of joint_prox.h. y = p + beta (p - last). */
typedef struct pl_prox_arguments {
    pl_device_rows rows;
    const double *give, *step;      /* [touched]; [rows] */
    double *p, *last, *free, *part; /* [rows][3] */
    double *moved, *v;              /* [touched][3] */
    pl_prox_control *control;
    const int32_t *term;    /* [touched]: term of the group `touching`; -1: none */
    pl_admm_local local;    /* for prox_points */
    const pl_number *x;     /* for prox_points */
    const double *sums;     /* for prox_decide, [3][PL_SUM_LAST] of part */
    double exact, rounding; /* for prox_decide */
    int32_t settle;         /* for prox_move: read p, not y, and move even when done */
    double sign;            /* for prox_spread: values = sign moved */
    pl_number *values;      /* [block][3][PL_BLOCK] */
} pl_prox_arguments;

/* clang-format off */
#define PL_BETWEEN_KERNELS(DO)                                                                     \
    DO(row_pull, pl_row_pull_arguments)     /* one thread per row */                               \
    DO(row_gather, pl_row_gather_arguments) /* per touched vertex */                               \
    DO(prox_points, pl_prox_arguments)      /* per touched vertex */                               \
    DO(prox_free, pl_prox_arguments)        /* per row */                                          \
    DO(prox_move, pl_prox_arguments)        /* per touched vertex */                               \
    DO(prox_sweep, pl_prox_arguments)       /* per row */                                          \
    DO(prox_decide, pl_prox_arguments)      /* one thread */                                       \
    DO(prox_spread, pl_prox_arguments)      /* per touched vertex */
/* clang-format on */

#ifndef PL_BETWEEN_KERNELS_ARE_HERE
#define DO(name, type)                                                                             \
    void PL_NAMED(pl_device_##name)(pl_device_queue * queue, const type *arguments,                \
                                    int64_t threads);
PL_BETWEEN_KERNELS(DO)
#undef DO
#endif

#endif
