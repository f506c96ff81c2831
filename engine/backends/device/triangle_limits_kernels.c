/* Strain limits of triangles, for devices. */
#define LAW_HARD
#define TERMS_NAME "strain limits"
#define CORNERS    3
#define COLUMNS    2
#include "engine/model/groups/triangle_limit_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

PL_SPLITTING_KERNELS(triangle_limits, PL_LOCAL_KERNEL)
PL_HARD_TABLE(triangle_limits, triangle_limits, TERMS_NAME, CORNERS, ROWS)
