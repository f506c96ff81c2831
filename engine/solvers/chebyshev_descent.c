/* Wang's descent (Wang 2016): Jacobi-preconditioned gradient descent with Chebyshev's momentum, without inner
 * products in an iteration.
 *
 *     repeat   x_bar <- x - alpha P^-1 g                          P refreshed every jacobi_refresh
 *              x_new <- omega (x_bar - x_old) + x_old             omega by phases, section 4.3
 *     every 8 iterations: if e(x) is not below its value at the last check, x returns to that check and
 *              the momentum restarts; if it had just restarted, alpha is multiplied by 0.7
 *                                                                                  section 4.2
 *
 * alpha is carried from step to step: a step begins with the last one's or, unless a recent one had to shorten it,
 * with that over 0.7. Below a hundredth the step ends as it is, and the next begins with the first. Iterates
 * between two checks may be anything, even outside the energy's domain; a check accepts only descent.
 *
 * rho of the last phase is the solver's `rho`. With 0, it follows from the slowest error that the method can meet:
 * a translation of everything, whose Rayleigh quotient under P^-1 H, without the terms' part, is q = sum
 * m / (a h)^2 / sum P, and which a step multiplies by 1 - alpha q. Pins only make errors decay faster. In statics
 * q = 0, and rho is as near to 1 as allowed.
 *
 * Differences from the paper:
 *   - P's terms are clamped (backend.h).
 *   - The first response to a check that went up is to restart the momentum, because it overshoots at any
 *     alpha, and more so at shorter alpha. (Where obstacles or friction engage and release, shortening
 *     alone continued until nothing moved.)
 *   - After a step that had to shorten alpha, 4, 8, 16, then 32 steps do not try the longer one, which
 *     usually fails where it failed before and costs 8 to 24 iterations.
 *   - `tolerance` may stop a step at a check.
 *   - Energies within rounding of the last check's count as lower.
 */
#include "engine/solvers/arrays.h"
#include "engine/clock.h"
#include "engine/solvers/descent.h"
#include "engine/solvers/phases.h"
#include "engine/solvers/watch.h"

#include <math.h>
#include <stdlib.h>

enum { LOOK = 8, TUNING_ROUNDS = 60, SHORTEST_PAUSE = 4, LONGEST_PAUSE = 32 };
static const double GAMMA = 0.7, FIRST_ALPHA = 0.5, LEAST_ALPHA = 0.01;

/* The step length, and the schedule for longer ones. */
typedef struct stride {
    double alpha;
    int64_t wait;  /* number of solves until then */
    int64_t pause; /* last value of wait; 0: the last longer one succeeded */
} stride;

typedef struct chebyshev_descent {
    pl_solver base;
    const pl_model *model;
    pl_backend *backend;
    pl_watch watch;
    pl_array *x_good;         /* positions: of the last check */
    pl_array *step, *inverse; /* rows; step: x - x_old */
    /* Carried from step to step. */
    stride pace;
    int64_t solves;
    pl_phases phases;
} chebyshev_descent;

/* State of one solve between its phases. */
typedef struct progress {
    pl_watch *w;
    double quotient;    /* q */
    pl_trial_sums good; /* at the last check */
    double omega;
    int64_t since, refreshed; /* iterations since omega began; iteration of the last P */
    int32_t phase;
    bool lowered;           /* at any check */
    bool longer, shortened; /* alpha: tried at the beginning; at any check */
    bool tries;             /* a trial of phases: its result is discarded */
} progress;

static void chebyshev_destroy(pl_solver *solver)
{
    chebyshev_descent *s = (chebyshev_descent *)solver;
    pl_rows_release(s->backend, (pl_array *[]){s->x_good, s->step, s->inverse}, 3);
    pl_watch_destroy(&s->watch);
    free(s);
}

static pl_status chebyshev_create(const pl_model *model, pl_backend *backend, pl_solver **out)
{
    chebyshev_descent *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->base.ops = &pl_solver_chebyshev_descent;
    s->model = model;
    s->backend = backend;
    s->pace = (stride){.alpha = FIRST_ALPHA, .wait = 1};
    s->phases = pl_phases_default(model->solver.phases);
    pl_array **rows[] = {&s->step, &s->inverse};
    s->x_good = backend->ops->memory->alloc(backend, 3 * model->vertices);
    bool watched = pl_watch_create(model, backend, &s->watch) == PL_OK;
    if (!watched || !pl_rows_create(model, backend, rows, sizeof rows / sizeof *rows) ||
        !s->x_good) {
        chebyshev_destroy(&s->base);
        return PL_NO_MEMORY;
    }
    *out = &s->base;
    return PL_OK;
}

static void refresh(chebyshev_descent *s, progress *p)
{
    double start = pl_clock_ms();
    p->quotient = pl_descent_make_inverse(s->backend, p->w->stage, p->w->x, s->inverse);
    p->refreshed = p->w->out->iterations;
    p->w->out->ms_global += pl_clock_ms() - start;
}

