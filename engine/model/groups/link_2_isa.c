/* Links of up to 2 corners; compiled once per instruction set. */
#define LAW_BOTH
#define LAW_HELD
#define TERMS      link_2
#define TERMS_NAME "links"
#define CORNERS    2
#define COLUMNS    1
#include "engine/model/groups/link_law.h"
#include "engine/model/groups/terms_template.h"
