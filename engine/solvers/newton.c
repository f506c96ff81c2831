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
 *     eta = min(1/4, (decrement / first decrement)^(1/2))          Eisenstat, Walker 1996
 *
 * which keeps convergence superlinear without solving early steps too accurately. Every iterate of conjugate
 * gradients from 0 goes down, so ending early is safe.
 *
 * The loop, its line search and its decrement |A^-1 g|_A are descent.c's, in the norm of the constant matrix, so
 * that `tolerance` means the same for all methods. If H gives no way down, d = -A^-1 g.
 */
#include "engine/solvers/descent.h"

#include "engine/clock.h"

#include <math.h>
#include <stdlib.h>

/* Largest eta, and maximum number of conjugate gradients per step. */
static const double FORCING = 0.25;
/* The decrement, relative to the first, below which H is tried without projection. */
static const double NEAR = 1e-2;
enum { MOST_GRADIENTS = 2000 };

typedef struct newton {
    pl_array *d, *d_old;                      /* rows */
    pl_array *r, *r_old, *z, *q, *Hq, *q_old; /* rows, of conjugate gradients */
    bool plain;                               /* Newton's direction failed: use -A^-1 g */
} newton;

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
    bool direct = d->model->solver.linear == PL_LINEAR_DIRECT;
    if (!pl_rows_create(d->model, d->backend, arrays, direct ? DIRECT_ARRAYS : ARRAYS))
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
static double by_preconditioner(const pl_descent *d, const pl_array *r, pl_array *z)
{
    const pl_backend_ops *ops = d->backend->ops;
    if (d->model->solver.linear == PL_LINEAR_PCG_JACOBI)
        ops->hessian->jacobi(d->backend, r, z);
    else if (ops->matrix->solve(d->backend, r, z) != PL_OK)
        return NAN;
    return dot(d, r, z);
}

/* d = -H^-1 g to accuracy eta, by conjugate gradients from 0. */
static void solve_by_gradients(pl_descent *d, double eta)
{
    newton *s = d->rule;
    const pl_backend_ops *ops = d->backend->ops;
    int64_t count = 3 * d->model->free_vertices;
    ops->memory->clear(d->backend, s->d, count);
    add(d, -1, d->g, 0, d->g, s->r);
    double rz = by_preconditioner(d, s->r, s->z), bound = eta * eta * rz;
    ops->memory->copy(d->backend, s->q, s->z, count);
    for (int k = 0; k < MOST_GRADIENTS && rz > bound; k++) {
        ops->hessian->multiply(d->backend, s->q, s->Hq);
        double curvature = dot(d, s->q, s->Hq);
        if (!(curvature > 0))
            return;
        double a = rz / curvature;
        pl_rows_swap(&s->d, &s->d_old);
        add(d, 1, s->d_old, a, s->q, s->d);
        pl_rows_swap(&s->r, &s->r_old);
        add(d, 1, s->r_old, -a, s->Hq, s->r);
        double next = by_preconditioner(d, s->r, s->z);
        pl_rows_swap(&s->q, &s->q_old);
        add(d, 1, s->z, next / rz, s->q_old, s->q);
        rz = next;
    }
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
    if (d->model->solver.linear != PL_LINEAR_DIRECT) {
        solve_by_gradients(d, fmin(FORCING, sqrt(d->out->decrement / d->first)));
        return dot(d, d->g, s->d);
    }
    pl_status status = ops->hessian->factor(d->backend);
    if (status == PL_OK)
        status = ops->hessian->solve(d->backend, d->g, s->d_old);
    d->no_memory = d->no_memory || status == PL_NO_MEMORY;
    if (status != PL_OK)
        return 0;
    add(d, -1, s->d_old, 0, s->d_old, s->d);
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

static void begin(pl_descent *d)
{
    ((newton *)d->rule)->plain = false;
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
