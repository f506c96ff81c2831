/* term_kernels.h - kernels over the terms of a group, a thread a lane of a block: padding too, whose
 * numbers nobody reads. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_TERM_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_TERM_KERNELS_H

#include "engine/backends/device/device.h"
#include "engine/model/contact_law.h"
#include "engine/model/hinge_law.h"
#include "engine/model/terms.h"
#include "engine/model/tets.h"

/* A group whose arrays are the device's, and what a kernel reads and writes. */
typedef struct pl_term_arguments {
    pl_group group;
    pl_tets tets;   /* of tetrahedra */
    pl_terms terms; /* of terms */
    pl_stretch_model stretch;
    pl_contact_law contact;  /* of vertices against an obstacle */
    pl_hinges hinges;        /* of hinges */
    const pl_number *x;      /* [vertices][3] */
    const pl_number *x_pred; /* freeze's */
    pl_number *energy;       /* out, [blocks][PL_BLOCK], J; NULL: not wanted */
    pl_number4 *contributions;
    pl_number *stretch_out, *inverted_out; /* measure's, [blocks][PL_BLOCK] */
    double *columns;                       /* push's, [4][terms]: force, and whether there is any */
} pl_term_arguments;

/* The kernels of a kind of groups; all but the last two are there. */
typedef struct pl_term_kernels {
    const char *name; /* what the CPU's table of the kind is called */
    int32_t corners, rows;
    void (*energy_gradient)(const pl_term_arguments *arguments, int64_t threads);
    void (*hessian_diagonal)(const pl_term_arguments *arguments, int64_t threads);
    void (*measure)(const pl_term_arguments *arguments, int64_t threads);
    void (*freeze)(const pl_term_arguments *arguments,
                   int64_t threads); /* x: where the step began */
    void (*push)(const pl_term_arguments *arguments, int64_t terms);
} pl_term_kernels;

/* One kind's functions and its table, pl_device_<kind>_<precision>. */
#define PL_TERM_KERNELS(kind, its_name, its_corners, its_rows, its_freeze, its_push)               \
    PL_KERNEL(kind##_energy_gradient, energy_gradient_of, pl_term_arguments)                       \
    PL_KERNEL(kind##_hessian_diagonal, hessian_diagonal_of, pl_term_arguments)                     \
    PL_KERNEL(kind##_measure, measure_of, pl_term_arguments)                                       \
    PL_C extern const pl_term_kernels PL_NAMED(pl_device_##kind);                                  \
    const pl_term_kernels PL_NAMED(pl_device_##kind) = {                                           \
        its_name,                                                                                  \
        its_corners,                                                                               \
        its_rows,                                                                                  \
        PL_NAMED(pl_device_##kind##_energy_gradient),                                              \
        PL_NAMED(pl_device_##kind##_hessian_diagonal),                                             \
        PL_NAMED(pl_device_##kind##_measure),                                                      \
        its_freeze,                                                                                \
        its_push};

#endif
