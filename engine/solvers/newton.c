/* Newton's method, with Hessians made semidefinite element by element far from the minimum (Teran et al. 2005):
 *
 *     repeat   d <- -H(x)^-1 g(x),  H = M/(a h)^2 + sum of (projected) element Hessians
 *              alpha <- 1, halved until e(x + alpha d) <= e(x) + 0.3 alpha g.d     Armijo
 *              x <- x + alpha d
 *
 * A projected H is positive definite, so d goes down; the pattern and its symbolic factor are computed once. But if
 * elements have negative curvature at the minimum, projection makes convergence linear, by 0.57 a step on the
 * twisted box. So once the decrement is small relative to the first and a whole step was taken, H is used without
 * projection, if it then has a factor, and the last few steps double the digits. Newton's method is the reference
 * for other methods' objectives.
 *
 * With `linear` pcg, conjugate gradients compute d, preconditioned by the constant matrix A, whose factor exists
 * already, or by the 3 x 3 blocks on H's diagonal. They stop when the residual r = -g - H d, in the norm of the
 * preconditioner's inverse, has fallen by
 *
 *     eta = min(1/10, (decrement / first decrement)^(1/2))         Eisenstat, Walker 1996
 *
 * which keeps convergence superlinear without solving early steps too accurately. With 1/4, every second step ended
 * after one gradient, whose direction is poor; with 1/10, the twisted box takes as many steps as with a factor. Every
 * iterate of conjugate gradients from 0 goes down, so ending early is safe.
 *
 * With `linear` auto, A is the preconditioner for as many gradients as a factor would cost. Where they do not suffice
 * (slender or nearly incompressible bodies), H is factored. The factor then is the preconditioner of the solve's later
 * steps, in which H is similar, for a few gradients, before it is renewed. Costs are estimated from sizes, so the
 * same scene takes the same path on every machine. Held groups need a factor at the answer (cpu_augmented.c): with
 * them every step is direct.
 *
 * The loop, its line search and its decrement |A^-1 g|_A are descent.c's, in the norm of the constant matrix, so
 * that `tolerance` means the same for all methods. If H gives no way down, d = -A^-1 g.
 */
#include "engine/solvers/descent.h"

#include "engine/clock.h"
#include "engine/model/factors.h"

#include <math.h>
#include <stdlib.h>

/* Largest eta. */
static const double FORCING = 0.1;
/* The decrement, relative to the first, below which H is tried without projection. */
static const double NEAR = 1e-2;
/* Maximum number of gradients: if there is no factor to fall back on; by the constant matrix; by an earlier factor.
 * Where a factor costs less than LEAST_BY_MATRIX gradients (some 500 vertices), every step is direct: rough steps gain
 * little there, and a small box of steel that rolled over a floor did not converge with them. */
enum { MOST_GRADIENTS = 2000, LEAST_BY_MATRIX = 60, MOST_BY_MATRIX = 400, MOST_BY_FACTOR = 8 };

/* Of conjugate gradients: the constant matrix, the 3 x 3 blocks on H's diagonal, the last factor of an H. */
typedef enum preconditioner { BY_MATRIX, BY_BLOCKS, BY_FACTOR } preconditioner;

typedef struct newton {
    pl_array *d, *d_old;                      /* rows */
    pl_array *r, *r_old, *z, *q, *Hq, *q_old; /* rows, of conjugate gradients */
    bool direct;                              /* every step takes a factor */
    int32_t most;  /* gradients by the constant matrix before a factor, with linear auto */
    bool factored; /* an H of this solve */
    bool plain;    /* Newton's direction failed: use -A^-1 g */
} newton;

double pl_newton_gradient_seconds(const pl_model *m)
{
    return 1e-5 + 5e-8 * (double)m->free_vertices + 8e-10 * pl_factors_numbers(m);
}

/* 1.5e-8 s for each number of H's factor, which has about twelve for each of A's, and 3e-11 s for each of its products:
 * 1.5 times the numbers of a mean column for each number. Fitted to factors of 1,800 to 6,321 rows. */
double pl_newton_factor_seconds(const pl_model *m)
{
    const double numbers = 12 * pl_factors_filled(m);
    const double rows = 3 * (double)m->free_vertices;
    return numbers * (1.5e-8 + 4.5e-11 * numbers / fmax(rows, 1));
}

