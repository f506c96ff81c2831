#include "engine/solvers/descent.h"

#include "engine/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Decrements below this many roundings of positions are noise. */
static const double ROUNDING = 16;
/* Number of iterations between two checks for rest. */
enum { LOOK = 8 };
/* Maximum number of iterations between two renewals of contact multipliers. A stack of four blocks that lands takes
 * 199, 221, 256, 266 iterations a step with 1, 2, 4, 8, and 330 if each round is solved first; but each renewal
 * costs an evaluation. */
enum { RENEW = 2 };
/* A solve of more than LONG iterations renews them less often: every (k - LONG) / RARER. Many rows do not settle if
 * they change before the solve has followed their last change: a flag that folds onto itself exhausted 2,000
 * iterations, and now takes 1,000. */
enum { LONG = 100, RARER = 8 };
void pl_descent_destroy(pl_solver *solver)
{
    pl_descent *d = (pl_descent *)solver;
    if (d->law->destroy)
        d->law->destroy(d);
    pl_array *arrays[] = {d->x_new, d->g, d->g_old, d->p, d->p_old, d->inverse, d->inverse_old};
    pl_rows_release(d->backend, arrays, sizeof arrays / sizeof *arrays);
    pl_rows_release(d->backend, &d->base.multipliers, 1);
    pl_balance_destroy(d->balance);
    free(d->detail);
    free(d);
}

pl_status pl_descent_create(const pl_solver_ops *ops, const pl_descent_rule *rule,
                            const pl_model *model, pl_backend *backend, pl_solver **out)
{
    pl_descent *d = calloc(1, sizeof *d);
    if (!d)
        return PL_NO_MEMORY;
    d->base.ops = ops;
    d->law = rule;
    d->model = model;
    d->backend = backend;
    pl_array **arrays[] = {&d->g, &d->g_old, &d->p, &d->p_old, &d->inverse, &d->inverse_old};
    bool good = pl_rows_create(model, backend, arrays, rule->matrix ? 4 : 6);
    d->x_new = backend->ops->memory->alloc(backend, 3 * model->vertices);
    d->balance = pl_balance_create(model, backend);
    if (model->multipliers > 0) {
        d->base.multipliers = backend->ops->memory->alloc(backend, model->multipliers);
        good = good && d->base.multipliers;
    }
    good = good && d->balance && d->x_new && backend->ops->descent->prepare(backend) == PL_OK;
    if (model->detail == PL_METRICS_ITERATION) {
        d->detail = calloc((size_t)model->solver.iterations + 1, sizeof *d->detail);
        good = good && d->detail;
    }
    pl_status status = good ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK && rule->create)
        status = rule->create(d);
    if (status != PL_OK) {
        pl_descent_destroy(&d->base);
        return status;
    }
    *out = &d->base;
    return PL_OK;
}

void pl_descent_save(const pl_solver *solver, pl_bytes_out *out)
{
    const pl_descent *d = (const pl_descent *)solver;
    const int64_t count = d->model->multipliers;
    double *to = count > 0 ? pl_bytes_grow(out, (size_t)count * sizeof *to) : NULL;
    if (to)
        d->backend->ops->memory->download(d->backend, to, solver->multipliers, count);
    if (d->law->save)
        d->law->save(d, out);
}

bool pl_descent_restore(pl_solver *solver, pl_bytes_in *in)
{
    pl_descent *d = (pl_descent *)solver;
    const int64_t count = d->model->multipliers;
    pl_bytes_in rest = *in;
    const double *held = count > 0 ? pl_bytes_take(&rest, (size_t)count * sizeof *held) : NULL;
    if (count > 0 && !held)
        return false;
    if (d->law->restore ? !d->law->restore(d, &rest) : rest.left != 0)
        return false;
    if (held)
        d->backend->ops->memory->upload(d->backend, solver->multipliers, held, count);
    *in = rest;
    return true;
}

double pl_descent_noise(const pl_backend_ops *ops, double objective, double energy_noise)
{
    return fmax(energy_noise, ops->energy_epsilon * fabs(objective));
}

double pl_descent_first_is_one(const pl_descent *d)
{
    return 1;
}

