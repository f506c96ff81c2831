/* Links of up to 4 corners, for devices. */
#define TERMS_NAME "links"
#define CORNERS    4
#define COLUMNS    1
#include "engine/model/groups/link_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

PL_TERM_KERNELS(link_4, PL_LOCAL_KERNEL, TERMS_NAME, CORNERS, ROWS, NULL, NULL)
PL_HARD_TABLE(hard_link_4, link_4, TERMS_NAME, CORNERS, ROWS)
