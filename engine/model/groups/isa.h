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

typedef pl_stretch_ops pl_stretch_ops_of_kinds[PL_MATERIAL_KINDS];
PL_ISA_DECLARE(const pl_stretch_ops_of_kinds, pl_stretch_tables);
PL_ISA_DECLARE(const pl_group_ops, pl_tets_neo_hookean_ops);
PL_ISA_DECLARE(const pl_group_ops, pl_tets_corotated_ops);
PL_ISA_DECLARE(const pl_group_ops, pl_tets_arap_ops);
PL_ISA_DECLARE(const pl_group_ops, pl_tets_stretch_solid_ops);

#endif
