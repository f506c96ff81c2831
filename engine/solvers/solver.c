#include "engine/solvers/solver.h"

const pl_solver_ops *pl_solver_find(pl_method_kind method)
{
    switch (method) {
    case PL_METHOD_ADMM:
        return &pl_solver_admm;
    case PL_METHOD_QUASI_NEWTON:
        return &pl_solver_quasi_newton;
    case PL_METHOD_NEWTON:
        return &pl_solver_newton;
    case PL_METHOD_LBFGS:
        return &pl_solver_lbfgs;
    case PL_METHOD_GRADIENT_DESCENT:
        return &pl_solver_gradient_descent;
    case PL_METHOD_BARZILAI_BORWEIN:
        return &pl_solver_barzilai_borwein;
    case PL_METHOD_NONLINEAR_CG:
        return &pl_solver_nonlinear_cg;
    case PL_METHOD_CHEBYSHEV_SEMI_ITERATIVE:
        return &pl_solver_chebyshev_semi_iterative;
    case PL_METHOD_CHEBYSHEV_DESCENT:
        return &pl_solver_chebyshev_descent;
    case PL_METHOD_PROJECTIVE_DYNAMICS:
        return &pl_solver_projective_dynamics;
    }
    return NULL;
}