/* The number of gradients by the constant matrix that cost as much as a factor. */
static double gradients_a_factor(const pl_model *m)
{
    return pl_newton_factor_seconds(m) / pl_newton_gradient_seconds(m);
}

bool pl_newton_is_direct(const pl_model *m)
{
    return m->solver.linear == PL_LINEAR_DIRECT ||
           (m->solver.linear == PL_LINEAR_AUTO &&
            (m->multipliers > 0 || gradients_a_factor(m) < LEAST_BY_MATRIX));
}

enum { ARRAYS = 8, DIRECT_ARRAYS = 2 };
static void list_arrays(newton *s, pl_array **out[ARRAYS])
{
    pl_array **arrays[ARRAYS] = {&s->d, &s->d_old, &s->r,  &s->r_old,
                                 &s->z, &s->q,     &s->Hq, &s->q_old};
    for (int i = 0; i < ARRAYS; i++)
        out[i] = arrays[i];
}

static void destroy(pl_descent *d)
{
    newton *s = d->rule;
    pl_array **arrays[ARRAYS];
    if (!s)
        return;
    list_arrays(s, arrays);
    for (int i = 0; i < ARRAYS; i++)
        pl_rows_release(d->backend, arrays[i], 1);
    free(s);
}

static pl_status create(pl_descent *d)
{
    newton *s = d->rule = calloc(1, sizeof *s);
    pl_array **arrays[ARRAYS];
    if (!s)
        return PL_NO_MEMORY;
    list_arrays(s, arrays);
    s->direct = pl_newton_is_direct(d->model);
    s->most = (int32_t)fmin(gradients_a_factor(d->model), MOST_BY_MATRIX);
    if (!pl_rows_create(d->model, d->backend, arrays, s->direct ? DIRECT_ARRAYS : ARRAYS))
        return PL_NO_MEMORY;
    return d->backend->ops->hessian->prepare(d->backend);
}

static double dot(const pl_descent *d, const pl_array *a, const pl_array *b)
{
    return d->backend->ops->rows->dot(d->backend, a, b);
}

/* out = a x + b y */
static void add(const pl_descent *d, double a, const pl_array *x, double b, const pl_array *y,
                pl_array *out)
{
    const pl_array *const list[] = {x, y};
    const double coefficient[] = {a, b};
    d->backend->ops->rows->combine(d->backend, list, coefficient, 2, out);
}

/* z = r by the preconditioner; returns r.z. */
static double by_preconditioner(const pl_descent *d, preconditioner by, const pl_array *r,
                                pl_array *z)
{
    const pl_backend_ops *ops = d->backend->ops;
    pl_status status = PL_OK;
    if (by == BY_BLOCKS)
        ops->hessian->jacobi(d->backend, r, z);
    else if (by == BY_FACTOR)
        status = ops->hessian->solve(d->backend, r, z);
    else
        status = ops->matrix->solve(d->backend, r, z);
    return status == PL_OK ? dot(d, r, z) : NAN;
}

/* d = -H^-1 g to accuracy eta, by conjugate gradients from 0. False: `most` of them were too few. */
static bool solve_by_gradients(pl_descent *d, preconditioner by, double eta, int32_t most)
{
    newton *s = d->rule;
    const pl_backend_ops *ops = d->backend->ops;
    int64_t count = 3 * d->model->free_vertices;
    ops->memory->clear(d->backend, s->d, count);
    add(d, -1, d->g, 0, d->g, s->r);
    double rz = by_preconditioner(d, by, s->r, s->z), bound = eta * eta * rz;
    ops->memory->copy(d->backend, s->q, s->z, count);
    for (int32_t k = 0; k < most && rz > bound; k++) {
        ops->hessian->multiply(d->backend, s->q, s->Hq);
        double curvature = dot(d, s->q, s->Hq);
        if (!(curvature > 0))
            return true;
        double a = rz / curvature;
        pl_rows_swap(&s->d, &s->d_old);
        add(d, 1, s->d_old, a, s->q, s->d);
        pl_rows_swap(&s->r, &s->r_old);
        add(d, 1, s->r_old, -a, s->Hq, s->r);
        double next = by_preconditioner(d, by, s->r, s->z);
        pl_rows_swap(&s->q, &s->q_old);
        add(d, 1, s->z, next / rz, s->q_old, s->q);
        rz = next;
    }
    return !(rz > bound);
}

