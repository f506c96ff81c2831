#include "engine/model/groups/isa.h"

static const pl_group_ops *const TETS[PL_MATERIAL_KINDS][PL_ISA_COUNT] = {
    [PL_MATERIAL_NEO_HOOKEAN] = PL_ISA_TABLE(pl_tets_neo_hookean_ops),
    [PL_MATERIAL_COROTATED] = PL_ISA_TABLE(pl_tets_corotated_ops),
    [PL_MATERIAL_ARAP] = PL_ISA_TABLE(pl_tets_arap_ops),
};

static const pl_group_ops *const STRETCH[PL_ISA_COUNT] = PL_ISA_TABLE(pl_tets_stretch_solid_ops);

const pl_group_ops *pl_tets_ops(pl_material_kind model, bool invertible)
{
    const pl_group_ops *own = TETS[model][pl_isa_current()];
    return own && !invertible ? own : STRETCH[pl_isa_current()];
}

const pl_stretch_ops *pl_stretch_ops_of(pl_material_kind model)
{
    static const pl_stretch_ops_of_kinds *const tables[PL_ISA_COUNT] =
        PL_ISA_TABLE(pl_stretch_tables);
    return &(*tables[pl_isa_current()])[model];
}
