/* Triangles of any material; compiled once per instruction set. */
#include <stdbool.h>
#define TERMS      triangles
#define TERMS_NAME "triangles"
#define CORNERS    3
#define COLUMNS    2
#include "engine/model/groups/triangle_law.h"
#include "engine/model/groups/terms_template.h"