static void restart(chebyshev_descent *s, progress *p)
{
    p->since = 0;
    s->backend->ops->memory->clear(s->backend, s->step, 3 * s->model->free_vertices);
}

/* Number of iterations that may run without a check: one or, if the backend runs several in a row, up to the next
 * check or the end of a phase. */
static int32_t steps_at_once(const chebyshev_descent *s, const progress *p)
{
    int64_t k = p->w->out->iterations, most = p->w->most;
    int32_t count = 1;
    if (!s->backend->ops->runs || p->w->detail)
        return count;
    while ((k + count) % LOOK != 0 && k + count < most &&
           pl_phases_at(&s->phases, k + count) == pl_phases_at(&s->phases, k))
        count++;
    return count;
}

/* Runs one or several iterations, from x to x. */
static void advance(chebyshev_descent *s, progress *p)
{
    double start = pl_clock_ms(), omega[LOOK];
    double rho = s->model->solver.rho;
    double slow = rho > 0 ? 1 - rho : s->pace.alpha * p->quotient;
    int32_t phase = pl_phases_at(&s->phases, p->w->out->iterations), count = steps_at_once(s, p);
    if (phase != p->phase)
        restart(s, p);
    p->phase = phase;
    for (int32_t k = 0; k < count; k++)
        omega[k] = p->omega = pl_phases_omega(pl_phases_rho(&s->phases, phase, slow), p->omega,
                                              p->since++);
    pl_chebyshev step = {.x = p->w->x,
                         .inverse = s->inverse,
                         .g = p->w->g,
                         .alpha = s->pace.alpha,
                         .omega = p->omega,
                         .s = s->step,
                         .x_new = p->w->x};
    const pl_backend_ops *ops = s->backend->ops;
    if (ops->runs)
        ops->runs->chebyshev(s->backend, p->w->stage, &step, omega, count);
    else
        ops->descent->chebyshev(s->backend, &step);
    p->w->out->iterations += count;
    p->w->out->ms_global += pl_clock_ms() - start;
    pl_watch_evaluate(p->w);
}

/* Keeps x, or returns to the last check with a shorter step. */
static void look(chebyshev_descent *s, progress *p)
{
    const pl_backend_ops *ops = s->backend->ops;
    pl_watch *w = p->w;
    int64_t count = 3 * s->model->vertices;
    double noise = pl_descent_noise(ops, p->good.objective, w->energy_noise);
    if (w->now.objective <= p->good.objective + noise && isfinite(w->now.decrement)) {
        p->lowered = p->lowered || w->now.objective < p->good.objective;
        p->good = w->now;
        ops->memory->copy(s->backend, s->x_good, w->x, count);
        if (w->out->iterations - p->refreshed >= s->model->solver.jacobi_refresh)
            refresh(s, p);
        return;
    }
    ops->memory->copy(s->backend, w->x, s->x_good, count);
    pl_watch_evaluate(w);
    if (p->since <= LOOK) {
        s->pace.alpha *= GAMMA;
        p->shortened = true;
    }
    restart(s, p);
}

static void begin(chebyshev_descent *s, progress *p, const pl_backend_stage *stage, pl_array *x,
                  pl_array *gradient, pl_solve_result *out)
{
    pl_watch_begin(p->w, stage, x, gradient, out);
    p->good = p->w->now;
    if (!isfinite(p->good.objective))
        return;
    s->backend->ops->memory->copy(s->backend, s->x_good, x, 3 * s->model->vertices);
    refresh(s, p);
    restart(s, p);
    p->phase = 0;
    p->longer = s->pace.wait == 0;
    if (p->longer)
        s->pace.alpha /= GAMMA;
    else
        s->pace.wait--;
    if (s->pace.alpha < LEAST_ALPHA) /* the last step ended for that reason; this one differs */
        s->pace.alpha = FIRST_ALPHA;
}

/* The number of solves before the next that tries a longer alpha. */
static void set_pace(stride *pace, const progress *p)
{
    if (p->shortened) {
        pace->pause = pace->pause == 0 ? SHORTEST_PAUSE : 2 * pace->pause;
        pace->pause = pace->pause < LONGEST_PAUSE ? pace->pause : LONGEST_PAUSE;
        pace->wait = pace->pause;
    } else if (p->longer) {
        pace->pause = 0;
    }
}

/* Runs from x to the iterations' end; the watch's `now` describes the state there. */
static void descend(chebyshev_descent *s, progress *p, const pl_backend_stage *stage, pl_array *x,
                    pl_array *gradient, pl_solve_result *out)
{
    pl_watch *w = p->w;
    begin(s, p, stage, x, gradient, out);
    while (isfinite(p->good.objective) && isfinite(p->good.decrement) && !out->converged &&
           out->iterations < w->most && s->pace.alpha >= LEAST_ALPHA) {
        advance(s, p);
        bool due = out->iterations % LOOK == 0 || out->iterations == w->most;
        if (due)
            look(s, p);
        if (due && s->model->touching && !p->tries) {
            pl_watch_renew(w);
            p->good = w->now;
        }
        pl_watch_record(w);
        out->converged = due && pl_watch_accepts(w);
    }
    set_pace(&s->pace, p);
}

