/* damping_kernels.h - kernels of dissipation, after the law's parts and terms_template.h. Included by
 * damping_<elements>_kernels.c, which then expands PL_DAMPING_KERNELS. */
#include "engine/backends/device/terms_kernels.h"
#include "engine/model/damping/damping_freeze.h"

PL_THREAD void freeze_of(const pl_freeze_arguments *a, int64_t thread)
{
    placed at;
    place(&a->term, thread, &at);
    damping_freeze(&at.group, &a->stage, at.block, at.block + 1);
}

PL_THREAD void dissipate_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    damping_dissipate(&at.group, a->x, a->energy + at.lane, at.block, at.block + 1);
}

/* Dissipated energy is not part of the body's energy. */
PL_THREAD void nothing_of(const pl_term_arguments *a, int64_t thread)
{
    a->energy[thread] = a->stretch_out[thread] = a->inverted_out[thread] = 0;
}

#define PL_DAMPING_KERNELS(kind)                                                                   \
    PL_KERNEL(kind##_energy_gradient, energy_gradient_of, pl_term_arguments)                       \
    PL_KERNEL(kind##_hessian_diagonal, hessian_diagonal_of, pl_term_arguments)                     \
    PL_KERNEL(kind##_measure, nothing_of, pl_term_arguments)                                       \
    PL_KERNEL(kind##_freeze, freeze_of, pl_freeze_arguments)                                       \
    PL_KERNEL(kind##_dissipate, dissipate_of, pl_term_arguments)                                   \
    PL_SPLITTING_KERNELS(kind, PL_LOCAL_KERNEL)                                                    \
    PL_TERM_TABLE(kind, TERMS_NAME, CORNERS, ROWS, false, PL_DESCENT_SLOTS(kind),                  \
                  PL_TERM_NAMED(kind, freeze), NULL, PL_SPLITTING_SLOTS(kind), NULL,               \
                  PL_TERM_NAMED(kind, dissipate), NULL, NULL, NULL)
