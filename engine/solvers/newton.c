/* Newton's method, with Hessians made semidefinite element by element far from the minimum (Teran et
 * al. 2005):
 *
 *     repeat   d <- -H(x)^-1 g(x),  H = M/(a h)^2 + sum of (projected) element Hessians
 *              alpha <- 1, halved until e(x + alpha d) <= e(x) + 0.3 alpha g.d     Armijo
 *              x <- x + alpha d
 *
 * A projected H is positive definite, so d goes down; the pattern and its symbolic factor are made
 * once. But where elements have negative curvature at the minimum it converges linearly only, on the
 * twisted box by 0.57 a step. So once the decrement is small against the first and a whole step was
 * taken, H is not projected, where it then has a factor, and the last few steps double the digits. It
 * is the reference that other methods' objectives are held against.
 *
 * With `linear` pcg, d is found by conjugate gradients, preconditioned by the constant matrix A, of
 * which the factor is there, or by the 3 x 3 blocks on H's diagonal. They stop where the residual
 * r = -g - H d, in the norm of the preconditioner's inverse, has fallen by
 *
 *     eta = min(1/4, (decrement / first decrement)^(1/2))          Eisenstat, Walker 1996
 *
 * which keeps convergence superlinear and solves no step better than it deserves; every iterate of
 * conjugate gradients from 0 goes down, so ending early is safe.
 *
 * The decrement |A^-1 g|_A is that of quasi_newton.c, whose tests of line search and rounding are
 * taken over: in the norm of the constant matrix, so that `tolerance` means the same of all methods.
 */
#include "engine/solvers/arrays.h"
#include "engine/solvers/solver.h"

#include "engine/clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* As in quasi_newton.c. */
static const double ARMIJO = 0.3, SHRINK = 0.5, SHORTEST = 1e-12;
static const double ENERGY_NOISE = 1e-13, ROUNDING = 16;
/* Most of eta, and most conjugate gradients a step. */
static const double FORCING = 0.25;
/* The decrement, of the first, below which H is tried as it is. */
static const double NEAR = 1e-2;
enum { MOST_GRADIENTS = 2000 };

typedef struct newton {
    pl_solver base;
    const pl_model *model;
    pl_backend *backend;
    double *x_new;     /* positions */
    double *g, *p, *d; /* rows; p = A^-1 g */
    double *d_old;
    double *r, *r_old, *z, *q, *Hq, *q_old; /* rows, of conjugate gradients */
    pl_iteration *detail;                   /* [iterations + 1], or NULL */
} newton;

typedef struct progress {
    pl_solve_result *out;
    double start_ms;
    double objective, alpha, slope; /* slope: g.d */
    double first;                   /* decrement of the initial guess */
    double energy_noise, decrement_noise;
} progress;

enum { ARRAYS = 11 };
static void list_arrays(newton *s, double **out[ARRAYS])
{
    double **arrays[ARRAYS] = {&s->x_new, &s->g, &s->p, &s->d,  &s->d_old, &s->r,
                               &s->r_old, &s->z, &s->q, &s->Hq, &s->q_old};
    for (int i = 0; i < ARRAYS; i++)
        out[i] = arrays[i];
}

static void newton_destroy(pl_solver *solver)
{
    newton *s = (newton *)solver;
    double **arrays[ARRAYS];
    list_arrays(s, arrays);
    for (int i = 0; i < ARRAYS; i++)
        s->backend->ops->release(s->backend, *arrays[i]);
    free(s->detail);
    free(s);
}

