/* As-rigid-as-possible tetrahedra; compiled once per instruction set. */
#include "engine/kernels/arap.h"

#define TETS_DISTANCE
#define MATERIAL      arap
#define MATERIAL_NAME "arap"
#include "engine/model/groups/tets_template.h"
