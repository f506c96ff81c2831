#include "engine/solvers/global_step.h"

#include "engine/solvers/arrays.h"

#include <math.h>
#include <stdio.h>

bool pl_global_init(const pl_model *model, pl_backend *backend, pl_global *g)
{
    pl_array **rows[] = {&g->base, &g->rhs, &g->rhs_old, &g->y, &g->y_old};
    g->backend = backend;
    return pl_rows_create(model, backend, rows, sizeof rows / sizeof *rows);
}

void pl_global_clear(pl_global *g)
{
    pl_array *rows[] = {g->base, g->rhs, g->rhs_old, g->y, g->y_old};
    if (g->backend)
        pl_rows_release(g->backend, rows, sizeof rows / sizeof *rows);
}

void pl_global_begin(pl_global *g, const pl_backend_stage *stage, const pl_array *x)
{
    g->backend->ops->rows->get_free(g->backend, x, g->y);
    pl_global_go_on(g, stage, x);
}

void pl_global_go_on(pl_global *g, const pl_backend_stage *stage, const pl_array *x)
{
    const pl_backend_ops *ops = g->backend->ops;
    ops->splitting->stage_rows(g->backend, stage, x, g->base);
    if (!pl_backend_iterates(g->backend))
        ops->factored->multiply(g->backend, g->y, g->rhs);
}

pl_status pl_global_step(pl_global *g, pl_array *x, double *length)
{
    const pl_backend_ops *ops = g->backend->ops;
    double square = 0;
    pl_rows_swap(&g->rhs, &g->rhs_old);
    pl_rows_swap(&g->y, &g->y_old);
    ops->splitting->gather_global(g->backend, g->base, g->rhs);
    const bool iterates = pl_backend_iterates(g->backend);
    pl_status status = iterates
                           ? ops->iterated->solve_from(g->backend, g->rhs, g->y_old, g->y, &square)
                           : ops->matrix->solve(g->backend, g->rhs, g->y);
    if (status != PL_OK)
        return status;
    if (!iterates)
        square = ops->rows->dot_change(g->backend, g->y, g->y_old, g->rhs, g->rhs_old);
    ops->rows->set_free(g->backend, g->y, x);
    /* Rounding may leave a tiny negative square at convergence; NaN must stay NaN. */
    *length = square < 0 ? 0 : sqrt(square);
    return PL_OK;
}

pl_status pl_global_fail(pl_failure *failure)
{
    failure->code = PL_FAILURE_NOT_CONVERGED;
    snprintf(failure->message, sizeof failure->message,
             "The multigrid of the constant matrix did not converge in %d cycles.", PL_CYCLES_MOST);
    snprintf(failure->advice, sizeof failure->advice, "Use solver.matrix \"cholesky\".");
    return PL_FAILED;
}
