/* Descents that remember at most one direction, along rows scaled by a diagonal P or the constant matrix
 * (descent.h):
 *
 *     gradient_descent           d = -p, backtracking from the last step's length / 0.7 (Wang 2016,
 *                                section 4.2, every iteration)
 *     barzilai_borwein           d = -p, the first step tried is s.P s / s.(g - g_old) of the last step
 *                                s = x - x_old (Barzilai and Borwein 1988, eq. 5, in the norm of P).
 *                                With s = alpha_old d_old it needs no new sum:
 *                                alpha = alpha_old g_old.p_old / (g.d_old - g_old.d_old).
 *     nonlinear_cg               d = -p + beta d_old with Polak and Ribiere's beta, never below 0:
 *                                beta = max(0, p.(g - g_old) / (g_old.p_old)). Wang 2016, eq. 4 has
 *                                Fletcher and Reeves's, g.p / (g_old.p_old), which becomes slow after
 *                                a short step; this one then restarts by itself. The step satisfies
 *                                Wolfe's conditions with c = 0.1; the first trial makes the predicted
 *                                decrease that of the last step, alpha g.d = alpha_old g_old.d_old.
 *     chebyshev_semi_iterative   d = -omega p + (omega - 1) (x - x_old) (Liu 2017, algorithm 3) with
 *                                p = A^-1 g; omega = 1 for ten iterations, then 2 / (2 - rho^2),
 *                                then 4 / (4 - rho^2 omega). If that leads up, the momentum is
 *                                dropped and omega begins again.
 *
 * rho, the spectral radius of I - A^-1 H, is the solver's `rho`. With 0, it is the ratio of decrements in the last
 * of the plain iterations (Wang 2016, eq. 8). This is somewhat low: after ten iterations, the slowest part of the
 * error is not yet alone.
 */
#include "engine/solvers/descent.h"

#include <math.h>
#include <stdlib.h>

/* Plain iterations before Chebyshev's weights (S of algorithm 3), and the number of the last of them from which rho
 * is estimated. */
enum { PLAIN = 10, SEEN = 4 };
static const double RHO_MOST = 0.9999;

typedef struct directions {
    pl_array *now, *old; /* rows */
    bool known;          /* true if old belongs to the last step */
    /* chebyshev_semi_iterative */
    int64_t k; /* iterations since omega began */
    double omega, rho;
    double decrements[PLAIN + 1];
} directions;

static void destroy(pl_descent *d)
{
    directions *r = d->rule;
    if (r) {
        d->backend->ops->memory->release(d->backend, r->now);
        d->backend->ops->memory->release(d->backend, r->old);
    }
    free(r);
}

static pl_status create(pl_descent *d)
{
    directions *r = d->rule = calloc(1, sizeof *r);
    if (!r)
        return PL_NO_MEMORY;
    int64_t rows = 3 * d->model->free_vertices;
    r->now = d->backend->ops->memory->alloc(d->backend, rows);
    r->old = d->backend->ops->memory->alloc(d->backend, rows);
    return r->now && r->old ? PL_OK : PL_NO_MEMORY;
}

static void forget(pl_descent *d)
{
    directions *r = d->rule;
    r->known = false;
    r->k = d->out->iterations < PLAIN ? d->out->iterations : PLAIN;
}

static bool bare(const pl_descent *d)
{
    return !((const directions *)d->rule)->known;
}

/* now = on * old - by * p, and its slope; the last trial computed g . old. */
static void make(pl_descent *d, double by, double on, bool remember)
{
    const pl_backend_ops *ops = d->backend->ops;
    directions *r = d->rule;
    const pl_array *list[] = {d->p, r->old};
    const double coefficient[] = {-by, on};
    ops->rows->combine(d->backend, list, coefficient, r->known ? 2 : 1, r->now);
    d->d = r->now;
    d->slope = -by * d->gp + (r->known ? on * d->slope_end : 0);
    if (remember) {
        pl_rows_swap(&r->now, &r->old);
        r->known = true;
    }
}

/* ---- gradient_descent ---- */