/* d = -H^-1 g by the way that `linear` names, without a new factor. False: it takes one. */
static bool solve_by_a_preconditioner(pl_descent *d)
{
    const newton *s = d->rule;
    const double eta = fmin(FORCING, sqrt(d->out->decrement / d->first));
    if (s->direct)
        return false;
    switch (d->model->solver.linear) {
    case PL_LINEAR_PCG:
        (void)solve_by_gradients(d, BY_MATRIX, eta, MOST_GRADIENTS);
        return true;
    case PL_LINEAR_PCG_JACOBI:
        (void)solve_by_gradients(d, BY_BLOCKS, eta, MOST_GRADIENTS);
        return true;
    case PL_LINEAR_AUTO:
        return s->factored ? solve_by_gradients(d, BY_FACTOR, eta, MOST_BY_FACTOR)
                           : solve_by_gradients(d, BY_MATRIX, eta, s->most);
    case PL_LINEAR_DIRECT:
        break;
    }
    return false;
}

/* d = -H^-1 g by a factor. */
static pl_status solve_by_factor(pl_descent *d)
{
    newton *s = d->rule;
    const pl_hessian_ops *hessian = d->backend->ops->hessian;
    pl_status status = hessian->factor(d->backend);
    s->factored = status == PL_OK;
    if (status == PL_OK)
        status = hessian->solve(d->backend, d->g, s->d_old);
    if (status == PL_OK)
        add(d, -1, s->d_old, 0, s->d_old, s->d);
    return status;
}

/* d = -H^-1 g, for H as it is or projected; returns g.d, or 0 without a factor. */
static double solve_for(pl_descent *d, bool exact)
{
    newton *s = d->rule;
    const pl_backend_ops *ops = d->backend->ops;
    double start = pl_clock_ms();
    if (ops->hessian->make(d->backend, d->stage, d->x, !exact) != PL_OK) {
        d->no_memory = true;
        return 0;
    }
    double made = pl_clock_ms() - start;
    d->out->ms_local += made;
    d->out->ms_global -= made; /* the loop counts all iterations of a direction */
    if (solve_by_a_preconditioner(d))
        return dot(d, d->g, s->d);
    const pl_status status = solve_by_factor(d);
    d->no_memory = d->no_memory || status == PL_NO_MEMORY;
    if (status != PL_OK)
        return 0;
    return dot(d, d->g, s->d);
}

/* Newton's direction or, if H gives none that goes down, -A^-1 g, which always does. */
static void direction(pl_descent *d)
{
    newton *s = d->rule;
    bool near = d->alpha == 1 && d->out->decrement <= NEAR * d->first;
    d->slope = !s->plain && near ? solve_for(d, true) : 0;
    if (!s->plain && !(d->slope < 0))
        d->slope = solve_for(d, false);
    if (!(d->slope < 0)) {
        add(d, -1, d->p, 0, d->p, s->d);
        d->slope = -d->out->decrement * d->out->decrement;
    }
    d->d = s->d;
}

/* A factor of an earlier solve is not used: a restored run would not have it. */
static void begin(pl_descent *d)
{
    newton *s = d->rule;
    s->plain = s->factored = false;
}

static void forget(pl_descent *d)
{
    ((newton *)d->rule)->plain = true;
}

static bool bare(const pl_descent *d)
{
    return ((const newton *)d->rule)->plain;
}

/* A new point, with its own H. */
static pl_status precondition(pl_descent *d, bool stepped)
{
    ((newton *)d->rule)->plain = false;
    return pl_descent_apply(d, stepped);
}

const pl_descent_rule pl_newton_rule = {
    .what = "Newton",
    .matrix = true,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .forget = forget,
    .bare = bare,
    .precondition = precondition,
    .direction = direction,
    .first = pl_descent_first_is_one,
};

PL_DESCENT_SOLVER(newton, pl_newton_rule);
