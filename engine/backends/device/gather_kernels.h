/* gather_kernels.h - shared by the kernels over vertices. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_GATHER_KERNELS_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_GATHER_KERNELS_H

#include "engine/backends/device/vertices.h"

/* The sum of the terms' contributions at a vertex, in the order of its list. */
PL_THREAD void gather(const pl_device_vertices *m, const pl_number4 *contributions, int64_t v,
                      pl_number f[3])
{
    pl_number x = 0, y = 0, z = 0;
    for (int32_t k = m->start[v]; k < m->start[v + 1]; k++) {
        const pl_number4 from = contributions[m->slot[k]];
        x += from.x;
        y += from.y;
        z += from.z;
    }
    f[0] = x;
    f[1] = y;
    f[2] = z;
}

#endif
