/* Links of up to 5 corners, attachments, for devices. */
#define TERMS_NAME "links"
#define CORNERS    5
#define COLUMNS    1
#include "engine/model/groups/link_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

PL_TERM_KERNELS(link_5, PL_LOCAL_KERNEL, TERMS_NAME, CORNERS, ROWS, NULL, NULL)
