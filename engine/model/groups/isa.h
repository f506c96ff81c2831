/* isa.h - the tables of material models and of groups of tetrahedra, for each instruction set. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_ISA_H
#define PLIANT_ENGINE_MODEL_GROUPS_ISA_H

#include "engine/isa.h"
#include "engine/kernels/stretch.h"
#include "engine/scene/material_kind.h"
#include "engine/model/group.h"

/* The functions of a group of tetrahedra of a material model on the current instruction set: the model's own, or,
 * for invertible models, those that call its table. */
const pl_group_ops *pl_tets_ops(pl_material_kind model, bool invertible);
/* A material model in principal stretches on the current instruction set. */
const pl_stretch_ops *pl_stretch_ops_of(pl_material_kind model);

#if defined(__x86_64__)
#define PL_TETS_OPS(model)                                                                         \
    extern const pl_group_ops pl_tets_##model##_ops_v2, pl_tets_##model##_ops_v3,                  \
        pl_tets_##model##_ops_v4
extern const pl_stretch_ops pl_stretch_tables_v2[PL_MATERIAL_KINDS],
    pl_stretch_tables_v3[PL_MATERIAL_KINDS], pl_stretch_tables_v4[PL_MATERIAL_KINDS];
#else
#define PL_TETS_OPS(model) extern const pl_group_ops pl_tets_##model##_ops_base
extern const pl_stretch_ops pl_stretch_tables_base[PL_MATERIAL_KINDS];
#endif
PL_TETS_OPS(neo_hookean);
PL_TETS_OPS(corotated);
PL_TETS_OPS(arap);
PL_TETS_OPS(stretch_solid);

#endif
