/* term_threads.h - the work of one thread on its term, for any group. Included by tets_kernels.h and
 * terms_kernels.h, after the group's template, which provides
 *
 *   placed                        the group as a thread sees it
 *   term_energy, term_gradient, term_energy_gradient, term_hessian_diagonal, term_reduce,
 *   term_admm_local, term_admm_contribute, term_transpose: the template's
 *   place_own(a, lane, at)        moves at's own arrays to the lane
 *   measure_own(a, at, s, turned) the largest stretch, and whether the element is inverted
 */
#include "engine/backends/device/term_kernels.h"

/* The group with its pointers moved to the thread's lane. */
PL_THREAD void place(const pl_term_arguments *a, int64_t thread, placed *at)
{
    at->block = thread / PL_BLOCK;
    at->lane = thread % PL_BLOCK;
    at->group = a->group;
    at->group.corner += at->lane;
    at->group.weight += at->lane;
    place_own(a, at->lane, at);
}

PL_THREAD pl_number *contributions_of(const pl_term_arguments *a, const placed *at)
{
    return (pl_number *)(a->contributions + at->lane);
}

/* ---- splitting ---- */

PL_THREAD void reduce_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    term_reduce(&at.group, a->x, a->values + at.lane, at.block, at.block + 1);
}

PL_THREAD void local_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    const pl_stage none = {0};
    pl_admm_local l = a->local;
    l.x = a->x;
    l.u += at.lane;
    l.z += at.lane;
    l.u_old += at.lane;
    l.z_old += at.lane;
    l.sums += at.lane;
    l.to_global = contributions_of(a, &at);
    l.dual = l.dual ? (pl_number *)((pl_number4 *)l.dual + at.lane) : NULL;
    term_admm_local(&at.group, &none, &l, at.block, at.block + 1);
}

PL_THREAD void contribute_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    term_admm_contribute(&at.group, a->u + at.lane, a->z + at.lane, contributions_of(a, &at),
                         at.block, at.block + 1);
}

PL_THREAD void transpose_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    term_transpose(&at.group, a->u + at.lane, contributions_of(a, &at), at.block, at.block + 1);
}

/* ---- descent ---- */

#ifndef LAW_HARD
PL_THREAD void energy_gradient_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    int64_t b = at.block;
    pl_number *out = contributions_of(a, &at);
    if (a->energy)
        term_energy_gradient(&at.group, a->x, a->energy + at.lane, out, b, b + 1);
    else
        term_gradient(&at.group, a->x, out, b, b + 1);
}

PL_THREAD void hessian_diagonal_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    term_hessian_diagonal(&at.group, a->x, contributions_of(a, &at), at.block, at.block + 1);
}

PL_THREAD void measure_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    pl_real stretch;
    int inverted = 0;
    place(a, thread, &at);
    term_energy(&at.group, a->x, a->energy + at.lane, at.block, at.block + 1);
    measure_own(a, &at, &stretch, &inverted);
    a->stretch_out[thread] = stretch;
    a->inverted_out[thread] = inverted;
}
#endif
