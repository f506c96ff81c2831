/* Links of up to 8 corners; compiled once per instruction set. */
#define LAW_BOTH
#define TERMS      link_8
#define TERMS_NAME "links"
#define CORNERS    8
#define COLUMNS    1
#include "engine/model/link_law.h"
#include "engine/model/terms_template.h"
