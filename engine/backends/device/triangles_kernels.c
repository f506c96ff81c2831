/* Triangles of any material, for devices. */
#include "engine/kernels/stretch_kinds.h"

#define TERMS_NAME "triangles"
#define CORNERS    3
#define COLUMNS    2
#include "engine/model/groups/triangle_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

PL_TERM_KERNELS(triangles, PL_LOCAL_ELSEWHERE, TERMS_NAME, CORNERS, ROWS, NULL, NULL)
