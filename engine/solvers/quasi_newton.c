/* L-BFGS (Liu 2017, algorithms 1 and 2; history.h has the recursion), as two methods that differ in their initial
 * matrix:
 *
 *     quasi_newton   B0 = A^-1, the constant matrix of ADMM, M/(a h)^2 + D^T W^2 D: one solve per
 *                    iteration
 *     lbfgs          B0 = P^-1, diagonal: Jacobi's (Wang 2016, section 4.1), or a multiple of the
 *                    identity, which with the history's gamma is Liu 2017, eq. 13. When P is
 *                    refreshed, the pairs are kept and their w = P^-1 t recomputed.
 *
 * Where energies are infinite (log J of an inverted element), a trial is outside the domain and alpha is halved.
 */
#include "engine/solvers/descent.h"
#include "engine/solvers/history.h"

static pl_status create(pl_descent *d)
{
    return pl_history_create(d->backend, d->model->solver.window, (pl_history **)&d->rule);
}

static void destroy(pl_descent *d)
{
    pl_history_destroy(d->rule, d->backend);
}

static void forget(pl_descent *d)
{
    pl_history_forget(d->rule);
}

/* A solve that continues has another objective with nearly the same curvature: if A stays, the pairs stay. */
static void begin(pl_descent *d)
{
    if (d->stage->bound == 0 || !d->law->matrix)
        pl_history_forget(d->rule);
}

static bool bare(const pl_descent *d)
{
    return ((const pl_history *)d->rule)->count == 0;
}

static pl_status precondition(pl_descent *d, bool stepped)
{
    const pl_backend_ops *ops = d->backend->ops;
    pl_history_point at = {d->g, d->g_old, d->p, d->p_old};
    pl_status status = PL_OK;
    if (d->law->matrix)
        status = ops->matrix->solve(d->backend, d->g, d->p);
    else
        ops->rows->scale(d->backend, d->inverse, d->g, d->p);
    if (status == PL_OK)
        d->gp = pl_history_take(d->rule, d->backend, &at, stepped, d->alpha);
    return status;
}

static void refreshed(pl_descent *d, const pl_array *inverse_old)
{
    d->backend->ops->rows->scale(d->backend, d->inverse, d->g_old, d->p_old);
    pl_history_rescale(d->rule, d->backend, inverse_old, d->inverse);
}

static void direction(pl_descent *d)
{
    d->d = pl_history_direction(d->rule, d->backend, d->p, d->gp, &d->slope);
}

const pl_descent_rule pl_quasi_newton_rule = {
    .what = "quasi-Newton",
    .matrix = true,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .forget = forget,
    .bare = bare,
    .precondition = precondition,
    .direction = direction,
    .first = pl_descent_first_is_one,
    .curvature = 0.9,
};

static const pl_descent_rule LBFGS = {
    .what = "L-BFGS",
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .forget = forget,
    .bare = bare,
    .precondition = precondition,
    .refreshed = refreshed,
    .direction = direction,
    .first = pl_descent_first_is_one,
    .curvature = 0.9,
};

PL_DESCENT_SOLVER(quasi_newton, pl_quasi_newton_rule);
PL_DESCENT_SOLVER(lbfgs, LBFGS);
