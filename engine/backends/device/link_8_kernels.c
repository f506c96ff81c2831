/* Links of up to 8 corners, for devices. */
#define TERMS_NAME "links"
#define CORNERS    8
#define COLUMNS    1
#include "engine/model/link_law.h"
#include "engine/model/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

TERMS_KERNELS(link_8)