pl_status pl_descent_apply(pl_descent *d, bool stepped)
{
    const pl_backend_ops *ops = d->backend->ops;
    d->gp = NAN;
    if (!d->law->matrix) {
        d->gp = ops->rows->scale(d->backend, d->inverse, d->g, d->p);
        return PL_OK;
    }
    pl_status status = ops->matrix->solve(d->backend, d->g, d->p);
    if (status == PL_OK)
        d->gp = ops->rows->dot(d->backend, d->g, d->p);
    return status;
}

/* ---- failures ---- */

pl_status pl_descent_fail_not_finite(pl_backend *backend, const char *what, const pl_array *where,
                                     pl_failure *failure)
{
    failure->code = PL_FAILURE_NOT_FINITE;
    failure->vertex = backend->ops->kinematics->find_not_finite(backend, where);
    snprintf(failure->message, sizeof failure->message,
             "The objective or its gradient is not finite in a %s iteration.", what);
    snprintf(failure->advice, sizeof failure->advice,
             "Use a smaller time.step, or check for moduli, densities or velocities that are out "
             "of scale.");
    return PL_FAILED;
}

pl_status pl_descent_fail_start(pl_backend *backend, const char *what, const pl_array *x,
                                pl_failure *failure)
{
    failure->element = backend->ops->objective->find_outside(backend, x);
    if (failure->element < 0)
        return pl_descent_fail_not_finite(backend, what, x, failure);
    failure->code = PL_FAILURE_INVERTED;
    snprintf(failure->message, sizeof failure->message,
             "An element is inverted or flat at the start of the step, and its material's energy "
             "is infinite there: no descent is possible.");
    snprintf(failure->advice, sizeof failure->advice,
             "Start from a shape without inverted elements, move pins less per step with a smaller "
             "time.step, or use \"method\": \"admm\", which recovers from inversion.");
    return PL_FAILED;
}

pl_status pl_descent_fail_search(pl_backend *backend, const pl_backend_stage *stage,
                                 const pl_array *x, pl_array *gradient, double decrement,
                                 pl_failure *failure)
{
    backend->ops->objective->gradient(backend, stage, x, NULL, gradient);
    failure->code = PL_FAILURE_LINE_SEARCH;
    failure->vertex = backend->ops->objective->find_steepest(backend, gradient);
    snprintf(failure->message, sizeof failure->message,
             "No step along the descent direction lowers the objective, though the decrement is "
             "still %.3g; the vertex has the largest gradient.",
             decrement);
    snprintf(failure->advice, sizeof failure->advice,
             "Use a smaller time.step or a larger solver.tolerance; look there for elements that "
             "are nearly flat; or use \"method\": \"admm\".");
    return PL_FAILED;
}

static pl_status fail_no_memory(const char *what, pl_failure *failure)
{
    failure->code = PL_FAILURE_OUT_OF_MEMORY;
    snprintf(failure->message, sizeof failure->message,
             "Out of memory for a matrix of a %s iteration.", what);
    snprintf(failure->advice, sizeof failure->advice,
             "Use a coarser mesh, more resources.memory, or a method that keeps its matrix.");
    return PL_FAILED;
}

/* ---- the loop ---- */

static void record(pl_descent *d, int64_t k)
{
    k += d->recorded;
    if (!d->detail || k > d->model->solver.iterations)
        return;
    d->detail[k] = (pl_iteration){.objective = d->out->objective,
                                  .primal_residual = NAN,
                                  .dual_residual = NAN,
                                  .gradient_norm = d->out->gradient_norm,
                                  .decrement = d->out->decrement,
                                  .ms = pl_clock_ms() - d->start_ms};
    d->out->detail_count = d->rows = k + 1;
}

/* The objective and its gradient at x; same_x: as in pl_trial. */
static void evaluate(pl_descent *d, const pl_backend_stage *stage, pl_array *x, pl_array *gradient,
                     bool same_x)
{
    pl_trial trial = {.x_new = x, .gradient = gradient, .g = d->g, .same_x = same_x};
    pl_trial_sums sums = d->backend->ops->descent->trial(d->backend, stage, &trial);
    d->objective = d->out->objective = sums.objective;
    d->out->gradient_norm = sums.norm;
    d->trial_decrement = sums.decrement;
}

