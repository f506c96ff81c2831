/* ADMM (Narain 2016, algorithm 1), local step first:
 *
 *     x = x0, z = D x, u = 0
 *     repeat   z_i <- argmin U_i(z_i) + w_i^2/2 |D_i x + u_i - z_i|^2       eq. 24
 *              u_i <- u_i + D_i x - z_i                                      eq. 25
 *              x   <- A^-1 (M x~/(a h)^2 + D^T W^2 (z - u))                  eq. 15
 *
 * with A = M/(a h)^2 + D^T W^2 D. Hard constraints keep their u from step to step: it is the contact force, and a
 * body at rest needs the same force every step.
 *
 * Momentum (Goldstein et al. 2014, algorithm 8): the global step and the next local step see
 * z^ = z + beta (z - z_old), u^ = u + beta (u - u_old), with beta from Nesterov's sequence. If the combined residual
 * c = |W (D x - z)|^2 + |W (z - z^)|^2 does not fall, the momentum is dropped and the sequence begins again. It
 * costs only two more arrays and saves four iterations out of five.
 *
 * Anderson acceleration (anderson.h) is the default: the vector D x + u of the next local step is extrapolated from
 * the last few. It halves the iterations again, and converges where momentum cycles; beta is then 0.
 *
 * Weights follow the state (weights.h): they are raised where elements are strongly compressed. The iterations
 * continue from the same x, z and forces W^2 u, with all acceleration restarted.
 *
 * The Newton decrement in the norm of A comes at no cost. A x(k) = b(k) is the right-hand side that was solved, so
 * |x(k+1) - x(k)|_A^2 = (x(k+1) - x(k)) . (b(k+1) - b(k)). Without momentum, x(k+1) - x(k) =
 * -A^-1 (M (x - x~)/(a h)^2 + D^T grad U(z) + D^T W^2 (D x - z)) is the quasi-Newton step with the gradient taken at
 * z. A small step implies a small gradient only if D x = z and z is at rest. Hence the two further tests:
 * |W (D x - z)|, and |W (z - z^)|, which bounds the dual residual (eq. 23) in the same norm,
 * |D^T W^2 (z - z^)|_{A^-1} <= |W (z - z^)|, because A >= D^T W^2 D. All three are J^(1/2) and are compared with
 * the first decrement or, if the initial guess was already the answer (free flight), with the rounding error of
 * |W z|.
 *
 * If all three pass, the gradient is computed, and bodies must be in balance (balance.h), and so must the force of
 * each obstacle: a local step changes it by -sum W^2 (D x - z), which is its error. If they are not, the next check
 * comes after an eighth of the iterations so far.
 */
#include "engine/solvers/arrays.h"
#include "engine/solvers/balance.h"
#include "engine/solvers/solver.h"

#include "engine/clock.h"
#include "engine/model/groups/touching.h"
#include "engine/solvers/anderson.h"
#include "engine/solvers/global_step.h"
#include "engine/solvers/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The combined residual must fall by this factor for momentum to be kept (Goldstein et al. 2014). */
static const double KEEP_MOMENTUM = 0.999;
/* Allowed relative change of an obstacle's force in an iteration. */
static const double SETTLED = 0.01;
/* Residuals below this many roundings of |W z| are noise. */
static const double ROUNDING = 64;

typedef struct admm {
    pl_solver base;
    const pl_model *model;
    pl_backend *backend;
    pl_array **u, **z;         /* [group_count] */
    pl_array **u_old, **z_old; /* those of the iteration before; u and z where nothing reads them */
    pl_global global;
    pl_anderson_history *anderson; /* NULL with another acceleration */
    pl_weights *weights;
    pl_balance *balance;
    bool apart;             /* the model has a group that keeps bodies apart */
    pl_iteration *detail;   /* [iterations + 1], or NULL */
    int64_t rows, recorded; /* of `detail`; before this solve, if it continues another's answer */
} admm;

static void release_previous(const admm *s, pl_array **before, pl_array *const *now)
{
    for (int32_t g = 0; before && g < s->model->group_count; g++)
        if (before[g] && before[g] != now[g])
            s->backend->ops->memory->release(s->backend, before[g]);
    free(before);
}

