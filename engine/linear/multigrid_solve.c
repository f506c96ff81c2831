/* Solves by multigrid: conjugate gradients, and Chebyshev's iteration, both on V-cycles. */
#include "engine/linear/multigrid.h"
#include "engine/linear/multigrid_levels.h"
#include "engine/linear/spectrum.h"

#include <math.h>
#include <stdlib.h>

/* From [3][n] to the order and scale of the first level: right-hand sides S b, or unknowns S^-1 x. */
static void load(const pl_multigrid *m, pl_multigrid_work *w, bool unknowns, const double *from,
                 pl_quad *to)
{
    const pl_level *l = &m->level[0];
    const int64_t n = l->A.rows;
    PL_EACH_CHUNK(w, n, i0, i1)
    for (int64_t k = i0; k < i1; k++) {
        const double *at = from + (m->order ? m->order[k] : k);
        const double s = unknowns ? 1 / l->scale[k] : l->scale[k];
        to[k] = (pl_quad){s * at[0], s * at[n], s * at[2 * n], 0};
    }
}

/* Unknowns, back. */
static void store(const pl_multigrid *m, pl_multigrid_work *w, const pl_quad *from, double *to)
{
    const int64_t n = m->level[0].A.rows;
    const double *scale = m->level[0].scale;
    PL_EACH_CHUNK(w, n, i0, i1)
    for (int64_t k = i0; k < i1; k++) {
        const int64_t i = m->order ? m->order[k] : k;
        for (int c = 0; c < 3; c++)
            to[c * n + i] = scale[k] * from[k][c];
    }
}

static double add_up(const pl_multigrid_work *w, int64_t n, double out[3])
{
    pl_quad total = {0};
    for (int64_t k = 0; k < pl_row_chunks(n); k++)
        total += w->sums[k];
    for (int k = 0; k < 3; k++)
        out[k] = total[k];
    return total[0] + total[1] + total[2];
}

/* out = a x + b y, with a number for each column. */
static void combine(pl_multigrid_work *w, int64_t n, const double a[3], const pl_quad *x,
                    const double b[3], const pl_quad *y, pl_quad *out)
{
    const pl_multigrid_ops *ops = pl_multigrid_ops_now();
    PL_EACH_CHUNK(w, n, i0, i1)
    ops->combine(a, x, b, y, out, i0, i1);
}

/* ---- conjugate gradients ---- */

static const double ONE[3] = {1, 1, 1};

typedef struct gradients {
    int32_t steps;
    double rz[3], total;   /* r . M r: by column, and their sum; now, */
    double rz_old[3], old; /* a step before, */
    double first;          /* and at the start */
    double alpha[3], beta[3];
    double square[3], down; /* the squares of the steps in the norm of A, and their sum */
} gradients;

/* z = M r, and the next direction p. */
static void find_direction(const pl_multigrid *m, pl_multigrid_work *w, gradients *g)
{
    const pl_multigrid_ops *ops = pl_multigrid_ops_now();
    int64_t n = m->level[0].A.rows;
    pl_multigrid_cycle(m, w, w->r, w->z);
    PL_EACH_CHUNK(w, n, i0, i1)
    ops->dot(w->r, w->z, &w->sums[i0 / PL_CHUNK_ROWS], i0, i1);
    g->old = g->total;
    for (int k = 0; k < 3; k++)
        g->rz_old[k] = g->rz[k];
    g->total = add_up(w, n, g->rz);
    if (g->steps == 0)
        g->first = g->total;
    for (int k = 0; k < 3; k++)
        g->beta[k] = g->steps > 0 && g->rz_old[k] > 0 ? g->rz[k] / g->rz_old[k] : 0;
    combine(w, n, ONE, w->z, g->beta, w->p, w->p);
}