/* ---- tuning ---- */

typedef struct tuning {
    chebyshev_descent *solver;
    const pl_backend_stage *stage;
    const pl_array *start;
    pl_array *x, *gradient;
    stride pace;
} tuning;

/* The remaining share of the decrement after a step's iterations with these phases. */
static double error_of(const pl_phases *phases, void *user)
{
    tuning *t = user;
    chebyshev_descent *s = t->solver;
    pl_solve_result result = {0};
    progress p = {.w = &s->watch, .tries = true};
    s->backend->ops->memory->copy(s->backend, t->x, t->start, 3 * s->model->vertices);
    s->pace = t->pace;
    s->phases = *phases;
    descend(s, &p, t->stage, t->x, t->gradient, &result);
    return isfinite(p.good.objective) ? p.good.decrement : INFINITY;
}

static pl_status tune(chebyshev_descent *s, const pl_backend_stage *stage, pl_array *x,
                      pl_array *gradient)
{
    const pl_backend_ops *ops = s->backend->ops;
    pl_array *start = ops->memory->alloc(s->backend, 3 * s->model->vertices);
    if (!start)
        return PL_NO_MEMORY;
    ops->memory->copy(s->backend, start, x, 3 * s->model->vertices);
    tuning t = {s, stage, start, x, gradient, s->pace};
    pl_phases tuned = pl_phases_tune(s->phases, error_of, &t, TUNING_ROUNDS);
    s->phases = tuned;
    s->pace = t.pace;
    ops->memory->copy(s->backend, x, start, 3 * s->model->vertices);
    ops->memory->release(s->backend, start);
    return PL_OK;
}

/* ---- the method ---- */

static pl_status chebyshev_solve(pl_solver *solver, const pl_backend_stage *stage, pl_array *x,
                                 pl_array *gradient, pl_solve_result *out, pl_failure *failure)
{
    static const char WHAT[] = "Chebyshev descent";
    chebyshev_descent *s = (chebyshev_descent *)solver;
    s->solves += stage->bound == 0; /* a continued solve belongs to the same step */
    if (stage->bound == 0 && s->solves == s->model->solver.tune &&
        tune(s, stage, x, gradient) != PL_OK) {
        failure->code = PL_FAILURE_OUT_OF_MEMORY;
        return PL_FAILED;
    }
    *out = (pl_solve_result){
        .primal_residual = NAN, .dual_residual = NAN, .imbalance = NAN, .detail = s->watch.detail};
    progress p = {.w = &s->watch};
    s->watch.start_ms = pl_clock_ms();
    s->watch.recorded = stage->bound > 0 ? s->watch.rows - 1 : 0;
    descend(s, &p, stage, x, gradient, out);
    if (!isfinite(p.good.objective))
        return pl_descent_fail_start(s->backend, WHAT, x, failure);
    if (!isfinite(p.good.decrement))
        return pl_descent_fail_not_finite(s->backend, WHAT, gradient, failure);
    if (s->pace.alpha < LEAST_ALPHA && p.good.decrement <= s->watch.decrement_noise)
        out->converged = s->model->solver.tolerance > 0; /* up to rounding */
    else if (s->pace.alpha < LEAST_ALPHA && !p.lowered && !stage->stays)
        return pl_descent_fail_search(s->backend, stage, x, gradient, out->decrement, failure);
    return PL_OK;
}

static void chebyshev_save(const pl_solver *solver, pl_bytes_out *out)
{
    const chebyshev_descent *s = (const chebyshev_descent *)solver;
    pl_bytes_put_f64(out, s->pace.alpha);
    pl_bytes_put_i64(out, s->pace.wait);
    pl_bytes_put_i64(out, s->pace.pause);
    pl_bytes_put_i64(out, s->solves);
    pl_phases_save(&s->phases, out);
}

static bool chebyshev_restore(pl_solver *solver, pl_bytes_in *in)
{
    chebyshev_descent *s = (chebyshev_descent *)solver;
    stride pace = {.alpha = pl_bytes_get_f64(in)};
    pace.wait = pl_bytes_get_i64(in);
    pace.pause = pl_bytes_get_i64(in);
    int64_t solves = pl_bytes_get_i64(in);
    pl_phases phases;
    if (in->failed || !(pace.alpha > 0 && pace.alpha < 1e6) || pace.wait < 0 ||
        pace.wait > LONGEST_PAUSE || pace.pause < 0 || pace.pause > LONGEST_PAUSE || solves < 0 ||
        !pl_phases_restore(&phases, s->model->solver.phases, in) || in->left != 0)
        return false;
    s->pace = pace;
    s->solves = solves;
    s->phases = phases;
    return true;
}

const pl_solver_ops pl_solver_chebyshev_descent = {
    .create = chebyshev_create,
    .destroy = chebyshev_destroy,
    .solve = chebyshev_solve,
    .save = chebyshev_save,
    .restore = chebyshev_restore,
};
