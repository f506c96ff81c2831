#include "engine/solvers/solver.h"

const pl_solver_ops *pl_solver_find(pl_method_kind method)
{
    static const pl_solver_ops *const solvers[PL_METHOD_KINDS] = {
#define SOLVER(kind, name) &pl_solver_##name,
        PL_EACH_METHOD(SOLVER)
#undef SOLVER
    };
    return solvers[method];
}

/* The sweep to the answer relies on these (contact/set.h). */
static const double LACK = 0.1, LACK_LOOSE = 0.4;

double pl_solver_lack(const pl_backend_stage *stage)
{
    return stage->loose > 1 ? LACK_LOOSE : LACK;
}
