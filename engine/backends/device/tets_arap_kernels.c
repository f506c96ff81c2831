/* Tetrahedra of arap, for devices. */
#include "engine/kernels/arap.h"

#define MATERIAL arap
#include "engine/model/tets_template.h"

#include "engine/backends/device/tets_kernels.h"

TETS_KERNELS(tets_arap, "arap", NULL)
