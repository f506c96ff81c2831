/* Factors for programs that need none and are built where CHOLMOD may not be: there is no memory for
 * any, and so nothing to solve with. */
#include "engine/linear/linear.h"

#include <stddef.h>

pl_status pl_factor_create(const pl_sparse *a, pl_factor **out)
{
    *out = NULL;
    return PL_NO_MEMORY;
}

void pl_factor_destroy(pl_factor *f) {}

pl_status pl_solve_work_create(const pl_factor *f, int32_t threads, pl_solve_work **out)
{
    *out = NULL;
    return PL_NO_MEMORY;
}

void pl_solve_work_destroy(pl_solve_work *w) {}

pl_status pl_factor_solve3(const pl_factor *f, pl_solve_work *w, const double *b, double *x)
{
    return PL_FAILED;
}

int64_t pl_factor_nonzeros(const pl_factor *f)
{
    return 0;
}

pl_status pl_refactor_create(const pl_sparse *a, int32_t block, pl_refactor **out)
{
    *out = NULL;
    return PL_NO_MEMORY;
}

void pl_refactor_destroy(pl_refactor *f) {}

pl_status pl_refactor_make(pl_refactor *f, const pl_sparse *a, double shift)
{
    return PL_FAILED;
}

pl_status pl_refactor_solve(pl_refactor *f, const double *b, double *x)
{
    return PL_FAILED;
}
