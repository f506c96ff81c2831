/* Tetrahedra of neo_hookean, for devices. */
#include "engine/kernels/neo_hookean.h"

#define MATERIAL neo_hookean
#include "engine/model/groups/tets_template.h"

#include "engine/backends/device/tets_kernels.h"

PL_TERM_KERNELS(tets_neo_hookean, PL_LOCAL_KERNEL, "neo_hookean", 4, 9, NULL,
                PL_NAMED(pl_device_tets_concavity))
