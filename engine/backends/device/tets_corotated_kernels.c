/* Tetrahedra of corotated, for devices. */
#include "engine/kernels/corotated.h"

#define MATERIAL corotated
#include "engine/model/tets_template.h"

#include "engine/backends/device/tets_kernels.h"

TETS_KERNELS(tets_corotated, "corotated", NULL)
