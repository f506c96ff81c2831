#include "engine/model/groups/isa.h"

#if defined(__x86_64__)
#define OPS(model)                                                                                 \
    {                                                                                              \
        &pl_tets_##model##_ops_v2, &pl_tets_##model##_ops_v3, &pl_tets_##model##_ops_v4            \
    }
#else
#define OPS(model)                                                                                 \
    {                                                                                              \
        &pl_tets_##model##_ops_base, &pl_tets_##model##_ops_base, &pl_tets_##model##_ops_base      \
    }
#endif

static const pl_group_ops *const TETS[PL_MATERIAL_KINDS][PL_ISA_COUNT] = {
    [PL_MATERIAL_NEO_HOOKEAN] = OPS(neo_hookean),
    [PL_MATERIAL_COROTATED] = OPS(corotated),
    [PL_MATERIAL_ARAP] = OPS(arap),
};

static const pl_group_ops *const STRETCH[PL_ISA_COUNT] = OPS(stretch_solid);

const pl_group_ops *pl_tets_ops(pl_material_kind model, bool invertible)
{
    const pl_group_ops *own = TETS[model][pl_isa_current()];
    return own && !invertible ? own : STRETCH[pl_isa_current()];
}

const pl_stretch_ops *pl_stretch_ops_of(pl_material_kind model)
{
#if defined(__x86_64__)
    static const pl_stretch_ops *const tables[PL_ISA_COUNT] = {
        pl_stretch_tables_v2, pl_stretch_tables_v3, pl_stretch_tables_v4};
    return &tables[pl_isa_current()][model];
#else
    return &pl_stretch_tables_base[model];
#endif
}
