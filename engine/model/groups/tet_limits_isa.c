/* Strain limits of tetrahedra. Compiled once per instruction set. */
#define LAW_HARD
#define TERMS      tet_limits
#define TERMS_NAME "strain limits"
#define CORNERS    4
#define COLUMNS    3
#include "engine/model/groups/tet_limit_law.h"
#include "engine/model/groups/terms_template.h"