static pl_status newton_create(const pl_model *model, pl_backend *backend, pl_solver **out)
{
    newton *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->base.ops = &pl_solver_newton;
    s->model = model;
    s->backend = backend;
    double **arrays[ARRAYS];
    list_arrays(s, arrays);
    bool direct = model->solver.linear == PL_LINEAR_DIRECT, good = true;
    for (int i = 0; i < (direct ? 5 : ARRAYS); i++) {
        int64_t count = 3 * (i == 0 ? model->vertices : model->free_vertices);
        *arrays[i] = backend->ops->alloc(backend, count);
        good = good && *arrays[i];
    }
    if (model->detail == PL_METRICS_ITERATION) {
        s->detail = calloc((size_t)model->solver.iterations + 1, sizeof *s->detail);
        good = good && s->detail;
    }
    pl_status status = good ? backend->ops->hessian_prepare(backend) : PL_NO_MEMORY;
    if (status == PL_OK)
        status = backend->ops->trial_prepare(backend);
    if (status != PL_OK) {
        newton_destroy(&s->base);
        return status;
    }
    *out = &s->base;
    return PL_OK;
}

static double dot(newton *s, const double *a, const double *b)
{
    return s->backend->ops->dot(s->backend, a, b);
}

/* out = a x + b y */
static void add(newton *s, double a, const double *x, double b, const double *y, double *out)
{
    const double *list[] = {x, y}, coefficient[] = {a, b};
    s->backend->ops->combine(s->backend, list, coefficient, 2, out);
}

/* z = r by the preconditioner; returns r.z. */
static double precondition(newton *s, const double *r, double *z)
{
    const pl_backend_ops *ops = s->backend->ops;
    if (s->model->solver.linear == PL_LINEAR_PCG_JACOBI)
        ops->hessian_jacobi(s->backend, r, z);
    else if (ops->solve(s->backend, r, z) != PL_OK)
        return NAN;
    return dot(s, r, z);
}

/* d = -H^-1 g to eta, by conjugate gradients from 0. */
static void solve_by_gradients(newton *s, double eta)
{
    const pl_backend_ops *ops = s->backend->ops;
    ops->clear(s->backend, s->d, 3 * s->model->free_vertices);
    add(s, -1, s->g, 0, s->g, s->r);
    double rz = precondition(s, s->r, s->z), bound = eta * eta * rz;
    ops->copy(s->backend, s->q, s->z, 3 * s->model->free_vertices);
    for (int k = 0; k < MOST_GRADIENTS && rz > bound; k++) {
        ops->hessian_multiply(s->backend, s->q, s->Hq);
        double curvature = dot(s, s->q, s->Hq);
        if (!(curvature > 0))
            return;
        double a = rz / curvature;
        pl_rows_swap(&s->d, &s->d_old);
        add(s, 1, s->d_old, a, s->q, s->d);
        pl_rows_swap(&s->r, &s->r_old);
        add(s, 1, s->r_old, -a, s->Hq, s->r);
        double next = precondition(s, s->r, s->z);
        pl_rows_swap(&s->q, &s->q_old);
        add(s, 1, s->z, next / rz, s->q_old, s->q);
        rz = next;
    }
}

/* d = -A^-1 g, which always goes down. */
static void turn_to_gradient(newton *s, progress *p)
{
    add(s, -1, s->p, 0, s->p, s->d);
    p->slope = -p->out->decrement * p->out->decrement;
}

/* d = -H^-1 g, of H as it is or projected; g.d, or 0 where there is no factor. */
static double solve_for(newton *s, const pl_stage *stage, const double *x, bool exact, progress *p)
{
    const pl_backend_ops *ops = s->backend->ops;
    double start = pl_clock_ms();
    ops->hessian_make(s->backend, stage, x, !exact);
    double made = pl_clock_ms();
    bool found = true;
    if (s->model->solver.linear == PL_LINEAR_DIRECT) {
        found = ops->hessian_factor(s->backend) == PL_OK &&
                ops->hessian_solve(s->backend, s->g, s->d_old) == PL_OK;
        if (found)
            add(s, -1, s->d_old, 0, s->d_old, s->d);
    } else {
        solve_by_gradients(s, fmin(FORCING, sqrt(p->out->decrement / p->first)));
    }
    p->out->ms_local += made - start;
    p->out->ms_global += pl_clock_ms() - made;
    return found ? dot(s, s->g, s->d) : 0;
}