/* Evaluate the initial guess. */
static void begin(pl_descent *d, const pl_backend_stage *stage, pl_array *x, pl_array *gradient)
{
    const pl_backend_ops *ops = d->backend->ops;
    double start = pl_clock_ms();
    ops->memory->copy(d->backend, d->x_new, x, 3 * d->model->vertices); /* pins in place in both */
    evaluate(d, stage, x, gradient, false);
    double magnitude = ops->objective->magnitude(d->backend, x);
    d->energy_noise = ops->epsilon * magnitude;
    d->decrement_noise = ROUNDING * ops->epsilon * sqrt(magnitude);
    d->alpha = d->alpha_old = 0;
    d->out->ms_local += pl_clock_ms() - start;
    if (d->law->begin)
        d->law->begin(d);
    else if (d->law->forget)
        d->law->forget(d);
}

double pl_descent_make_inverse(pl_backend *backend, const pl_backend_stage *stage,
                               const pl_array *x, pl_array *inverse)
{
    pl_preconditioner kind = backend->model->solver.preconditioner;
    if (kind == PL_PRECONDITIONER_JACOBI)
        return backend->ops->descent->jacobi(backend, stage, x, inverse);
    return backend->ops->descent->jacobi_constant(backend, stage, kind == PL_PRECONDITIONER_NONE,
                                                  inverse);
}

/* Updates P at x when due. */
static void refresh(pl_descent *d, const pl_backend_stage *stage, const pl_array *x, bool first)
{
    const pl_solver_settings *settings = &d->model->solver;
    bool constant = settings->preconditioner != PL_PRECONDITIONER_JACOBI;
    bool due = first || (!constant && d->out->iterations % settings->jacobi_refresh == 0);
    if (d->law->matrix || !due)
        return;
    pl_rows_swap(&d->inverse, &d->inverse_old);
    pl_descent_make_inverse(d->backend, stage, x, d->inverse);
    if (!first && d->law->refreshed)
        d->law->refreshed(d, d->inverse_old);
}

/* p = B0 g and the decrement. */
static void apply(pl_descent *d, bool stepped)
{
    pl_status status = d->law->precondition(d, stepped);
    d->no_memory = d->no_memory || status == PL_NO_MEMORY;
    if (status != PL_OK || !isfinite(d->gp))
        d->out->decrement = NAN;
    else if (d->law->matrix)
        d->out->decrement = d->gp < 0 ? 0 : sqrt(d->gp);
    else
        d->out->decrement = d->trial_decrement;
}

/* The same at x, which may be the end of a step. */
static void precondition(pl_descent *d, const pl_backend_stage *stage, const pl_array *x,
                         bool stepped)
{
    double start = pl_clock_ms();
    if (stepped)
        pl_rows_swap(&d->p, &d->p_old);
    d->gp_old = d->gp;
    refresh(d, stage, x, !stepped);
    apply(d, stepped);
    d->out->ms_global += pl_clock_ms() - start;
}

/* A step down: with the rule's memory or, if that leads nowhere, by -B0 g alone. */
static bool descend(pl_descent *d, const pl_backend_stage *stage, const pl_array *x,
                    pl_array *x_new, pl_array *gradient)
{
    for (;;) {
        bool bare = !d->law->bare || d->law->bare(d);
        double start = pl_clock_ms();
        d->law->direction(d);
        d->out->ms_global += pl_clock_ms() - start;
        if (d->no_memory)
            return false;
        if (d->slope < 0 && pl_descent_search(d, stage, x, x_new, gradient))
            return true;
        if (bare)
            return false;
        d->law->forget(d);
    }
}

/* Makes the forces at x, the end of a step, the multipliers of contact. This changes the objective there, unless
 * nothing has pushed or pushes. */
static void renew(pl_descent *d, const pl_backend_stage *stage, pl_array *x, pl_array *gradient)
{
    double start = pl_clock_ms();
    const pl_contact_renewal renewal = d->backend->ops->pairs->renew(d->backend, x);
    d->lack = renewal.lack;
    d->renewed = d->out->iterations;
    if (renewal.changed)
        evaluate(d, stage, x, gradient, true);
    d->out->ms_local += pl_clock_ms() - start;
    if (!renewal.changed)
        return;
    start = pl_clock_ms();
    apply(d, false);
    d->out->ms_global += pl_clock_ms() - start;
}

/* True if x is the answer. */
static bool is_done(pl_descent *d, const pl_array *x, const pl_array *gradient)
{
    pl_solve_result *out = d->out;
    if (d->model->solver.tolerance == 0)
        return false;
    /* On a blocked way, bodies need not be in balance: the answer will change. */
    if (d->stage->loose > 1 && out->decrement <= d->bound)
        return true;
    if (pl_balance_accepts(d->balance, d->stage, x, gradient, out->decrement, d->bound,
                           d->decrement_noise, &out->imbalance))
        return true;
    return out->iterations % LOOK == 0 &&
           pl_balance_is_at_rest(d->balance, d->stage, x, gradient, &out->imbalance);
}

