/* Links of up to 2 corners, for devices. */
#define TERMS_NAME "links"
#define CORNERS    2
#define COLUMNS    1
#include "engine/model/groups/link_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

PL_TERM_KERNELS(link_2, PL_LOCAL_KERNEL, TERMS_NAME, CORNERS, ROWS, NULL, NULL)
PL_HARD_TABLE(hard_link_2, link_2, TERMS_NAME, CORNERS, ROWS)