/* The arrays of an iteration before: only momentum reads them, and of hard groups obstacles_settled(). */
static pl_array **create_previous(const admm *s, pl_array *const *now)
{
    const bool momentum = s->model->solver.acceleration == PL_ACCELERATION_NESTEROV;
    pl_array **before = calloc((size_t)s->model->group_count + 1, sizeof *before);
    for (int32_t g = 0; before && g < s->model->group_count; g++) {
        const pl_group *group = &s->model->groups[g];
        before[g] = now[g];
        if (momentum || group->ops->hard)
            before[g] = s->backend->ops->memory->alloc(s->backend, pl_group_values(group));
        if (!before[g]) {
            release_previous(s, before, now);
            return NULL;
        }
    }
    return before;
}

static void admm_destroy(pl_solver *solver)
{
    admm *s = (admm *)solver;
    release_previous(s, s->u_old, s->u);
    release_previous(s, s->z_old, s->z);
    pl_values_release(s->model, s->backend, (pl_array * *[]){s->u, s->z}, 2);
    pl_global_clear(&s->global);
    pl_anderson_destroy(s->anderson);
    pl_weights_destroy(s->weights);
    pl_balance_destroy(s->balance);
    free(s->detail);
    free(s);
}

static pl_status admm_create(const pl_model *model, pl_backend *backend, pl_solver **out)
{
    admm *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->base.ops = &pl_solver_admm;
    s->model = model;
    s->apart = pl_touching_find(model->groups, model->group_count) >= 0;
    s->backend = backend;
    bool good = pl_values_create(model, backend, (pl_array * **[]){&s->u, &s->z}, 2);
    if (good) {
        s->u_old = create_previous(s, s->u);
        s->z_old = create_previous(s, s->z);
    }
    good = pl_global_init(model, backend, &s->global) && good && s->u_old && s->z_old;
    if (model->detail == PL_METRICS_ITERATION) {
        s->detail = calloc((size_t)model->solver.iterations + 1, sizeof *s->detail);
        good = good && s->detail;
    }
    if (model->solver.acceleration == PL_ACCELERATION_ANDERSON)
        good = good && pl_anderson_create(model, backend, &s->anderson) == PL_OK;
    s->balance = pl_balance_create(model, backend);
    good = good && s->balance && pl_weights_create(model, backend, true, &s->weights) == PL_OK;
    if (!good) {
        admm_destroy(&s->base);
        return PL_NO_MEMORY;
    }
    *out = &s->base;
    return PL_OK;
}

/* State of one solve between its phases. */
typedef struct progress {
    pl_solve_result *out;
    int64_t most; /* iterations */
    double bound; /* target for residuals */
    double start_ms;
    double t, beta;  /* Nesterov's sequence; the momentum seen by the last global step */
    double combined; /* last combined residual, squared */
    double change;   /* |W (z - z^)| of the last local step */
    double rounding; /* rounding error of |W z| */
    int64_t look;    /* first iteration in which balance is checked */
} progress;

/* The current rows of contact between bodies. */
static int64_t rows_of(const admm *s)
{
    return s->apart ? pl_contact_set_rows(s->backend->ops->pairs->set(s->backend))->count : 0;
}

static void copy_previous(admm *s, int32_t g)
{
    const pl_memory_ops *memory = s->backend->ops->memory;
    const int64_t count = pl_group_values(&s->model->groups[g]);
    if (s->u_old[g] == s->u[g])
        return;
    memory->copy(s->backend, s->u_old[g], s->u[g], count);
    memory->copy(s->backend, s->z_old[g], s->z[g], count);
}

/* Initialises the state before the first iteration. */
static pl_status begin(admm *s, const pl_backend_stage *stage, const pl_array *x)
{
    const pl_backend_ops *ops = s->backend->ops;
    pl_status status = pl_weights_begin(s->weights, stage, s->z, rows_of(s) > 0);
    if (status == PL_OK && s->apart)
        status = ops->pairs->apart(s->backend, s->u);
    if (status != PL_OK)
        return status;
    pl_global_begin(&s->global, stage, x);
    ops->splitting->reduce(s->backend, x, s->z);
    if (s->anderson)
        pl_anderson_begin(s->anderson);
    for (int32_t g = 0; g < s->model->group_count; g++) {
        int64_t count = pl_group_values(&s->model->groups[g]);
        if (!s->model->groups[g].ops->hard)
            ops->memory->clear(s->backend, s->u[g], count);
        copy_previous(s, g);
    }
    return PL_OK;
}