/* True if multipliers of contact are due for renewal. */
static bool is_due(const pl_descent *d)
{
    const int64_t since = d->out->iterations - d->renewed;
    return since >= RENEW && since >= (d->out->iterations - LONG) / RARER;
}

/* True if gaps are so far from closed that continuing is worthwhile although forces are in balance. */
static bool lacks(pl_descent *d)
{
    if (d->lack <= pl_solver_lack(d->stage))
        return false;
    return d->patience-- > 0;
}

/* True if the answer is the start of the solve. Not on a blocked way with gaps that are too small: forces below the
 * tolerance would persist, and the next answer would pass through the same surface. */
static bool is_done_at_once(pl_descent *d, const pl_array *x, const pl_array *gradient)
{
    return is_done(d, x, gradient) &&
           !(d->stage->blocked &&
             d->backend->ops->pairs->lack(d->backend, x) > pl_solver_lack(d->stage));
}

pl_status pl_descent_solve(pl_solver *solver, const pl_backend_stage *stage, pl_array *x,
                           pl_array *gradient, pl_solve_result *out, pl_failure *failure)
{
    pl_descent *d = (pl_descent *)solver;
    const pl_backend_ops *ops = d->backend->ops;
    const pl_solver_settings *settings = &d->model->solver;
    *out = (pl_solve_result){
        .primal_residual = NAN, .dual_residual = NAN, .imbalance = NAN, .detail = d->detail};
    d->recorded = stage->bound > 0 && d->out ? d->rows - 1 : 0;
    d->out = out;
    d->stage = stage;
    d->no_memory = false;
    d->renewed = 0;
    d->lack = stage->bound > 0 ? d->lack : 0;
    d->patience = PL_DESCENT_PATIENCE;
    d->start_ms = pl_clock_ms();
    begin(d, stage, x, gradient);
    if (!isfinite(d->objective))
        return pl_descent_fail_start(d->backend, d->law->what, x, failure);
    precondition(d, stage, x, false);
    record(d, 0);
    d->first = out->decrement;
    d->bound = stage->bound > 0 ? stage->bound
                                : fmax(settings->tolerance * d->first, d->decrement_noise);
    out->bound = d->bound;
    d->bound *= fmax(stage->loose, 1);
    out->converged = settings->tolerance > 0 &&
                     (out->decrement <= d->decrement_noise ||
                      (stage->bound > 0 && is_done_at_once(d, x, gradient)));

    d->most = stage->bound > 0 ? stage->iterations : settings->iterations;
    pl_array *here = x, *there = d->x_new;
    while (isfinite(out->decrement) && !out->converged && !out->rough &&
           out->iterations < d->most) {
        d->x = here;
        if (!descend(d, stage, here, there, gradient)) {
            if (d->no_memory)
                return fail_no_memory(d->law->what, failure);
            if (out->decrement > d->decrement_noise && !d->law->stays && !stage->stays)
                return pl_descent_fail_search(d->backend, stage, here, gradient, out->decrement,
                                              failure);
            /* up to rounding */
            out->converged = settings->tolerance > 0 && out->decrement <= d->decrement_noise;
            ops->objective->gradient(d->backend, stage, here, NULL, gradient);
            break;
        }
        pl_rows_swap(&here, &there);
        out->iterations++;
        precondition(d, stage, here, true);
        record(d, out->iterations);
        out->converged = is_done(d, here, gradient);
        if (d->model->touching && (out->converged || is_due(d))) {
            renew(d, stage, here, gradient);
            out->converged = is_done(d, here, gradient) && !lacks(d);
        }
        out->rough = !out->converged && out->decrement <= stage->share * d->first;
    }
    if (d->no_memory)
        return fail_no_memory(d->law->what, failure);
    if (!isfinite(out->decrement))
        return pl_descent_fail_not_finite(d->backend, d->law->what, gradient, failure);
    if (here != x)
        ops->memory->copy(d->backend, x, here, 3 * d->model->vertices);
    if (d->law->end)
        d->law->end(d);
    return PL_OK;
}
