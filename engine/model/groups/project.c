#include "engine/model/groups/project.h"

#include "engine/isa.h"

const pl_project_ops *pl_project_find(void)
{
#if defined(__x86_64__)
    static const pl_project_ops *const OPS[PL_ISA_COUNT] = {&pl_project_ops_v2, &pl_project_ops_v3,
                                                            &pl_project_ops_v4};
    return OPS[pl_isa_current()];
#else
    return &pl_project_ops_base;
#endif
}
