/* Tetrahedra of corotated, for devices. */
#include "engine/kernels/corotated.h"

#define MATERIAL corotated
#include "engine/model/groups/tets_template.h"

#include "engine/backends/device/tets_kernels.h"

PL_TERM_KERNELS(tets_corotated, PL_LOCAL_KERNEL, "corotated", 4, 9, NULL,
                PL_NAMED(pl_device_tets_concavity))
