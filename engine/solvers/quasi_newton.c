/* Quasi-Newton with L-BFGS on a constant matrix (Liu 2017, algorithms 1 and 2):
 *
 *     repeat   p <- A^-1 g(x),  d <- -B g by the two-loop recursion with A0 = A / gamma
 *              alpha <- 1, halved until e(x + alpha d) <= e(x) + 0.3 alpha g.d     Armijo
 *              x <- x + alpha d
 *
 * with A = M/(a h)^2 + D^T W^2 D, the matrix of ADMM. Each iteration makes one solve, p = A^-1 g.
 * Of a pair s = x' - x, t = g' - g the history keeps s and w = A^-1 t = p' - p, which comes from
 * those solves; t itself is never needed:
 *
 *     q = -g, then newest to oldest:  zeta_i = s_i.q / rho_i,  q -= zeta_i t_i,  rho_i = s_i.t_i
 *     r = gamma A^-1 q = -gamma (p + sum zeta_i w_i)
 *     oldest to newest:               r += s_i (zeta_i - t_i.r / rho_i),  t_i.p = w_i.g
 *
 * so every coefficient follows from the inner products s_i.g, w_i.g, s_i.t_j and w_i.t_j: the
 * history is read once to make them and once to make d (`pair` and `combine`), not four times in
 * turn. gamma = s.t / (t.w) of the newest pair is the inverse curvature along t in the norm of A.
 *
 * A pair is kept where s.t > 0, as it must be for B to be positive; then d goes down. Where
 * energies are infinite (log J of an inverted element) a trial is outside and alpha is halved.
 *
 * |p|_A = (g.p)^(1/2) is the Newton decrement in the norm of A, J^(1/2): what is left of the step
 * to the minimum of a quadratic with Hessian A. It is held against that of the initial guess, or,
 * where that was the answer already (free flight), against what rounding of positions leaves of it:
 * a gradient is uncertain by about epsilon A_ii |x_i| at a vertex, a decrement by epsilon
 * (sum A_ii |x_i|^2)^(1/2).
 */
#include "engine/solvers/solver.h"

#include "engine/clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Armijo's fraction of the predicted decrease, and what a rejected step is multiplied by: Liu's. */
static const double ARMIJO = 0.3, SHRINK = 0.5;
/* Shorter steps are not tried. */
static const double SHORTEST = 1e-12;
/* A difference of energies below this of their size is rounding. */
static const double ENERGY_NOISE = 1e-13;
/* Decrements below this many roundings of positions are noise. */
static const double ROUNDING = 16;
/* Curvature s.t / (t.w) that a pair must have at least. */
static const double LEAST_CURVATURE = 1e-10;

/* The pairs, in slots of which the last in order is being filled; the scalars by slot. */
typedef struct history {
    int32_t window, count;            /* most pairs, pairs */
    int32_t order[PL_WINDOW_MAX + 1]; /* slots, oldest first; order[count] is free */
    double *s[PL_WINDOW_MAX + 1], *w[PL_WINDOW_MAX + 1];       /* rows */
    double sg[PL_WINDOW_MAX + 1], wg[PL_WINDOW_MAX + 1];       /* with the gradient at x */
    double (*st)[PL_WINDOW_MAX + 1], (*wt)[PL_WINDOW_MAX + 1]; /* [i][j], i not newer than j */
    double gamma;
} history;

typedef struct quasi_newton {
    pl_solver base;
    const pl_model *model;
    pl_backend *backend;
    double *x_new;                 /* positions */
    double *g, *g_old, *p, *p_old; /* rows; p = A^-1 g */
    history history;
    pl_iteration *detail; /* [iterations + 1], or NULL */
} quasi_newton;

/* What one solve keeps between its phases. */
typedef struct progress {
    pl_solve_result *out;
    double start_ms;
    double objective, alpha, slope; /* slope: g.d */
    double energy_noise, decrement_noise;
} progress;

static void quasi_newton_destroy(pl_solver *solver)
{
    quasi_newton *s = (quasi_newton *)solver;
    const pl_backend_ops *ops = s->backend->ops;
    double *arrays[] = {s->x_new, s->g, s->g_old, s->p, s->p_old};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ops->release(s->backend, arrays[i]);
    for (int32_t i = 0; i <= PL_WINDOW_MAX; i++) {
        ops->release(s->backend, s->history.s[i]);
        ops->release(s->backend, s->history.w[i]);
    }
    free(s->history.st);
    free(s->history.wt);
    free(s->detail);
    free(s);
}

