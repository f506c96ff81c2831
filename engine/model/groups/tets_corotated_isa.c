/* Corotated tetrahedra; compiled once per instruction set. */
#include "engine/kernels/corotated.h"

#define MATERIAL      corotated
#define MATERIAL_NAME "corotated"
#include "engine/model/groups/tets_template.h"
