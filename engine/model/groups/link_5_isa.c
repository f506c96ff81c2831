/* Links of up to 5 corners, which are soft: attachments. Compiled once per instruction set. */
#define TERMS      link_5
#define TERMS_NAME "links"
#define CORNERS    5
#define COLUMNS    1
#include "engine/model/groups/link_law.h"
#include "engine/model/groups/terms_template.h"
