/* Vertex block descent (Chen, Liu, Zhang, Yuan 2024, "Vertex block descent"): vertices take turns to minimise the
 * objective over their own position, with a Newton step of three unknowns. Vertices without a common term move at the
 * same time (backends/cpu/cpu_sweep.c).
 *
 *     repeat   x_bar <- one sweep from x
 *              x_new <- omega (x_bar - x_old) + x_old         Chebyshev's weights for `rho`, x_old before x
 *
 * A sweep cannot raise the objective, so the method converges from any start in the domain. It moves an error only
 * from a vertex to its neighbours: an error that is smooth over many elements takes many sweeps, the more the stiffer
 * the body is over a step.
 *
 * Differences from the paper:
 *   - each vertex has a line search, and an H that is not definite is made so (cpu_sweep.c);
 *   - momentum that raises the objective is undone and begins again; none without `rho`;
 *   - the initial guess is the scene's (step/guess.c);
 *   - a decrement ends a step; the paper has a fixed number of sweeps.
 */
#include "engine/clock.h"
#include "engine/solvers/arrays.h"
#include "engine/solvers/descent.h"
#include "engine/solvers/watch.h"

#include <math.h>
#include <stdlib.h>

/* Sweeps from one renewal of contact's multipliers to the next. */
enum { LOOK = 8 };

typedef struct vertex_block_descent {
    pl_solver base;
    const pl_model *model;
    pl_backend *backend;
    pl_watch watch;
    pl_array *before, *old,
        *bar; /* positions: x before a sweep, before that, and after; NULL without momentum */
    double omega;
    int64_t since; /* sweeps since omega began */
} vertex_block_descent;

static void vbd_destroy(pl_solver *solver)
{
    vertex_block_descent *s = (vertex_block_descent *)solver;
    pl_watch_destroy(&s->watch);
    pl_rows_release(s->backend, (pl_array *[]){s->before, s->old, s->bar}, 3);
    free(s);
}

static pl_status vbd_create(const pl_model *model, pl_backend *backend, pl_solver **out)
{
    vertex_block_descent *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->base.ops = &pl_solver_vertex_block_descent;
    s->model = model;
    s->backend = backend;
    bool good = pl_watch_create(model, backend, &s->watch) == PL_OK &&
                backend->ops->sweep->prepare(backend) == PL_OK;
    pl_array **positions[] = {&s->before, &s->old, &s->bar};
    for (int k = 0; good && model->solver.rho > 0 && k < 3; k++)
        good = (*positions[k] = backend->ops->memory->alloc(backend, 3 * model->vertices)) != NULL;
    if (!good) {
        vbd_destroy(&s->base);
        return PL_NO_MEMORY;
    }
    *out = &s->base;
    return PL_OK;
}

static void copy(vertex_block_descent *s, pl_array *to, const pl_array *from)
{
    s->backend->ops->memory->copy(s->backend, to, from, 3 * s->model->vertices);
}

/* One sweep, from x to x. PL_OK or PL_NO_MEMORY. */
static pl_status sweep(vertex_block_descent *s, int64_t *moved)
{
    pl_watch *w = &s->watch;
    if (s->before)
        copy(s, s->before, w->x);
    const double start = pl_clock_ms(), noise = w->energy_noise / (double)s->model->free_vertices;
    pl_status status = s->backend->ops->sweep->vertices(s->backend, w->stage, noise, w->x, moved);
    w->out->iterations++;
    w->out->ms_global += pl_clock_ms() - start;
    return status;
}

/* Extrapolates from the sweep that has ended, and evaluates; back to the sweep's end if that is not lower than the
 * sweep's start. */
static void extrapolate(vertex_block_descent *s)
{
    pl_watch *w = &s->watch;
    const double before = w->now.objective, rho = s->model->solver.rho;
    s->omega = s->since == 0   ? 1
               : s->since == 1 ? 2 / (2 - rho * rho)
                               : 4 / (4 - rho * rho * s->omega);
    if (s->since++ > 0) {
        copy(s, s->bar, w->x);
        s->backend->ops->kinematics->blend(s->backend, s->old, 0, s->bar, s->omega, s->old, w->x);
    }
    pl_watch_evaluate(w);
    const double noise = pl_descent_noise(s->backend->ops, before, w->energy_noise);
    if (s->since > 1 && !(w->now.objective <= before + noise)) {
        copy(s, w->x, s->bar);
        pl_watch_evaluate(w);
        s->since = 0;
    }
    copy(s, s->old, s->before);
}

static pl_status vbd_solve(pl_solver *solver, const pl_backend_stage *stage, pl_array *x,
                           pl_array *gradient, pl_solve_result *out, pl_failure *failure)
{
    static const char WHAT[] = "Vertex block descent";
    vertex_block_descent *s = (vertex_block_descent *)solver;
    pl_watch *w = &s->watch;
    int64_t moved = 1;
    *out = (pl_solve_result){
        .primal_residual = NAN, .dual_residual = NAN, .imbalance = NAN, .detail = w->detail};
    s->since = 0;
    w->start_ms = pl_clock_ms();
    w->recorded = stage->bound > 0 ? w->rows - 1 : 0;
    pl_watch_begin(w, stage, x, gradient, out);
    if (!isfinite(w->now.objective))
        return pl_descent_fail_start(s->backend, WHAT, x, failure);
    while (!out->converged && isfinite(w->now.decrement) && moved > 0 &&
           out->iterations < w->most) {
        if (sweep(s, &moved) != PL_OK) {
            failure->code = PL_FAILURE_OUT_OF_MEMORY;
            return PL_FAILED;
        }
        if (s->before)
            extrapolate(s);
        else
            pl_watch_evaluate(w);
        const bool due = !s->model->touching || out->iterations % LOOK == 0 ||
                         out->iterations == w->most || moved == 0;
        if (due && s->model->touching) {
            pl_watch_renew(w);
            s->since = 0;
        }
        pl_watch_record(w);
        out->converged = due && pl_watch_accepts(w);
    }
    if (!isfinite(w->now.decrement))
        return pl_descent_fail_not_finite(s->backend, WHAT, gradient, failure);
    return PL_OK;
}

const pl_solver_ops pl_solver_vertex_block_descent = {
    .create = vbd_create,
    .destroy = vbd_destroy,
    .solve = vbd_solve,
};