static pl_status quasi_newton_create(const pl_model *model, pl_backend *backend, pl_solver **out)
{
    quasi_newton *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->base.ops = &pl_solver_quasi_newton;
    s->model = model;
    s->backend = backend;
    int64_t rows = 3 * model->free_vertices;
    bool good = true;
    double **arrays[] = {&s->g, &s->g_old, &s->p, &s->p_old};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = backend->ops->alloc(backend, rows);
        good = good && *arrays[i];
    }
    s->x_new = backend->ops->alloc(backend, 3 * model->vertices);
    history *h = &s->history;
    h->window = model->solver.window;
    for (int32_t i = 0; i <= h->window; i++) {
        h->s[i] = backend->ops->alloc(backend, rows);
        h->w[i] = backend->ops->alloc(backend, rows);
        good = good && h->s[i] && h->w[i];
    }
    h->st = calloc(PL_WINDOW_MAX + 1, sizeof *h->st);
    h->wt = calloc(PL_WINDOW_MAX + 1, sizeof *h->wt);
    good = good && s->x_new && h->st && h->wt;
    if (model->detail == PL_METRICS_ITERATION) {
        s->detail = calloc((size_t)model->solver.iterations + 1, sizeof *s->detail);
        good = good && s->detail;
    }
    if (!good) {
        quasi_newton_destroy(&s->base);
        return PL_NO_MEMORY;
    }
    *out = &s->base;
    return PL_OK;
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

static void forget(history *h)
{
    h->count = 0;
    h->gamma = 1;
    for (int32_t i = 0; i <= h->window; i++)
        h->order[i] = i;
}

/* Keep the pair in order[count], which the inner products are of, if its curvature is positive. */
static void remember(history *h)
{
    int32_t slot = h->order[h->count];
    double rho = h->st[slot][slot], size = h->wt[slot][slot];
    if (h->window == 0 || !(rho > LEAST_CURVATURE * size) || !(size > 0))
        return;
    h->gamma = rho / size;
    if (h->count < h->window) {
        h->count++;
        return;
    }
    int32_t oldest = h->order[0];
    for (int32_t i = 0; i < h->window; i++)
        h->order[i] = h->order[i + 1];
    h->order[h->window] = oldest;
}

/* p = A^-1 g, the inner products and, after a step of alpha along s of order[count], its pair.
 * Leaves the decrement, NaN where something is not finite. */
static void precondition(quasi_newton *s, bool stepped, progress *p)
{
    const pl_backend_ops *ops = s->backend->ops;
    history *h = &s->history;
    double start = pl_clock_ms(), *slots_s[PL_WINDOW_MAX + 1], *slots_w[PL_WINDOW_MAX + 1];
    double sg[PL_WINDOW_MAX + 1], wg[PL_WINDOW_MAX + 1], st[PL_WINDOW_MAX + 1],
        wt[PL_WINDOW_MAX + 1];
    pl_history_pair pair = {.s = slots_s,
                            .w = slots_w,
                            .count = stepped ? h->count + 1 : 0,
                            .alpha = p->alpha,
                            .g = s->g,
                            .g_old = s->g_old,
                            .p = s->p,
                            .p_old = s->p_old,
                            .sg = sg,
                            .wg = wg,
                            .st = st,
                            .wt = wt};
    for (int32_t i = 0; i < pair.count; i++) {
        slots_s[i] = h->s[h->order[i]];
        slots_w[i] = h->w[h->order[i]];
    }
    double square = NAN;
    if (ops->solve(s->backend, s->g, s->p) == PL_OK)
        square = ops->pair(s->backend, &pair);
    for (int32_t i = 0; i < pair.count; i++) {
        int32_t slot = h->order[i], newest = h->order[h->count];
        h->sg[slot] = sg[i];
        h->wg[slot] = wg[i];
        h->st[slot][newest] = st[i];
        h->wt[slot][newest] = wt[i];
    }
    if (stepped)
        remember(h);
    p->out->decrement = square < 0 ? 0 : sqrt(square);
    p->out->ms_global += pl_clock_ms() - start;
}

/* Liu 2017, algorithm 2, on the coefficients of d = -gamma p + sum c_i s_i + sum b_i w_i, into s of
 * order[count]. Returns g.d. */
