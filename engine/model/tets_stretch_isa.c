/* Tetrahedra of any material of principal stretches; compiled once per instruction set. */
#include "engine/model/tets_stretch.h"
