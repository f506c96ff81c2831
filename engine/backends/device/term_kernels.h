/* term_kernels.h - kernels over the terms of a group, one thread per lane of a block. Padding lanes run too;
 * nothing reads their numbers. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_TERM_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_TERM_KERNELS_H

#include "engine/backends/device/device.h"
#include "engine/model/groups/contact_law.h"
#include "engine/model/groups/contact_projection.h"
#include "engine/model/groups/contact_velocity.h"
#include "engine/model/groups/hinge_law.h"
#include "engine/model/groups/terms.h"
#include "engine/model/groups/tets.h"

/* For an obstacle that is a constraint. */
typedef struct pl_device_obstacle {
    const pl_shape *shape;
    double friction;
    const double *share; /* [lanes], of that obstacle; NULL: 1 everywhere */
    pl_contact_path path;
} pl_device_obstacle;

/* A group whose arrays are on the device, and the inputs and outputs of a kernel. */
typedef struct pl_term_arguments {
    pl_group group;
    pl_tets tets;   /* for tetrahedra */
    pl_terms terms; /* for terms */
    pl_stretch_model stretch;
    pl_contact_law contact; /* for vertices against an obstacle */
    pl_hinges hinges;       /* for hinges */
    const pl_number *x;     /* [vertices][3] */
    pl_number *energy;      /* out, [blocks][PL_BLOCK], J; NULL: not wanted */
    pl_number4 *contributions;
    pl_number *stretch_out, *inverted_out; /* for measure, [blocks][PL_BLOCK] */
    double *columns;                       /* for push, [4][terms]: force, and whether it is 0 */
    pl_device_obstacle obstacle;           /* for vertices that an obstacle holds out */
    const pl_number *x_start, *stationary; /* of the stage, for local; still may be NULL */
    const pl_number *way;                  /* for local of `touching`, [block][3][PL_BLOCK], m */
    pl_admm_local local;                   /* for local, without x; sums by thread */
    const pl_number *u, *z;                /* for contribute; u: for transpose; z: for concavity */
    pl_number *values;                     /* for reduce, [block][rows][PL_BLOCK]; for concavity,
                                              [block][PL_BLOCK] */
} pl_term_arguments;

/* Start of a stage: a stage whose arrays are on the device, of pl_number. */
typedef struct pl_freeze_arguments {
    pl_term_arguments term;
    pl_stage stage;
} pl_freeze_arguments;

/* Effect of an obstacle on its vertices at a stage's result, term.x; term.u: the multipliers of a hard group. The
 * other fields serve one launch each. */
typedef struct pl_touch_arguments {
    pl_term_arguments term;
    pl_contact_path path;
    const pl_number *x_start; /* [vertices][3], as are the following except mass and power */
    pl_number *force;         /* for force, added to, N */
    const pl_number *v;       /* for rub */
    pl_number *power;         /* [terms]: for rub, W */
    double restitution;       /* for leave, all below */
    double within;            /* a h, s */
    int32_t all;              /* as in pl_contact_end */
    const pl_number *mass, *x_end, *v_start;
    pl_number *v_end, *x_back, *v_back; /* the last two may be NULL */
    double landing;                     /* as in pl_contact_end */
    pl_number *landed;                  /* [terms]: 1 where it landed, else 0; NULL: not asked */
} pl_touch_arguments;

typedef void pl_term_launch(pl_device_queue *queue, const pl_term_arguments *arguments,
                            int64_t threads);
typedef void pl_freeze_launch(pl_device_queue *queue, const pl_freeze_arguments *arguments,
                              int64_t threads);
typedef void pl_touch_launch(pl_device_queue *queue, const pl_touch_arguments *arguments,
                             int64_t threads);

/* tets_stretch_kernels.c: invertible elements, after `freeze` of all. */
PL_C void PL_NAMED(pl_device_tets_stretch_spread)(pl_device_queue *queue,
                                                  const pl_freeze_arguments *arguments,
                                                  int64_t threads);