/* The same after a local step, for the global step of other weights. */
static void begin_again(admm *s, const pl_backend_stage *stage, const pl_array *x, progress *p)
{
    const pl_backend_ops *ops = s->backend->ops;
    for (int32_t g = 0; g < s->model->group_count; g++)
        copy_previous(s, g);
    pl_global_go_on(&s->global, stage, x);
    ops->splitting->contribute(s->backend, s->u, s->z);
    if (s->anderson)
        pl_anderson_begin(s->anderson);
    p->t = 1;
    p->beta = 0;
    p->combined = INFINITY;
}

/* z(k), u(k) and their contributions to the global step; residuals of this iteration (eq. 22-23). */
static void local_step(admm *s, const pl_backend_stage *stage, const pl_array *x, bool want_dual,
                       progress *p)
{
    const pl_backend_ops *ops = s->backend->ops;
    double start = pl_clock_ms();
    /* The last iteration is plain: an extrapolation without a following iteration may leave elements inverted in a
     * step that does not converge. */
    const bool mixes = s->anderson && p->out->iterations > 0 && p->out->iterations + 1 < p->most;
    const double relaxation = s->anderson && !mixes ? 1 : s->model->solver.relaxation;
    const pl_mixing *mixing = mixes ? pl_anderson_mix(s->anderson, x, s->z, relaxation) : NULL;
    p->out->ms_local += pl_clock_ms() - start;
    bool accelerated = s->model->solver.acceleration == PL_ACCELERATION_NESTEROV;
    double t_next = (1 + sqrt(1 + 4 * p->t * p->t)) / 2;
    double beta_next = accelerated ? (p->t - 1) / t_next : 0;
    pl_local_step step = {.x = x,
                          .u = s->u,
                          .z = s->z,
                          .u_old = s->u_old,
                          .z_old = s->z_old,
                          .beta = p->beta,
                          .beta_next = beta_next,
                          .relaxation = relaxation,
                          .mixing = mixing,
                          .want_dual = want_dual,
                          .want_sums = true};
    pl_local_sums sums = ops->splitting->local_step(s->backend, stage, &step);
    for (int32_t g = 0; g < s->model->group_count; g++) {
        pl_rows_swap(&s->u[g], &s->u_old[g]);
        pl_rows_swap(&s->z[g], &s->z_old[g]);
    }
    double combined = sums.primal * sums.primal + sums.change * sums.change;
    if (beta_next > 0 && combined > KEEP_MOMENTUM * p->combined) {
        ops->splitting->contribute(s->backend, s->u, s->z);
        t_next = 1;
        beta_next = 0;
    }
    p->t = t_next;
    p->beta = beta_next;
    p->combined = combined;
    p->change = sums.change;
    p->rounding = ROUNDING * ops->epsilon * sums.size;
    p->out->primal_residual = sums.primal;
    p->out->dual_residual = want_dual ? ops->splitting->dual_norm(s->backend) : NAN;
    p->out->ms_local += sums.ms_elastic;
    p->out->ms_collision += sums.ms_contacts;
}

/* x(k) = A^-1 b(k), and the decrement |x(k) - x(k-1)|_A. */
static pl_status global_step(admm *s, pl_array *x, progress *p)
{
    double start = pl_clock_ms();
    pl_status status = pl_global_step(&s->global, x, &p->out->decrement);
    if (status != PL_OK)
        return status;
    p->out->ms_global += pl_clock_ms() - start;
    return PL_OK;
}

static void record(admm *s, const pl_backend_stage *stage, const pl_array *x, pl_array *gradient,
                   int64_t k, progress *p)
{
    k += s->recorded;
    if (!s->detail || k > s->model->solver.iterations)
        return;
    const pl_backend_ops *ops = s->backend->ops;
    s->detail[k] = (pl_iteration){
        .objective = ops->objective->value(s->backend, stage, x),
        .primal_residual = p->out->primal_residual,
        .dual_residual = p->out->dual_residual,
        .gradient_norm = ops->objective->gradient(s->backend, stage, x, s->u, gradient),
        .decrement = p->out->decrement,
        .ms = pl_clock_ms() - p->start_ms,
    };
    p->out->detail_count = s->rows = k + 1;
}

