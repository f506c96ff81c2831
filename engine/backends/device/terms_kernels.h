/* terms_kernels.h - kernels of terms, after terms_template.h for a kind. Included by <kind>_kernels.c,
 * which then says PL_TERM_KERNELS. */
#include "engine/backends/device/term_kernels.h"

typedef pl_terms_placed placed;
#define term_energy           terms_energy
#define term_gradient         terms_gradient
#define term_energy_gradient  terms_energy_gradient
#define term_hessian_diagonal terms_hessian_diagonal

PL_THREAD void place_own(const pl_term_arguments *a, int64_t lane, placed *at)
{
    at->terms = a->terms;
    at->terms.shape += lane;
    at->terms.constant += lane;
    if (at->terms.offset)
        at->terms.offset += lane;
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