static double direction(quasi_newton *s, double decrement)
{
    history *h = &s->history;
    double zeta[PL_WINDOW_MAX], coefficient[2 * PL_WINDOW_MAX + 1];
    const double *list[2 * PL_WINDOW_MAX + 1];
    int32_t m = h->count, used = 0;
    for (int32_t i = m - 1; i >= 0; i--) {
        int32_t slot = h->order[i];
        double dot = -h->sg[slot];
        for (int32_t j = i + 1; j < m; j++)
            dot -= zeta[j] * h->st[slot][h->order[j]];
        zeta[i] = dot / h->st[slot][slot];
    }
    list[used] = s->p;
    coefficient[used++] = -h->gamma;
    double slope = -h->gamma * decrement * decrement;
    for (int32_t i = 0; i < m; i++) {
        int32_t slot = h->order[i];
        list[used] = h->w[slot];
        coefficient[used++] = -h->gamma * zeta[i];
        slope -= h->gamma * zeta[i] * h->wg[slot];
    }
    for (int32_t i = 0; i < m; i++) {
        int32_t slot = h->order[i];
        double dot = -h->gamma * h->wg[slot]; /* t_i . r */
        for (int32_t j = 0; j < m; j++) {
            int32_t other = h->order[j];
            dot -= h->gamma * zeta[j] * (i < j ? h->wt[slot][other] : h->wt[other][slot]);
            if (j < i)
                dot += coefficient[m + 1 + j] * h->st[other][slot];
        }
        list[used] = h->s[slot];
        coefficient[used++] = zeta[i] - dot / h->st[slot][slot];
        slope += coefficient[m + 1 + i] * h->sg[slot];
    }
    s->backend->ops->combine(s->backend, list, coefficient, used, h->s[h->order[m]]);
    return slope;
}

/* Whether a trial goes down enough. Where energies differ by rounding only, their difference is
 * taken from the slopes at both ends, alpha (g.d + g'.d) / 2, which makes Armijo's condition
 * g'.d <= (2 * 0.3 - 1) g.d (Hager and Zhang 2005, "approximate Wolfe"). */
static bool goes_down(const progress *p, const pl_trial_sums *trial)
{
    if (!isfinite(trial->objective))
        return false;
    double change = trial->objective - p->objective;
    if (fabs(change) <= fmax(p->energy_noise, ENERGY_NOISE * fabs(p->objective)))
        return trial->slope <= (2 * ARMIJO - 1) * p->slope;
    return change <= ARMIJO * p->alpha * p->slope;
}

/* Backtracking from 1 along s of order[count] (Liu 2017, algorithm 1). True: x_new, gradient and
 * s->g are those of the new iterate; s->g_old is the old one's. */
static bool search_line(quasi_newton *s, const pl_stage *stage, const double *x, double *x_new,
                        double *gradient, progress *p)
{
    double start = pl_clock_ms();
    bool found = false;
    swap(&s->g, &s->g_old);
    for (p->alpha = 1; p->alpha >= SHORTEST; p->alpha *= SHRINK) {
        pl_trial trial = {.x = x,
                          .d = s->history.s[s->history.order[s->history.count]],
                          .alpha = p->alpha,
                          .x_new = x_new,
                          .gradient = gradient,
                          .g = s->g};
        pl_trial_sums sums = s->backend->ops->trial(s->backend, stage, &trial);
        found = goes_down(p, &sums);
        if (found) {
            p->objective = p->out->objective = sums.objective;
            p->out->gradient_norm = sums.norm;
            break;
        }
    }
    if (!found)
        swap(&s->g, &s->g_old);
    p->out->ms_local += pl_clock_ms() - start;
    return found;
}

/* A step down: by the history's direction, or, should that lead nowhere, by -A^-1 g alone. */
static bool descend(quasi_newton *s, const pl_stage *stage, const double *x, double *x_new,
                    double *gradient, progress *p)
{
    for (;;) {
        bool bare = s->history.count == 0;
        double start = pl_clock_ms();
        p->slope = direction(s, p->out->decrement);
        p->out->ms_global += pl_clock_ms() - start;
        if (p->slope < 0 && search_line(s, stage, x, x_new, gradient, p))
            return true;
        if (bare)
            return false;
        forget(&s->history);
    }
}

static void record(quasi_newton *s, int64_t k, const progress *p)
{
    if (!s->detail)
        return;
    s->detail[k] = (pl_iteration){.objective = p->out->objective,
                                  .primal_residual = NAN,
                                  .dual_residual = NAN,
                                  .gradient_norm = p->out->gradient_norm,
                                  .decrement = p->out->decrement,
                                  .ms = pl_clock_ms() - p->start_ms};
    p->out->detail_count = k + 1;
}

/* Evaluate the initial guess. */
static void begin(quasi_newton *s, const pl_stage *stage, double *x, double *gradient, progress *p)
{
    const pl_backend_ops *ops = s->backend->ops;
    double start = pl_clock_ms();
    ops->copy(s->backend, s->x_new, x, 3 * s->model->vertices); /* pins in place in both */
    pl_trial trial = {.x_new = x, .gradient = gradient, .g = s->g};
    pl_trial_sums sums = ops->trial(s->backend, stage, &trial);
    double magnitude = ops->magnitude(s->backend, x);
    p->objective = p->out->objective = sums.objective;
    p->out->gradient_norm = sums.norm;
    p->energy_noise = DBL_EPSILON * magnitude;
    p->decrement_noise = ROUNDING * DBL_EPSILON * sqrt(magnitude);
    p->out->ms_local += pl_clock_ms() - start;
    forget(&s->history);
}