static pl_status fail(admm *s, const pl_array *x, pl_failure *failure)
{
    failure->code = PL_FAILURE_NOT_FINITE;
    failure->vertex = s->backend->ops->kinematics->find_not_finite(s->backend, x);
    snprintf(failure->message, sizeof failure->message,
             "A position is not finite after an ADMM iteration.");
    snprintf(failure->advice, sizeof failure->advice,
             "Use a smaller time.step, raise solver.weight_scale, or check for moduli, densities "
             "or velocities that are out of scale.");
    return PL_FAILED;
}

/* Weights could not be raised. */
static pl_status fail_of_weights(const admm *s, pl_status status, pl_failure *failure)
{
    bool memory = status == PL_NO_MEMORY, multigrid = s->model->multigrid[0];
    failure->code = memory ? PL_FAILURE_OUT_OF_MEMORY : PL_FAILURE_NOT_FINITE;
    snprintf(failure->message, sizeof failure->message, "%s",
             memory      ? "Out of memory for the matrix of compressed elements and its factor."
             : multigrid ? "Multigrid hardly converges on the matrix of compressed elements."
                         : "The matrix of compressed elements has no factor.");
    if (multigrid)
        snprintf(failure->advice, sizeof failure->advice, "Use solver.matrix \"cholesky\".");
    return PL_FAILED;
}

/* True if the last local step left the force of each hard obstacle unchanged, to a hundredth of it or of the
 * allowed imbalance of a body. */
static bool obstacles_settled(admm *s)
{
    const pl_backend_ops *ops = s->backend->ops;
    const pl_model *m = s->model;
    for (int32_t g = 0; g < m->group_count; g++) {
        if (m->group_obstacle[g] < 0 || !m->groups[g].ops->hard)
            continue;
        double now[3], before[3], change = 0, force = 0;
        ops->splitting->hard_force(s->backend, g, s->u[g], now);
        ops->splitting->hard_force(s->backend, g, s->u_old[g], before);
        for (int c = 0; c < 3; c++) {
            force += now[c] * now[c];
            change += (now[c] - before[c]) * (now[c] - before[c]);
        }
        if (sqrt(change) > fmax(SETTLED * sqrt(force), pl_balance_least_bound(s->balance)))
            return false;
    }
    return true;
}

/* True if the residuals are small relative to the first decrement, or rounding. */
static bool passes(const admm *s, const progress *p)
{
    const double bound = fmax(p->bound, p->rounding);
    return s->model->solver.tolerance > 0 && p->out->decrement <= bound && p->change <= bound &&
           p->out->primal_residual <= bound;
}

/* True if bodies are closer to each other than allowed. */
static bool lacks(admm *s, const pl_backend_stage *stage, const pl_array *x)
{
    return rows_of(s) > 0 && s->backend->ops->pairs->lack(s->backend, x) > pl_solver_lack(stage);
}

static bool in_balance(admm *s, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *gradient, progress *p)
{
    int64_t k = p->out->iterations;
    bool last = k == p->most;
    if (k < p->look && !last)
        return false;
    p->look = k + 1 + k / 8;
    s->backend->ops->objective->gradient(s->backend, stage, x, s->u, gradient);
    double worst = fmax(p->out->decrement, fmax(p->change, p->out->primal_residual));
    return pl_balance_accepts(s->balance, stage, x, gradient, worst, p->bound, p->rounding,
                              &p->out->imbalance) &&
           (worst <= p->rounding || obstacles_settled(s)) && !lacks(s, stage, x);
}

/* Relative to the first decrement of the stage. */
static void set_bound(const admm *s, const pl_backend_stage *stage, progress *p)
{
    if (p->out->iterations > 1)
        return;
    p->out->bound = stage->bound > 0 ? stage->bound
                                     : s->model->solver.tolerance * p->out->decrement;
    p->bound = p->out->bound * fmax(stage->loose, 1);
}

