/* Tetrahedra of neo_hookean, for devices. */
#include "engine/kernels/neo_hookean.h"

#define MATERIAL neo_hookean
#include "engine/model/tets_template.h"

#include "engine/backends/device/tets_kernels.h"

TETS_KERNELS(tets_neo_hookean, "neo_hookean", NULL)
