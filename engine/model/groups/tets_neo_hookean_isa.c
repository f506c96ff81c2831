/* Neo-Hookean tetrahedra; compiled once per instruction set. */
#include "engine/kernels/neo_hookean.h"

#define TETS_LOCAL
#define MATERIAL      neo_hookean
#define MATERIAL_NAME "neo_hookean"
#include "engine/model/groups/tets_template.h"
