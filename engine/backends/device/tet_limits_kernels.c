/* Strain limits of tetrahedra, for devices. */
#define LAW_HARD
#define TERMS_NAME "strain limits"
#define CORNERS    4
#define COLUMNS    3
#include "engine/model/groups/tet_limit_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

PL_SPLITTING_KERNELS(tet_limits, PL_LOCAL_KERNEL)
PL_HARD_TABLE(tet_limits, tet_limits, TERMS_NAME, CORNERS, ROWS)
