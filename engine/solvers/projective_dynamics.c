/* Projective dynamics (Bouaziz et al. 2014; Narain 2016, section 3.2; Liu 2017, section 3). Every energy is a
 * squared distance from a set, U_i(q) = k_i/2 |q - P_i(q)|^2 with P_i the projection onto it, and the weights are
 * the energies' own, w_i^2 = k_i.
 *
 *     x = x0
 *     repeat   p_i <- P_i(D_i x)
 *              x   <- A^-1 (M x~/(a h)^2 + D^T W^2 p)                        Liu 2017, eq. 7
 *
 * The right-hand side is that of ADMM's global step, with ADMM's local step at u = 0. The prox of such an energy
 * goes half of the way, z = (v + P(v)) / 2, so that with u' = v - z
 *
 *     z - u' = 2 z - v = P(v).
 *
 * So one call of the same phase does it all, with a dual that stays 0. (If P is affine, ADMM's u is normal to the
 * set, P(D x + u) = P(D x), and both make the same iterates: Narain 2016, appendix A.)
 *
 * k_i/2 |q - p_i|^2 lies above U_i and touches it at the projected point p_i, so e never rises: there is no line
 * search, and only rounding can fail. As D^T W^2 (D x - p) = grad U, x(k+1) - x(k) = -A^-1 grad e(x(k)). The
 * decrement |x(k+1) - x(k)|_A is therefore quasi-Newton's, (grad e . A^-1 grad e)^(1/2) of the previous iterate,
 * and is compared with the first.
 *
 * Contact between bodies is not such an energy: its group (model/groups/touching.h) uses ADMM's own local step,
 * with a u that is kept from iteration to iteration.
 */
#include "engine/solvers/arrays.h"
#include "engine/solvers/balance.h"
#include "engine/solvers/solver.h"

#include "engine/clock.h"
#include "engine/model/groups/touching.h"
#include "engine/solvers/global_step.h"
#include "engine/solvers/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Decrements below this many roundings of positions are noise. */
static const double ROUNDING = 16;

typedef struct projective {
    pl_solver base;
    const pl_model *model;
    pl_backend *backend;
    pl_array **zero, **u,
        **z;             /* [group_count]; u and z are not read. zero: but for the u of contact */
    int32_t apart;       /* its group, or -1 */
    pl_weights *weights; /* of it; NULL without */
    pl_global global;
    pl_balance *balance;
    pl_iteration *detail;   /* [iterations + 1], or NULL */
    int64_t rows, recorded; /* of it; before this solve, which continues from another's answer */
    double start_ms;        /* of the current solve */
} projective;

static void projective_destroy(pl_solver *solver)
{
    projective *s = (projective *)solver;
    pl_values_release(s->model, s->backend, (pl_array * *[]){s->zero, s->u, s->z}, 3);
    pl_global_clear(&s->global);
    pl_balance_destroy(s->balance);
    pl_weights_destroy(s->weights);
    free(s->detail);
    free(s);
}

static pl_status projective_create(const pl_model *model, pl_backend *backend, pl_solver **out)
{
    projective *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->base.ops = &pl_solver_projective_dynamics;
    s->model = model;
    s->apart = pl_touching_find(model->groups, model->group_count);
    s->backend = backend;
    bool good = pl_values_create(model, backend, (pl_array * **[]){&s->zero, &s->u, &s->z}, 3);
    good = pl_global_init(model, backend, &s->global) && good;
    s->balance = pl_balance_create(model, backend);
    good = good && s->balance;
    if (s->apart >= 0)
        good = pl_weights_create(model, backend, false, &s->weights) == PL_OK && good;
    if (model->detail == PL_METRICS_ITERATION) {
        s->detail = calloc((size_t)model->solver.iterations + 1, sizeof *s->detail);
        good = good && s->detail;
    }
    if (!good) {
        projective_destroy(&s->base);
        return PL_NO_MEMORY;
    }
    *out = &s->base;
    return PL_OK;
}

static pl_status begin(projective *s, const pl_backend_stage *stage, const pl_array *x)
{
    const pl_backend_ops *ops = s->backend->ops;
    if (s->weights) {
        const bool near = pl_contact_set_rows(ops->pairs->set(s->backend))->count > 0;
        pl_status status = pl_weights_begin(s->weights, stage, s->z, near);
        if (status != PL_OK)
            return status;
    }
    pl_global_begin(&s->global, stage, x);
    /* The phase reads what it overwrites, times 0, so nothing of a failed solve may remain there. */
    for (int32_t g = 0; g < s->model->group_count; g++) {
        int64_t count = pl_group_values(&s->model->groups[g]);
        ops->memory->clear(s->backend, s->u[g], count);
        ops->memory->clear(s->backend, s->z[g], count);
    }
    return s->apart >= 0 ? ops->pairs->apart(s->backend, s->zero) : PL_OK;
}

/* D^T W^2 p into the contributions. */
static void project(projective *s, const pl_backend_stage *stage, const pl_array *x,
                    pl_solve_result *out)
{
    pl_local_step step = {
        .x = x, .u = s->zero, .z = s->zero, .u_old = s->u, .z_old = s->z, .relaxation = 1};
    const pl_local_sums sums = s->backend->ops->splitting->local_step(s->backend, stage, &step);
    out->ms_local += sums.ms_elastic;
    out->ms_collision += sums.ms_contacts;
    if (s->apart >= 0)
        pl_rows_swap(&s->zero[s->apart], &s->u[s->apart]);
}

/* The gradient of the objective, including contact. */
static double find_gradient(projective *s, const pl_backend_stage *stage, const pl_array *x,
                            pl_array *gradient)
{
    return s->backend->ops->objective->gradient(s->backend, stage, x,
                                                s->apart >= 0 ? s->zero : NULL, gradient);
}

