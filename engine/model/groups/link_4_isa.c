/* Links of up to 4 corners; compiled once per instruction set. */
#define LAW_BOTH
#define TERMS      link_4
#define TERMS_NAME "links"
#define CORNERS    4
#define COLUMNS    1
#include "engine/model/groups/link_law.h"
#include "engine/model/groups/terms_template.h"
