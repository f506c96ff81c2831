/* Strain limits of triangles. Compiled once per instruction set. */
#define LAW_HARD
#define TERMS      triangle_limits
#define TERMS_NAME "strain limits"
#define CORNERS    3
#define COLUMNS    2
#include "engine/model/groups/triangle_limit_law.h"
#include "engine/model/groups/terms_template.h"
