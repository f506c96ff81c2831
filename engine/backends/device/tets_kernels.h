/* tets_kernels.h - kernels of tetrahedra, after tets_template.h for a material. Included by
 * tets_<material>_kernels.c, which then expands PL_TERM_KERNELS. */
#include "engine/backends/device/term_kernels.h"

typedef pl_tets_placed placed;
#define term_energy           tets_energy
#define term_gradient         tets_gradient
#define term_energy_gradient  tets_energy_gradient
#define term_hessian_diagonal tets_hessian_diagonal
#define term_reduce           tets_reduce
#define term_admm_local       tets_admm_local
#define term_admm_contribute  tets_admm_contribute
#define term_transpose        tets_transpose

PL_THREAD void place_own(const pl_term_arguments *a, int64_t lane, placed *at)
{
    at->tets = a->tets;
    at->tets.shape += lane;
    at->tets.volume += lane;
    at->tets.constants += lane;
    if (at->tets.blend)
        at->tets.blend += lane;
    if (at->tets.least)
        at->tets.least += lane;
    at->tets.stretch = (const pl_stretch_ops *)&a->stretch;
}

PL_THREAD void measure_own(const pl_term_arguments *a, const placed *at, pl_real *stretch,
                           int *inverted)
{
    pl_real inverse[9], s[3];
    pl_mat3 F, U, V;
    load_shape(&at->tets, at->block, inverse);
    deformation(&at->group, at->block, a->x, inverse, &F);
    pl_svd3(&F, &U, s, &V);
    *stretch = s[0];
    *inverted = at->tets.volume[at->block * PL_BLOCK] > 0 && pl_mat3_det(&F) <= 0;
}

#include "engine/backends/device/term_threads.h"

/* tets_stretch_prox_kernels.c: for any material, from its constants. */
PL_C void PL_NAMED(pl_device_tets_concavity)(pl_device_queue *queue,
                                             const pl_term_arguments *arguments, int64_t threads);