/* Goes along it to the least error. PL_FAILED if M or A is not positive definite there. */
static pl_status step(const pl_multigrid *m, pl_multigrid_work *w, gradients *g)
{
    const pl_multigrid_ops *ops = pl_multigrid_ops_now();
    const pl_csr *A = &m->level[0].A;
    double curvature[3], back[3];
    PL_EACH_CHUNK(w, A->rows, i0, i1)
    {
        ops->multiply(A, w->p, false, w->Ap, i0, i1);
        ops->dot(w->p, w->Ap, &w->sums[i0 / PL_CHUNK_ROWS], i0, i1);
    }
    add_up(w, A->rows, curvature);
    for (int k = 0; k < 3; k++) {
        if (g->rz[k] < 0 || curvature[k] < 0)
            return PL_FAILED;
        g->alpha[k] = curvature[k] > 0 ? g->rz[k] / curvature[k] : 0;
        g->square[k] += g->alpha[k] * g->rz[k];
        g->down += g->alpha[k] * g->rz[k];
        back[k] = -g->alpha[k];
    }
    combine(w, A->rows, ONE, w->x, g->alpha, w->p, w->x);
    combine(w, A->rows, ONE, w->r, back, w->Ap, w->r);
    g->steps++;
    return PL_OK;
}

/* True if the error after the last step is estimated to be within `error` of the first. r . M r before that step is
 * between `least` of the error's square and all of it: the geometric mean is taken. The step is expected to reduce it
 * like the last ones, and the squares of the steps so far are a part of the first error's. */
static bool is_near(const pl_multigrid *m, const gradients *g, double error)
{
    const double alone = (1 - m->least) / (1 + m->least);
    const int32_t before = g->steps - 1;
    double rate = before == 0 ? alone * alone
                              : fmax(g->total / g->old, pow(g->total / g->first, 1.0 / before));
    return g->total * fmin(rate, 1) <= error * error * sqrt(m->least) * g->down;
}

static void fail_not_finite(int64_t n, double *x, pl_multigrid_result *out)
{
    for (int k = 0; k < 3; k++)
        out->square[k] = NAN;
    for (int64_t i = 0; i < 3 * n; i++)
        x[i] = NAN;
}

pl_status pl_multigrid_solve3(const pl_multigrid *m, pl_multigrid_work *w, double error,
                              const double *b, double *x, pl_multigrid_result *out)
{
    const pl_multigrid_ops *ops = pl_multigrid_ops_now();
    const pl_csr *A = &m->level[0].A;
    gradients g = {0};
    *out = (pl_multigrid_result){0};
    load(m, w, false, b, w->z);
    load(m, w, true, x, w->x);
    PL_EACH_CHUNK(w, A->rows, i0, i1)
    ops->residual(A, w->z, w->x, w->r, i0, i1);
    for (bool near = false; !near;) {
        if (g.steps == PL_CYCLES_MOST)
            return PL_FAILED;
        find_direction(m, w, &g);
        out->cycles++;
        if (!isfinite(g.total)) {
            fail_not_finite(A->rows, x, out);
            return PL_OK;
        }
        if (g.total == 0)
            break;
        pl_status status = step(m, w, &g);
        if (status != PL_OK)
            return status;
        near = is_near(m, &g, error);
    }
    for (int k = 0; k < 3; k++)
        out->square[k] = g.square[k];
    store(m, w, w->x, x);
    return PL_OK;
}

/* ---- the spectrum of M A ---- */

enum { STEPS = 30 };
/* The share of r . M r at which a measurement ends, and of a column's at which its numbers are noise; the margin
 * subtracted from the least value found. */
static const double ENOUGH = 1e-7, NOISE = 1e-14, OFF = 0.9;

/* A residual with components of every eigenvector, the same every time: noise, noise around a constant, and a
 * constant. */
static void fill_start(const pl_level *l, pl_quad *r)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < l->A.rows; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double noise = ldexp((double)(state >> 11), -53);
        r[i] = (pl_quad){noise - 0.5, noise + 1, 1, 0};
    }
}

/* The tridiagonal matrix of a column's steps, which has eigenvalues of M A (Lanczos). */
typedef struct tridiagonal {
    double diagonal[STEPS], beside[STEPS];
    int32_t count;
} tridiagonal;

