/* terms_kernels.h - kernels of terms, after terms_template.h for a kind. Included by
 * <kind>_kernels.c, which then says TERMS_KERNELS. */
#include "engine/backends/device/term_kernels.h"

typedef pl_terms_placed placed;

/* The group as a thread sees it: pointers at its lane. */
PL_THREAD void place(const pl_term_arguments *a, int64_t thread, placed *at)
{
    int64_t lane = thread % PL_BLOCK;
    at->block = thread / PL_BLOCK;
    at->lane = lane;
    at->group = a->group;
    at->terms = a->terms;
    at->group.corner += lane;
    at->group.weight += lane;
    at->terms.shape += lane;
    at->terms.constant += lane;
    if (at->terms.offset)
        at->terms.offset += lane;
    at->terms.material = (const pl_stretch_ops *)&a->stretch;
}

PL_THREAD void energy_gradient_thread(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    terms_energy_gradient(&at.group, a->x, a->energy ? a->energy + at.lane : NULL,
                          (pl_number *)(a->contributions + at.lane), at.block, at.block + 1);
}

PL_THREAD void hessian_diagonal_thread(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    terms_hessian_diagonal(&at.group, a->x, (pl_number *)(a->contributions + at.lane), at.block,
                           at.block + 1);
}

PL_THREAD void measure_thread(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    pl_real q[ROWS];
    law m = law_load(&at.terms, at.block);
    apply(&at.group, at.block, a->x, q);
    terms_energy(&at.group, a->x, a->energy + at.lane, at.block, at.block + 1);
    a->stretch_out[thread] = law_stretch(&m, q);
    a->inverted_out[thread] = 0;
}

#define TERMS_KERNELS(kind)                                                                        \
    PL_THREAD void kind##_energy_gradient(const pl_term_arguments *a, int64_t i)                   \
    {                                                                                              \
        energy_gradient_thread(a, i);                                                              \
    }                                                                                              \
    PL_THREAD void kind##_hessian_diagonal(const pl_term_arguments *a, int64_t i)                  \
    {                                                                                              \
        hessian_diagonal_thread(a, i);                                                             \
    }                                                                                              \
    PL_THREAD void kind##_measure(const pl_term_arguments *a, int64_t i)                           \
    {                                                                                              \
        measure_thread(a, i);                                                                      \
    }                                                                                              \
    PL_TERM_KERNELS(kind, TERMS_NAME, CORNERS, ROWS, NULL)