static void steepest(pl_descent *d)
{
    make(d, 1, 0, false);
}

static double a_little_longer(const pl_descent *d)
{
    return d->alpha > 0 ? d->alpha / 0.7 : 1;
}

static const pl_descent_rule GRADIENT_DESCENT = {
    .what = "gradient descent",
    .create = create,
    .destroy = destroy,
    .forget = forget,
    .precondition = pl_descent_apply,
    .direction = steepest,
    .first = a_little_longer,
};

/* ---- barzilai_borwein ---- */

/* If the slope did not rise along the last step, there is no curvature to use. */
static double by_the_last_curvature(const pl_descent *d)
{
    double rise = d->slope_end - d->slope_old, alpha = d->alpha * d->gp_old / rise;
    return d->alpha > 0 && rise > 0 && isfinite(alpha) ? fmin(fmax(alpha, 1e-6), 1e6)
                                                       : a_little_longer(d);
}

static const pl_descent_rule BARZILAI_BORWEIN = {
    .what = "Barzilai and Borwein's gradient descent",
    .create = create,
    .destroy = destroy,
    .forget = forget,
    .precondition = pl_descent_apply,
    .direction = steepest,
    .first = by_the_last_curvature,
};

/* ---- nonlinear_cg ---- */

static void conjugate(pl_descent *d)
{
    directions *r = d->rule;
    double beta = 0;
    if (r->known) {
        double across = d->backend->ops->rows->dot(d->backend, d->p, d->g_old);
        beta = d->gp_old > 0 ? fmax(0, (d->gp - across) / d->gp_old) : 0;
    }
    r->known = beta > 0;
    make(d, 1, beta, true);
    r->known = true;
}

static double like_the_last(const pl_descent *d)
{
    double like = d->alpha * d->slope_old / d->slope;
    return d->alpha > 0 && isfinite(like) ? fmin(fmax(like, 1e-6), 1e6) : 1;
}

static const pl_descent_rule NONLINEAR_CG = {
    .what = "nonlinear conjugate gradient",
    .create = create,
    .destroy = destroy,
    .forget = forget,
    .bare = bare,
    .precondition = pl_descent_apply,
    .direction = conjugate,
    .first = like_the_last,
    .curvature = 0.1,
    .always_wolfe = true,
};

/* ---- chebyshev_semi_iterative ---- */

static double spectral_radius(const pl_descent *d)
{
    const directions *r = d->rule;
    if (d->model->solver.rho > 0)
        return d->model->solver.rho;
    double fell = r->decrements[PLAIN] / r->decrements[PLAIN - SEEN];
    return isfinite(fell) ? fmin(pow(fell, 1.0 / SEEN), RHO_MOST) : 0;
}

static void accelerated(pl_descent *d)
{
    directions *r = d->rule;
    if (d->out->iterations <= PLAIN)
        r->decrements[d->out->iterations] = d->out->decrement;
    if (d->out->iterations == PLAIN)
        r->rho = spectral_radius(d);
    double square = r->rho * r->rho;
    bool momentum = r->known && r->k >= PLAIN;
    r->omega = !momentum ? 1 : r->k == PLAIN ? 2 / (2 - square) : 4 / (4 - square * r->omega);
    r->k += momentum || r->k < PLAIN;
    make(d, r->omega, (r->omega - 1) * d->alpha, true);
}

static const pl_descent_rule SEMI_ITERATIVE = {
    .what = "Chebyshev semi-iterative",
    .matrix = true,
    .create = create,
    .destroy = destroy,
    .forget = forget,
    .bare = bare,
    .precondition = pl_descent_apply,
    .direction = accelerated,
    .first = pl_descent_first_is_one,
};

/* ---- the methods ---- */

PL_DESCENT_SOLVER(gradient_descent, GRADIENT_DESCENT);
PL_DESCENT_SOLVER(barzilai_borwein, BARZILAI_BORWEIN);
PL_DESCENT_SOLVER(nonlinear_cg, NONLINEAR_CG);
PL_DESCENT_SOLVER(chebyshev_semi_iterative, SEMI_ITERATIVE);
