#include "engine/solvers/watch.h"

#include "engine/clock.h"
#include "engine/solvers/arrays.h"
#include "engine/solvers/descent.h"

#include <math.h>
#include <stdlib.h>

/* Decrements below this many roundings of positions are noise. */
static const double ROUNDING = 16;

pl_status pl_watch_create(const pl_model *model, pl_backend *backend, pl_watch *out)
{
    *out = (pl_watch){.model = model, .backend = backend};
    pl_array **rows[] = {&out->g};
    out->balance = pl_balance_create(model, backend);
    bool good = pl_rows_create(model, backend, rows, 1) && out->balance &&
                backend->ops->descent->prepare(backend) == PL_OK;
    if (model->detail == PL_METRICS_ITERATION) {
        out->detail = calloc((size_t)model->solver.iterations + 1, sizeof *out->detail);
        good = good && out->detail;
    }
    return good ? PL_OK : PL_NO_MEMORY;
}

void pl_watch_destroy(pl_watch *w)
{
    pl_rows_release(w->backend, &w->g, 1);
    pl_balance_destroy(w->balance);
    free(w->detail);
}

void pl_watch_evaluate(pl_watch *w)
{
    double start = pl_clock_ms();
    pl_trial trial = {.x_new = w->x, .gradient = w->gradient, .g = w->g};
    w->now = w->backend->ops->descent->trial(w->backend, w->stage, &trial);
    w->out->ms_local += pl_clock_ms() - start;
}

void pl_watch_record(pl_watch *w)
{
    w->out->objective = w->now.objective;
    w->out->gradient_norm = w->now.norm;
    w->out->decrement = w->now.decrement;
    int64_t k = w->out->iterations + w->recorded;
    if (!w->detail || k > w->model->solver.iterations)
        return;
    const bool inside = isfinite(w->now.objective);
    w->detail[k] = (pl_iteration){
        .objective = inside ? w->now.objective : NAN,
        .primal_residual = NAN,
        .dual_residual = NAN,
        .gradient_norm = inside ? w->now.norm : NAN,
        .decrement = inside ? w->now.decrement : NAN,
        .ms = pl_clock_ms() - w->start_ms,
    };
    w->out->detail_count = w->rows = k + 1;
}

void pl_watch_renew(pl_watch *w)
{
    if (!w->model->touching)
        return;
    const pl_contact_renewal renewal = w->backend->ops->pairs->renew(w->backend, w->x);
    w->lack = renewal.lack;
    if (renewal.changed)
        pl_watch_evaluate(w);
}

static bool is_balanced(pl_watch *w)
{
    return pl_balance_accepts(w->balance, w->stage, w->x, w->gradient, w->now.decrement, w->bound,
                              w->decrement_noise, &w->out->imbalance);
}

bool pl_watch_accepts(pl_watch *w)
{
    return w->model->solver.tolerance > 0 && is_balanced(w) &&
           !(w->lack > pl_solver_lack(w->stage) && w->patience-- > 0);
}

void pl_watch_begin(pl_watch *w, const pl_backend_stage *stage, pl_array *x, pl_array *gradient,
                    pl_solve_result *out)
{
    const pl_backend_ops *ops = w->backend->ops;
    const pl_solver_settings *settings = &w->model->solver;
    w->out = out;
    w->stage = stage;
    w->x = x;
    w->gradient = gradient;
    w->most = stage->bound > 0 ? stage->iterations : settings->iterations;
    w->patience = PL_DESCENT_PATIENCE;
    w->lack = 0;
    pl_watch_evaluate(w);
    pl_watch_record(w);
    if (!isfinite(w->now.objective))
        return;
    double magnitude = ops->objective->magnitude(w->backend, x);
    w->energy_noise = ops->epsilon * magnitude;
    w->decrement_noise = ROUNDING * ops->epsilon * sqrt(magnitude);
    w->bound = stage->bound > 0 ? stage->bound : settings->tolerance * w->now.decrement;
    out->bound = fmax(w->bound, w->decrement_noise);
    w->bound *= fmax(stage->loose, 1);
    out->converged = settings->tolerance > 0 && (w->now.decrement <= w->decrement_noise ||
                                                 (stage->bound > 0 && is_balanced(w)));
}
