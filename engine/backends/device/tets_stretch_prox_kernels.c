/* The large functions of tetrahedra of any material, for devices: prox and concavity. */
#define PL_CALLS
#include "engine/kernels/stretch_kinds.h"
#include "engine/model/groups/tets_stretch.h"

#include "engine/backends/device/tets_kernels.h"

PL_THREAD void concavity_of(const pl_term_arguments *a, int64_t thread)
{
    placed at;
    place(a, thread, &at);
    tets_concavity(&at.group, a->z + at.lane, a->values + at.lane, at.block, at.block + 1);
}
PL_KERNEL(tets_concavity, concavity_of, pl_term_arguments)

PL_LOCAL_KERNEL(tets_stretch)
