/* Tetrahedra of arap, for devices. */
#include "engine/kernels/arap.h"

#define MATERIAL arap
#include "engine/model/groups/tets_template.h"

#include "engine/backends/device/tets_kernels.h"

PL_TERM_KERNELS(tets_arap, PL_LOCAL_KERNEL, "arap", 4, 9, NULL, NULL)
