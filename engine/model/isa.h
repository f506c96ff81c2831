/* isa.h - the tables of groups of tetrahedra, one for each material model and instruction set. */
#ifndef PLIANT_ENGINE_MODEL_ISA_H
#define PLIANT_ENGINE_MODEL_ISA_H

#include "engine/isa.h"
#include "engine/model/group.h"
#include "engine/scene.h"

/* The functions of a group of tetrahedra of a material model on the current instruction set. */
const pl_group_ops *pl_tets_ops(pl_material_kind model);

#if defined(__x86_64__)
#define PL_TETS_OPS(model)                                                                         \
    extern const pl_group_ops pl_tets_##model##_ops_v2, pl_tets_##model##_ops_v3,                  \
        pl_tets_##model##_ops_v4
#else
#define PL_TETS_OPS(model) extern const pl_group_ops pl_tets_##model##_ops_base
#endif
PL_TETS_OPS(neo_hookean);
PL_TETS_OPS(corotated);
PL_TETS_OPS(arap);

#endif
