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
    }
    return NULL;
}