static pl_status fail_not_finite(quasi_newton *s, const double *where, pl_failure *failure)
{
    failure->code = PL_FAILURE_NOT_FINITE;
    failure->vertex = s->backend->ops->find_not_finite(s->backend, where);
    snprintf(failure->message, sizeof failure->message,
             "The objective or its gradient is not finite in a quasi-Newton iteration.");
    snprintf(failure->advice, sizeof failure->advice,
             "Use a smaller time.step, or look for moduli, densities or velocities that are out of "
             "scale.");
    return PL_FAILED;
}

/* The start has no finite objective: an element that is inverted, or a number out of range. */
static pl_status fail_start(quasi_newton *s, const double *x, pl_failure *failure)
{
    failure->element = s->backend->ops->find_outside(s->backend, x);
    if (failure->element < 0)
        return fail_not_finite(s, x, failure);
    failure->code = PL_FAILURE_INVERTED;
    snprintf(failure->message, sizeof failure->message,
             "A tetrahedron is inverted or flat where the step starts, and its material's energy "
             "is infinite there: there is no way down.");
    snprintf(failure->advice, sizeof failure->advice,
             "Start from a shape without inverted elements, move pins less a step with a smaller "
             "time.step, or use \"method\": \"admm\", which recovers from inversion.");
    return PL_FAILED;
}

static pl_status fail_line_search(quasi_newton *s, const pl_stage *stage, const double *x,
                                  double *gradient, const progress *p, pl_failure *failure)
{
    const pl_backend_ops *ops = s->backend->ops;
    ops->gradient(s->backend, stage, x, NULL, gradient);
    failure->code = PL_FAILURE_LINE_SEARCH;
    failure->vertex = ops->find_steepest(s->backend, gradient);
    snprintf(failure->message, sizeof failure->message,
             "No step along the descent direction lowers the objective, though the decrement is "
             "still %.3g; the vertex has the largest gradient.",
             p->out->decrement);
    snprintf(failure->advice, sizeof failure->advice,
             "Use a smaller time.step or a larger solver.tolerance; look there for elements that "
             "are nearly flat; or use \"method\": \"admm\".");
    return PL_FAILED;
}

static pl_status quasi_newton_solve(pl_solver *solver, const pl_stage *stage, double *x,
                                    double *gradient, pl_solve_result *out, pl_failure *failure)
{
    quasi_newton *s = (quasi_newton *)solver;
    const pl_backend_ops *ops = s->backend->ops;
    const pl_solver_settings *settings = &s->model->solver;
    *out = (pl_solve_result){.primal_residual = NAN, .dual_residual = NAN, .detail = s->detail};
    progress p = {.out = out, .start_ms = pl_clock_ms()};
    begin(s, stage, x, gradient, &p);
    if (!isfinite(p.objective))
        return fail_start(s, x, failure);
    precondition(s, false, &p);
    record(s, 0, &p);
    double bound = fmax(settings->tolerance * out->decrement, p.decrement_noise);
    out->converged = settings->tolerance > 0 && out->decrement <= p.decrement_noise;

    double *here = x, *there = s->x_new;
    while (isfinite(out->decrement) && !out->converged && out->iterations < settings->iterations) {
        if (!descend(s, stage, here, there, gradient, &p)) {
            if (out->decrement > p.decrement_noise)
                return fail_line_search(s, stage, here, gradient, &p, failure);
            out->converged = settings->tolerance > 0; /* as far as rounding lets it */
            ops->gradient(s->backend, stage, here, NULL, gradient);
            break;
        }
        swap(&here, &there);
        swap(&s->p, &s->p_old);
        precondition(s, true, &p);
        record(s, ++out->iterations, &p);
        out->converged = settings->tolerance > 0 && out->decrement <= bound;
    }
    if (!isfinite(out->decrement))
        return fail_not_finite(s, gradient, failure);
    if (here != x)
        ops->copy(s->backend, x, here, 3 * s->model->vertices);
    return PL_OK;
}

/* Between solves nothing is remembered: the matrix is the same, the objective is not. */
const pl_solver_ops pl_solver_quasi_newton = {
    .name = "quasi_newton",
    .create = quasi_newton_create,
    .destroy = quasi_newton_destroy,
    .solve = quasi_newton_solve,
};