/* Newton's direction, or, where H gives none that goes down, -A^-1 g. */
static void find_direction(newton *s, const pl_stage *stage, const double *x, progress *p)
{
    bool near = p->alpha == 1 && p->out->decrement <= NEAR * p->first;
    p->slope = near ? solve_for(s, stage, x, true, p) : 0;
    if (!(p->slope < 0))
        p->slope = solve_for(s, stage, x, false, p);
    if (!(p->slope < 0))
        turn_to_gradient(s, p);
}

/* Whether a trial goes down enough: quasi_newton.c has the reason for the second form. */
static bool goes_down(const progress *p, const pl_trial_sums *trial)
{
    if (!isfinite(trial->objective))
        return false;
    double change = trial->objective - p->objective;
    if (fabs(change) <= fmax(p->energy_noise, ENERGY_NOISE * fabs(p->objective)))
        return trial->slope <= (2 * ARMIJO - 1) * p->slope;
    return change <= ARMIJO * p->alpha * p->slope;
}

/* Backtracking from 1 along d. True: x_new, gradient and s->g are those of the new iterate. */
static bool search_line(newton *s, const pl_stage *stage, const double *x, double *x_new,
                        double *gradient, progress *p)
{
    double start = pl_clock_ms();
    bool found = false;
    for (p->alpha = 1; p->alpha >= SHORTEST; p->alpha *= SHRINK) {
        pl_trial trial = {
            .x = x, .d = s->d, .alpha = p->alpha, .x_new = x_new, .gradient = gradient, .g = s->g};
        pl_trial_sums sums = s->backend->ops->trial(s->backend, stage, &trial);
        found = goes_down(p, &sums);
        if (found) {
            p->objective = p->out->objective = sums.objective;
            p->out->gradient_norm = sums.norm;
            break;
        }
    }
    p->out->ms_local += pl_clock_ms() - start;
    return found;
}

/* A step down: Newton's, or, should that lead nowhere, along -A^-1 g. The trials overwrite s->g,
 * which neither needs any more. */
static bool descend(newton *s, const pl_stage *stage, const double *x, double *x_new,
                    double *gradient, progress *p)
{
    find_direction(s, stage, x, p);
    if (search_line(s, stage, x, x_new, gradient, p))
        return true;
    turn_to_gradient(s, p);
    return search_line(s, stage, x, x_new, gradient, p);
}

/* p = A^-1 g, and the decrement. */
static void measure_decrement(newton *s, progress *p)
{
    double start = pl_clock_ms(), square = NAN;
    if (s->backend->ops->solve(s->backend, s->g, s->p) == PL_OK)
        square = dot(s, s->g, s->p);
    p->out->decrement = square < 0 ? 0 : sqrt(square);
    p->out->ms_global += pl_clock_ms() - start;
}

static void record(newton *s, int64_t k, const progress *p)
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
static void begin(newton *s, const pl_stage *stage, double *x, double *gradient, progress *p)
{
    const pl_backend_ops *ops = s->backend->ops;
    ops->copy(s->backend, s->x_new, x, 3 * s->model->vertices); /* pins in place in both */
    pl_trial trial = {.x_new = x, .gradient = gradient, .g = s->g};
    pl_trial_sums sums = ops->trial(s->backend, stage, &trial);
    double magnitude = ops->magnitude(s->backend, x);
    p->objective = p->out->objective = sums.objective;
    p->out->gradient_norm = sums.norm;
    p->energy_noise = DBL_EPSILON * magnitude;
    p->decrement_noise = ROUNDING * DBL_EPSILON * sqrt(magnitude);
    p->out->ms_local += pl_clock_ms() - p->start_ms;
}

static pl_status fail(newton *s, pl_failure_code code, const char *message, const char *advice,
                      pl_failure *failure)
{
    failure->code = code;
    snprintf(failure->message, sizeof failure->message, "%s", message);
    snprintf(failure->advice, sizeof failure->advice, "%s", advice);
    return PL_FAILED;
}