static void record(const gradients *g, const double alpha_old[3], const double first[3],
                   tridiagonal T[3])
{
    for (int k = 0; k < 3; k++) {
        int32_t at = T[k].count;
        if (at + 1 < g->steps || !(g->rz[k] > NOISE * first[k]) || g->alpha[k] <= 0)
            continue;
        T[k].diagonal[at] = 1 / g->alpha[k] + (at > 0 ? g->beta[k] / alpha_old[k] : 0);
        if (at > 0)
            T[k].beside[at - 1] = sqrt(g->beta[k]) / alpha_old[k];
        T[k].count++;
    }
}

static pl_status measure(pl_multigrid *m, pl_multigrid_work *w)
{
    gradients g = {0};
    tridiagonal T[3] = {0};
    double first[3] = {0}, alpha_old[3] = {0};
    fill_start(&m->level[0], w->r);
    m->least = 1;
    while (g.steps < STEPS) {
        for (int k = 0; k < 3; k++)
            alpha_old[k] = g.alpha[k];
        find_direction(m, w, &g);
        for (int k = 0; k < 3; k++)
            first[k] = g.steps == 0 ? g.rz[k] : first[k];
        if (!isfinite(g.total))
            return PL_FAILED;
        if (g.total <= ENOUGH * g.first)
            break;
        pl_status status = step(m, w, &g);
        if (status != PL_OK)
            return status;
        record(&g, alpha_old, first, T);
    }
    for (int k = 0; k < 3; k++)
        if (T[k].count > 0)
            m->least = fmin(m->least,
                            OFF * pl_spectrum_least_of(T[k].diagonal, T[k].beside, T[k].count, 1));
    return PL_OK;
}

pl_status pl_multigrid_measure(pl_multigrid *m)
{
    pl_multigrid_work *w;
    m->least = 1;
    if (m->levels == 1) /* a factor */
        return PL_OK;
    pl_status status = pl_multigrid_work_create(m, 1, &w);
    if (status != PL_OK)
        return status;
    status = measure(m, w);
    pl_multigrid_work_destroy(w);
    return status;
}

/* ---- a fixed polynomial ---- */

pl_multigrid_interval pl_multigrid_interval_of(const pl_multigrid *m)
{
    const double most = 1.001, least = fmin(m->least, 0.999);
    pl_multigrid_interval i = {(most + least) / 2, (most + least) / (most - least), 1};
    i.cycles = (int32_t)fmax(1, ceil(acosh(1 / PL_APPLY_ERROR) / acosh(i.ratio)));
    return i;
}

/* Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1, with M A. */
void pl_multigrid_apply3(const pl_multigrid *m, pl_multigrid_work *w, const double *b, double *x)
{
    const pl_multigrid_ops *ops = pl_multigrid_ops_now();
    const pl_csr *A = &m->level[0].A;
    const pl_multigrid_interval on = pl_multigrid_interval_of(m);
    const double first[3] = {1 / on.middle, 1 / on.middle, 1 / on.middle}, none[3] = {0};
    double rho = 1 / on.ratio;
    load(m, w, false, b, w->r);
    pl_multigrid_cycle(m, w, w->r, w->z);
    combine(w, A->rows, first, w->z, none, w->z, w->p);
    combine(w, A->rows, first, w->z, none, w->z, w->x);
    for (int32_t k = 1; k < on.cycles; k++) {
        const double next = 1 / (2 * on.ratio - rho), down = 2 * next * on.ratio / on.middle;
        const double along[3] = {next * rho, next * rho, next * rho}, by[3] = {down, down, down};
        PL_EACH_CHUNK(w, A->rows, i0, i1)
        ops->residual(A, w->r, w->p, w->r, i0, i1);
        pl_multigrid_cycle(m, w, w->r, w->z);
        combine(w, A->rows, along, w->p, by, w->z, w->p);
        combine(w, A->rows, ONE, w->x, ONE, w->p, w->x);
        rho = next;
    }
    store(m, w, w->x, x);
}
