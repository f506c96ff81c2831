#include "engine/model/groups/project.h"

#include "engine/isa.h"

const pl_project_ops *pl_project_find(void)
{
    static const pl_project_ops *const OPS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_project_ops);
    return OPS[pl_isa_current()];
}
