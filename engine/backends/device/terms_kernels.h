/* terms_kernels.h - kernels of terms, after terms_template.h for a kind. Included by <kind>_kernels.c, which then
 * expands PL_TERM_KERNELS. */
#include "engine/backends/device/term_kernels.h"

typedef pl_terms_placed placed;
#define term_energy           terms_energy
#define term_gradient         terms_gradient
#define term_energy_gradient  terms_energy_gradient
#define term_hessian_diagonal terms_hessian_diagonal
#define term_reduce           terms_reduce
#define term_admm_local       terms_admm_local
#define term_admm_contribute  terms_admm_contribute
#define term_transpose        terms_transpose

PL_THREAD void place_own(const pl_term_arguments *a, int64_t lane, placed *at)
{
    at->terms = a->terms;
    at->terms.shape += lane;
    at->terms.constant += lane;
    if (at->terms.offset)
        at->terms.offset += lane;
    if (at->terms.frozen)
        at->terms.frozen += lane;
    at->terms.material = (const pl_stretch_ops *)&a->stretch;
}

PL_THREAD void measure_own(const pl_term_arguments *a, const placed *at, pl_real *stretch,
                           int *inverted)
{
    pl_real q[ROWS];
    law m = law_load(&at->terms, at->block);
    apply(&at->group, at->block, a->x, q);
    *stretch = law_stretch(&m, q);
    *inverted = 0;
}

#include "engine/backends/device/term_threads.h"

/* For hard terms, which have no energy. */
PL_THREAD void stretch_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    pl_real stretch;
    int inverted;
    place(a, thread, &at);
    measure_own(a, &at, &stretch, &inverted);
    a->energy[thread] = a->inverted_out[thread] = 0;
    a->stretch_out[thread] = stretch;
}

/* The table of a kind's hard terms, which are split by the same kernels as soft terms. */
#define PL_HARD_TABLE(hard_kind, kind, its_name, its_corners, its_rows)                            \
    PL_KERNEL(hard_kind##_stretch, stretch_of, pl_term_arguments)                                  \
    PL_TERM_TABLE(hard_kind, its_name, its_corners, its_rows, true, NULL, NULL,                    \
                  PL_TERM_NAMED(hard_kind, stretch), NULL, NULL, PL_SPLITTING_SLOTS(kind), NULL,   \
                  PL_NO_CONTACT)
