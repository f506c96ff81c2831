/* Tetrahedra of any material of principal stretches, for devices. */
#include "engine/kernels/stretch_kinds.h"
#include "engine/model/groups/tets_stretch.h"

#include "engine/backends/device/tets_kernels.h"

PL_THREAD void tets_stretch_freeze(const pl_freeze_arguments *a, int64_t thread)
{
    placed at;
    place(&a->term, thread, &at);
    tets_freeze(&at.group, &a->stage, at.block, at.block + 1);
}
PL_KERNEL(tets_stretch_freeze, tets_stretch_freeze, pl_freeze_arguments)

/* The least stretches of neighbours are anywhere, so the pointer is not moved to the lane. */
PL_THREAD void tets_stretch_spread(const pl_freeze_arguments *a, int64_t thread)
{
    placed at;
    place(&a->term, thread, &at);
    spread_to(&at.group, &at.tets, a->term.tets.least, at.block, 0);
}
PL_KERNEL(tets_stretch_spread, tets_stretch_spread, pl_freeze_arguments)

PL_TERM_KERNELS(tets_stretch, PL_LOCAL_ELSEWHERE, "stretch", 4, 9,
                PL_NAMED(pl_device_tets_stretch_freeze), PL_NAMED(pl_device_tets_concavity))
