/* Vertices that a joint prox keeps apart (model/groups/touching.h), for devices: between_kernels.c computes `way`
 * before. One thread per vertex, padding included. */
#include "engine/backends/device/vertex_threads.h"

PL_THREAD void local_of(const pl_term_arguments *a, int64_t i)
{
    double v[3], z_hat[3], z[3];
    local_point(&a->local, a->x + 3 * (int64_t)a->group.corner[i], i, v, z_hat);
    for (int c = 0; c < 3; c++)
        z[c] = v[c] + a->way[value_at(i, c)];
    local_end(a, i, v, z_hat, z);
}

PL_KERNEL(touching_measure, measure_of, pl_term_arguments)
PL_SPLITTING_KERNELS(touching, PL_LOCAL_KERNEL)
PL_TERM_TABLE(touching, "touching", 1, 3, true, NULL, NULL, PL_TERM_NAMED(touching, measure), NULL,
              NULL, PL_SPLITTING_SLOTS(touching), NULL, NULL, NULL, NULL, NULL)