/* The kernels of a kind of groups, named after group.h's slots. NULL where a kind lacks one: descent for hard
 * terms, splitting for terms without a prox. */
typedef struct pl_term_kernels {
    const char *name; /* name of the kind in the CPU's table */
    int32_t corners, rows;
    bool hard;
    pl_term_launch *energy_gradient, *hessian_diagonal;
    pl_term_launch *measure;
    pl_freeze_launch *freeze;
    pl_term_launch *push; /* one thread per term */
    pl_term_launch *reduce, *local, *contribute, *transpose;
    pl_term_launch *concavity;
    pl_term_launch *dissipate;            /* energy: out, [lanes], W */
    pl_touch_launch *force, *leave, *rub; /* one thread per term */
} pl_term_kernels;

/* The functions of one kind, and its table pl_device_<kind>_<precision> from the slots given after its sizes. */
#define PL_TERM_TABLE(kind, its_name, its_corners, its_rows, ...)                                  \
    PL_C extern const pl_term_kernels PL_NAMED(pl_device_##kind);                                  \
    const pl_term_kernels PL_NAMED(pl_device_##kind) = {its_name, its_corners, its_rows,           \
                                                        __VA_ARGS__};
#define PL_TERM_NAMED(kind, verb) PL_NAMED(pl_device_##kind##_##verb)

#define PL_DESCENT_KERNELS(kind)                                                                   \
    PL_KERNEL(kind##_energy_gradient, energy_gradient_of, pl_term_arguments)                       \
    PL_KERNEL(kind##_hessian_diagonal, hessian_diagonal_of, pl_term_arguments)                     \
    PL_KERNEL(kind##_measure, measure_of, pl_term_arguments)
#define PL_LOCAL_KERNEL(kind) PL_KERNEL(kind##_local, local_of, pl_term_arguments)
/* For general proxes, which are in files of their own: with PL_CALLS (lanes_scalar.h) defined before all else, nvcc
 * compiles them in a third of the time, and a thread's registers suffice. */
#define PL_LOCAL_ELSEWHERE(kind)                                                                   \
    PL_C void PL_TERM_NAMED(kind, local)(pl_device_queue * queue,                                  \
                                         const pl_term_arguments *arguments, int64_t threads);
#define PL_SPLITTING_KERNELS(kind, local)                                                          \
    local(kind) PL_KERNEL(kind##_reduce, reduce_of, pl_term_arguments)                             \
        PL_KERNEL(kind##_contribute, contribute_of, pl_term_arguments)                             \
            PL_KERNEL(kind##_transpose, transpose_of, pl_term_arguments)
#define PL_DESCENT_SLOTS(kind)                                                                     \
    PL_TERM_NAMED(kind, energy_gradient)                                                           \
    , PL_TERM_NAMED(kind, hessian_diagonal), PL_TERM_NAMED(kind, measure)
#define PL_SPLITTING_SLOTS(kind)                                                                   \
    PL_TERM_NAMED(kind, reduce)                                                                    \
    , PL_TERM_NAMED(kind, local), PL_TERM_NAMED(kind, contribute), PL_TERM_NAMED(kind, transpose)

/* For terms other than dissipation and obstacles. */
#define PL_NO_CONTACT NULL, NULL, NULL, NULL

/* A kind with an energy and a prox; `local` is one of the two above. It may freeze data over a stage, and report
 * its concavity. */
#define PL_TERM_KERNELS(kind, local, its_name, its_corners, its_rows, its_freeze, its_concavity)   \
    PL_DESCENT_KERNELS(kind)                                                                       \
    PL_SPLITTING_KERNELS(kind, local)                                                              \
    PL_TERM_TABLE(kind, its_name, its_corners, its_rows, false, PL_DESCENT_SLOTS(kind),            \
                  its_freeze, NULL, PL_SPLITTING_SLOTS(kind), its_concavity, PL_NO_CONTACT)

#endif
