/* tets_kernels.h - kernels of tetrahedra, after tets_template.h for a material. Included by
 * tets_<material>_kernels.c, which then says TETS_KERNELS. */
#include "engine/backends/device/term_kernels.h"

typedef pl_tets_placed placed;

/* The group as a thread sees it: pointers at its lane. */
PL_THREAD void place(const pl_term_arguments *a, int64_t thread, placed *at)
{
    int64_t lane = thread % PL_BLOCK;
    at->block = thread / PL_BLOCK;
    at->lane = lane;
    at->group = a->group;
    at->tets = a->tets;
    at->group.corner += lane;
    at->group.weight += lane;
    at->tets.shape += lane;
    at->tets.volume += lane;
    at->tets.constants += lane;
    if (at->tets.blend)
        at->tets.blend += lane;
    at->tets.stretch = (const pl_stretch_ops *)&a->stretch;
}

PL_THREAD void energy_gradient_thread(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    if (a->energy)
        tets_energy_gradient(&at.group, a->x, a->energy + at.lane,
                             (pl_number *)(a->contributions + at.lane), at.block, at.block + 1);
    else
        tets_gradient(&at.group, a->x, (pl_number *)(a->contributions + at.lane), at.block,
                      at.block + 1);
}

PL_THREAD void hessian_diagonal_thread(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    tets_hessian_diagonal(&at.group, a->x, (pl_number *)(a->contributions + at.lane), at.block,
                          at.block + 1);
}

PL_THREAD void measure_thread(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    tets_energy(&at.group, a->x, a->energy + at.lane, at.block, at.block + 1);
    pl_real inverse[9], s[3];
    pl_mat3 F, U, V;
    load_shape(&at.tets, at.block, inverse);
    deformation(&at.group, at.block, a->x, inverse, &F);
    pl_svd3(&F, &U, s, &V);
    int real = at.tets.volume[at.block * PL_BLOCK] > 0;
    a->stretch_out[thread] = s[0];
    a->inverted_out[thread] = real && pl_mat3_det(&F) <= 0;
}

#define TETS_KERNELS(kind, name, freeze)                                                           \
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
    PL_TERM_KERNELS(kind, name, 4, 9, freeze)