static pl_status fail_start(newton *s, const double *x, pl_failure *failure)
{
    const pl_backend_ops *ops = s->backend->ops;
    failure->element = ops->find_outside(s->backend, x);
    if (failure->element < 0) {
        failure->vertex = ops->find_not_finite(s->backend, x);
        return fail(s, PL_FAILURE_NOT_FINITE, "The objective is not finite where the step starts.",
                    "Use a smaller time.step, or look for moduli, densities or velocities that are "
                    "out of scale.",
                    failure);
    }
    return fail(s, PL_FAILURE_INVERTED,
                "An element is inverted or flat where the step starts, and its material's "
                "energy is infinite there: there is no way down.",
                "Start from a shape without inverted elements, move pins less a step with a "
                "smaller time.step, or use \"method\": \"admm\", which recovers from inversion.",
                failure);
}

static pl_status fail_line_search(newton *s, const pl_stage *stage, const double *x,
                                  double *gradient, pl_failure *failure)
{
    s->backend->ops->gradient(s->backend, stage, x, NULL, gradient);
    failure->vertex = s->backend->ops->find_steepest(s->backend, gradient);
    return fail(s, PL_FAILURE_LINE_SEARCH,
                "No step along Newton's direction lowers the objective; the vertex has the largest "
                "gradient.",
                "Use a smaller time.step or a larger solver.tolerance; look there for elements "
                "that are nearly flat; or use \"method\": \"admm\".",
                failure);
}

static pl_status fail_not_finite(newton *s, const double *gradient, pl_failure *failure)
{
    failure->vertex = s->backend->ops->find_not_finite(s->backend, gradient);
    return fail(s, PL_FAILURE_NOT_FINITE, "A gradient is not finite after an iteration of Newton.",
                "Use a smaller time.step, or look for moduli, densities or velocities that are out "
                "of scale.",
                failure);
}

static pl_status newton_solve(pl_solver *solver, const pl_stage *stage, double *x, double *gradient,
                              pl_solve_result *out, pl_failure *failure)
{
    newton *s = (newton *)solver;
    const pl_backend_ops *ops = s->backend->ops;
    const pl_solver_settings *settings = &s->model->solver;
    *out = (pl_solve_result){.primal_residual = NAN, .dual_residual = NAN, .detail = s->detail};
    progress p = {.out = out, .start_ms = pl_clock_ms()};
    begin(s, stage, x, gradient, &p);
    if (!isfinite(p.objective))
        return fail_start(s, x, failure);
    measure_decrement(s, &p);
    record(s, 0, &p);
    p.first = out->decrement;
    double bound = fmax(settings->tolerance * p.first, p.decrement_noise);
    out->converged = settings->tolerance > 0 && out->decrement <= p.decrement_noise;

    double *here = x, *there = s->x_new;
    while (isfinite(out->decrement) && !out->converged && out->iterations < settings->iterations) {
        if (!descend(s, stage, here, there, gradient, &p)) {
            if (out->decrement > p.decrement_noise)
                return fail_line_search(s, stage, here, gradient, failure);
            out->converged = settings->tolerance > 0; /* as far as rounding lets it */
            ops->gradient(s->backend, stage, here, NULL, gradient);
            break;
        }
        pl_rows_swap(&here, &there);
        measure_decrement(s, &p);
        record(s, ++out->iterations, &p);
        out->converged = settings->tolerance > 0 && out->decrement <= bound;
    }
    if (!isfinite(out->decrement))
        return fail_not_finite(s, gradient, failure);
    if (here != x)
        ops->copy(s->backend, x, here, 3 * s->model->vertices);
    return PL_OK;
}

/* Between solves nothing is remembered. */
const pl_solver_ops pl_solver_newton = {
    .name = "newton",
    .create = newton_create,
    .destroy = newton_destroy,
    .solve = newton_solve,
};