static pl_status admm_solve(pl_solver *solver, const pl_backend_stage *stage, pl_array *x,
                            pl_array *gradient, pl_solve_result *out, pl_failure *failure)
{
    admm *s = (admm *)solver;
    const pl_backend_ops *ops = s->backend->ops;
    const pl_solver_settings *settings = &s->model->solver;
    double tolerance = settings->tolerance;
    *out = (pl_solve_result){.objective = NAN,
                             .primal_residual = NAN,
                             .dual_residual = NAN,
                             .gradient_norm = NAN,
                             .decrement = NAN,
                             .imbalance = NAN,
                             .detail = s->detail};
    progress p = {.out = out,
                  .most = stage->bound > 0 ? stage->iterations : settings->iterations,
                  .bound = stage->bound * fmax(stage->loose, 1),
                  .start_ms = pl_clock_ms(),
                  .t = 1,
                  .combined = INFINITY};
    s->recorded = stage->bound > 0 && s->rows > 0 ? s->rows - 1 : 0;
    pl_status status = begin(s, stage, x);
    if (status != PL_OK)
        return fail_of_weights(s, status, failure);
    record(s, stage, x, gradient, 0, &p);

    for (int64_t k = 1; k <= p.most && !out->converged; k++) {
        /* The dual residual costs a second set of contributions: it is computed only where needed. */
        bool near = tolerance > 0 && out->decrement <= 10 * fmax(p.bound, p.rounding);
        bool want_dual = k == p.most || s->detail || near;
        local_step(s, stage, x, want_dual, &p);
        bool renewed;
        status = pl_weights_renew(s->weights, k, s->z, s->u, &renewed);
        if (status != PL_OK)
            return fail_of_weights(s, status, failure);
        if (renewed)
            begin_again(s, stage, x, &p);
        if (global_step(s, x, &p) != PL_OK)
            return pl_global_fail(failure);
        if (!isfinite(out->decrement))
            return fail(s, x, failure);
        out->iterations = k;
        set_bound(s, stage, &p);
        record(s, stage, x, gradient, k, &p);
        bool passed = k > 1 && want_dual && passes(s, &p);
        if (!passed)
            out->imbalance = NAN;
        out->converged = passed && in_balance(s, stage, x, gradient, &p);
        out->stayed = out->converged && k == 2;
    }
    out->objective = ops->objective->value(s->backend, stage, x);
    out->gradient_norm = ops->objective->gradient(s->backend, stage, x, s->u, gradient);
    out->multipliers = s->u;
    return PL_OK;
}

/* Between solves only two things survive: u of the hard groups, except contact between bodies, whose rows survive
 * instead; and the memory of the weights. begin() initialises everything else. */
static bool keeps(const admm *s, int32_t group)
{
    const pl_group *g = &s->model->groups[group];
    return g->ops->hard && pl_touching_find(g, 1) < 0;
}

static int64_t remembered(const admm *s)
{
    int64_t count = 0;
    for (int32_t g = 0; g < s->model->group_count; g++)
        count += keeps(s, g) ? pl_group_values(&s->model->groups[g]) : 0;
    return count;
}

static void admm_save(const pl_solver *solver, pl_bytes_out *out)
{
    const admm *s = (const admm *)solver;
    pl_bytes_put_i64(out, remembered(s));
    for (int32_t g = 0; g < s->model->group_count; g++) {
        int64_t count = pl_group_values(&s->model->groups[g]);
        double *to = keeps(s, g) ? pl_bytes_grow(out, (size_t)count * sizeof *to) : NULL;
        if (to)
            s->backend->ops->memory->download(s->backend, to, s->u[g], count);
    }
    pl_weights_save(s->weights, out);
}

static bool admm_restore(pl_solver *solver, pl_bytes_in *in)
{
    admm *s = (admm *)solver;
    int64_t count = remembered(s);
    size_t size = (size_t)count * sizeof(double);
    if (pl_bytes_get_i64(in) != count || in->left < size)
        return false;
    pl_bytes_in duals = {in->at, size, false};
    pl_bytes_in levels = {in->at + size, in->left - size, false};
    if (!pl_weights_restore(s->weights, &levels))
        return false;
    for (int32_t g = 0; g < s->model->group_count; g++) {
        int64_t values = pl_group_values(&s->model->groups[g]);
        if (keeps(s, g))
            s->backend->ops->memory->upload(s->backend, s->u[g],
                                            pl_bytes_take(&duals, (size_t)values * sizeof(double)),
                                            values);
    }
    *in = levels;
    return true;
}

const pl_solver_ops pl_solver_admm = {
    .create = admm_create,
    .destroy = admm_destroy,
    .solve = admm_solve,
    .save = admm_save,
    .restore = admm_restore,
};