/* x(k) = A^-1 b(k), and |x(k) - x(k-1)|_A from the right-hand sides, as in admm.c. */
static pl_status global_step(projective *s, pl_array *x, pl_solve_result *out)
{
    double start = pl_clock_ms();
    pl_status status = pl_global_step(&s->global, x, &out->decrement);
    if (status != PL_OK)
        return status;
    out->ms_global += pl_clock_ms() - start;
    return PL_OK;
}

static void record(projective *s, const pl_backend_stage *stage, const pl_array *x,
                   pl_array *gradient, int64_t k, pl_solve_result *out)
{
    k += s->recorded;
    if (!s->detail || k > s->model->solver.iterations)
        return;
    const pl_backend_ops *ops = s->backend->ops;
    s->detail[k] = (pl_iteration){
        .objective = ops->objective->value(s->backend, stage, x),
        .primal_residual = NAN,
        .dual_residual = NAN,
        .gradient_norm = find_gradient(s, stage, x, gradient),
        .decrement = out->decrement,
        .ms = pl_clock_ms() - s->start_ms,
    };
    out->detail_count = s->rows = k + 1;
}

static pl_status fail(projective *s, const pl_array *x, pl_failure *failure)
{
    failure->code = PL_FAILURE_NOT_FINITE;
    failure->vertex = s->backend->ops->kinematics->find_not_finite(s->backend, x);
    snprintf(failure->message, sizeof failure->message,
             "A position is not finite after an iteration of projective dynamics.");
    snprintf(failure->advice, sizeof failure->advice,
             "Use a smaller time.step, or check for moduli, densities or velocities that are out "
             "of scale.");
    return PL_FAILED;
}

/* True if bodies are closer to each other than allowed. */
static bool lacks(projective *s, const pl_backend_stage *stage, const pl_array *x)
{
    return s->apart >= 0 && s->backend->ops->pairs->lack(s->backend, x) > pl_solver_lack(stage);
}

/* Contact could not begin. */
static pl_status fail_to_begin(pl_status status, pl_failure *failure)
{
    const bool memory = status == PL_NO_MEMORY;
    failure->code = memory ? PL_FAILURE_OUT_OF_MEMORY : PL_FAILURE_NOT_FINITE;
    snprintf(failure->message, sizeof failure->message, "%s",
             memory ? "Out of memory for contact between bodies."
                    : "The matrix with contact between bodies has no factor.");
    return PL_FAILED;
}

/* True if x is the answer: by its decrement, and by the balance of bodies, for which its gradient is computed. */
static bool is_done(projective *s, const pl_backend_stage *stage, const pl_array *x,
                    pl_array *gradient, double bound, double noise, pl_solve_result *out)
{
    if (s->model->solver.tolerance == 0 || out->decrement > fmax(bound, noise))
        return false;
    out->gradient_norm = find_gradient(s, stage, x, gradient);
    return !lacks(s, stage, x) && pl_balance_accepts(s->balance, stage, x, gradient, out->decrement,
                                                     bound, noise, &out->imbalance);
}

static pl_status projective_solve(pl_solver *solver, const pl_backend_stage *stage, pl_array *x,
                                  pl_array *gradient, pl_solve_result *out, pl_failure *failure)
{
    projective *s = (projective *)solver;
    const pl_backend_ops *ops = s->backend->ops;
    const pl_solver_settings *settings = &s->model->solver;
    *out = (pl_solve_result){.primal_residual = NAN,
                             .dual_residual = NAN,
                             .imbalance = NAN,
                             .decrement = NAN,
                             .detail = s->detail};
    s->start_ms = pl_clock_ms();
    s->recorded = stage->bound > 0 && s->rows > 0 ? s->rows - 1 : 0;
    pl_status status = begin(s, stage, x);
    if (status != PL_OK)
        return fail_to_begin(status, failure);
    record(s, stage, x, gradient, 0, out);
    double noise = ROUNDING * ops->epsilon * sqrt(ops->objective->magnitude(s->backend, x)),
           loose = fmax(stage->loose, 1);
    const int64_t most = stage->bound > 0 ? stage->iterations : settings->iterations;
    out->bound = stage->bound;
    for (int64_t k = 1; k <= most && !out->converged; k++) {
        project(s, stage, x, out);
        if (global_step(s, x, out) != PL_OK)
            return pl_global_fail(failure);
        if (!isfinite(out->decrement))
            return fail(s, x, failure);
        out->iterations = k;
        if (k == 1 && stage->bound == 0)
            out->bound = settings->tolerance * out->decrement;
        record(s, stage, x, gradient, k, out);
        /* The first decrement alone decides nothing, unless the initial guess was the answer. */
        const bool known = k > 1 || stage->bound > 0;
        out->converged = is_done(s, stage, x, gradient, known ? out->bound * loose : 0, noise, out);
        out->stayed = out->converged && k == 1;
    }
    out->objective = ops->objective->value(s->backend, stage, x);
    out->gradient_norm = find_gradient(s, stage, x, gradient);
    return PL_OK;
}

/* Between solves, the only memory is whether contact has weights. */
static void projective_save(const pl_solver *solver, pl_bytes_out *out)
{
    const projective *s = (const projective *)solver;
    if (s->weights)
        pl_weights_save(s->weights, out);
}

static bool projective_restore(pl_solver *solver, pl_bytes_in *in)
{
    projective *s = (projective *)solver;
    return s->weights ? pl_weights_restore(s->weights, in) : in->left == 0;
}

const pl_solver_ops pl_solver_projective_dynamics = {
    .create = projective_create,
    .destroy = projective_destroy,
    .solve = projective_solve,
    .save = projective_save,
    .restore = projective_restore,
};
