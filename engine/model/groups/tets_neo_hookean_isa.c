/* Neo-Hookean tetrahedra; compiled once per instruction set. */
#include "engine/kernels/neo_hookean.h"
#include "engine/model/groups/neo_hookean_around.h"

#define TETS_LOCAL    PL_NEO_HOOKEAN_AROUND(PL_ISA)
#define MATERIAL      neo_hookean
#define MATERIAL_NAME "neo_hookean"
#include "engine/model/groups/tets_template.h"
