/* splitting_kernels.h - kernels over values of a group, of any kind. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_SPLITTING_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_SPLITTING_KERNELS_H

#include "engine/backends/device/device.h"
#include "engine/backends/histories.h"
#include "engine/model/group.h"

/* Multiplies each term's rows by its factor, [block][PL_BLOCK]. One thread per value. */
typedef struct pl_scale_terms_arguments {
    int32_t rows;
    const pl_number *factor;
    pl_number *values;
} pl_scale_terms_arguments;

/* Anderson's phases (backend.h) for a group: `difference` uses one thread per term, padding included; `mix` one per
 * value. Differences are in single precision, as on the CPU. */
typedef struct pl_anderson_arguments {
    const pl_number *weight; /* [block][PL_BLOCK] */
    int32_t rows, count;
    double relaxation;
    const pl_number *z, *Dx;
    pl_number *r[PL_ANDERSON_MAX + 1]; /* [count + 1] */
    float *dg;                         /* or NULL */
    bool taken;
    double
        *products; /* [count + 1][stride], at the group's first thread: of the last r with each */
    int64_t stride;
} pl_anderson_arguments;

typedef struct pl_mixing_arguments {
    int32_t count;
    double gamma[PL_ANDERSON_MAX];
    const float *dg[PL_ANDERSON_MAX];
    float *taken;
    pl_number *u;
} pl_mixing_arguments;

/* clang-format off */
#define PL_SPLITTING_ROW_KERNELS(DO)                                                               \
    DO(scale_terms, pl_scale_terms_arguments)                                                      \
    DO(anderson_difference, pl_anderson_arguments)                                                 \
    DO(mixing, pl_mixing_arguments)
/* clang-format on */

#ifndef PL_SPLITTING_KERNELS_ARE_HERE
#define DO(name, type)                                                                             \
    void PL_NAMED(pl_device_##name##_kernel)(pl_device_queue * queue, const type *arguments,       \
                                             int64_t threads);
PL_SPLITTING_ROW_KERNELS(DO)
#undef DO
#endif

#endif
