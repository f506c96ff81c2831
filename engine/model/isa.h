/* isa.h - which instruction set the kernels run on. Every file named *_isa.c is compiled once for
 * each, and the table of the best one that this processor has is used; PLIANT_ISA in the
 * environment forces another. The bits do not depend on it: one block width, no contraction, no
 * approximation.
 */
#ifndef PLIANT_ENGINE_MODEL_ISA_H
#define PLIANT_ENGINE_MODEL_ISA_H

#include "engine/model/group.h"
#include "engine/scene.h"

typedef enum pl_isa { PL_ISA_V2, PL_ISA_V3, PL_ISA_V4, PL_ISA_COUNT } pl_isa;

/* The instruction set in use, decided at the first call. */
pl_isa pl_isa_current(void);
/* "x86-64-v4", ... or "base" where the build has but one. */
const char *pl_isa_name(pl_isa isa);

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
