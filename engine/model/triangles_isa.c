/* Triangles of any material; compiled once per instruction set. */
#include <stdbool.h>
#define TERMS      triangles
#define TERMS_NAME "triangles"
#define CORNERS    3
#define COLUMNS    2
#include "engine/model/triangle_law.h"
#include "engine/model/terms_template.h"
