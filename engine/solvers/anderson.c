#include "engine/solvers/anderson.h"

#include "engine/solvers/arrays.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Number of pairs remembered. */
enum { DEPTH = 6 };
/* The history is dropped if the residual grows by more than GROWTH at once, or has not fallen by BETTER for STALE
 * iterations: it then describes another place. */
static const double GROWTH = 3, BETTER = 0.95;
enum { STALE = 5 };
/* Leaps away from a saddle: the largest relative change of the residual before a first leap and before another; the
 * longest leap, in steps. */
static const double FIRST = 0.1, ANOTHER = 0.25, LEAP = 8;
/* Ridge added to the diagonal of the scaled normal equations. */
static const double RIDGE = 1e-10;

struct pl_anderson_history {
    const pl_model *model;
    pl_backend *backend;
    pl_array **r, **r_old, **g;                            /* [group_count] */
    pl_array **dr[PL_ANDERSON_MAX], **dg[PL_ANDERSON_MAX]; /* [slot][group_count] */
    int32_t count, order[PL_ANDERSON_MAX]; /* number of pairs; slots, oldest first */
    bool begun;                            /* r and g belong to an iteration */
    double norm, least;                    /* |W r| of it; the recent minimum */
    int32_t since;                         /* iterations since that minimum */
    bool stuck, leaving;                   /* the last apply dropped a stale history; made a leap */
    double dots[PL_ANDERSON_MAX][PL_ANDERSON_MAX]; /* W dr_i . W dr_j, by slots */
};

void pl_anderson_destroy(pl_anderson_history *h)
{
    if (!h)
        return;
    pl_group_arrays_release(h->model, h->backend, h->r);
    pl_group_arrays_release(h->model, h->backend, h->r_old);
    pl_group_arrays_release(h->model, h->backend, h->g);
    for (int32_t j = 0; j < DEPTH; j++) {
        pl_group_arrays_release(h->model, h->backend, h->dr[j]);
        pl_group_arrays_release(h->model, h->backend, h->dg[j]);
    }
    free(h);
}

pl_status pl_anderson_create(const pl_model *model, pl_backend *backend, pl_anderson_history **out)
{
    pl_anderson_history *h = calloc(1, sizeof *h);
    if (!h)
        return PL_NO_MEMORY;
    h->model = model;
    h->backend = backend;
    h->r = pl_group_arrays_create(model, backend, 1);
    h->r_old = pl_group_arrays_create(model, backend, 1);
    h->g = pl_group_arrays_create(model, backend, 1);
    bool good = h->r && h->r_old && h->g;
    /* Differences are in single precision: they take half of a number, or one. */
    int32_t share = backend->ops->epsilon < FLT_EPSILON ? 2 : 1;
    for (int32_t j = 0; j < DEPTH; j++) {
        h->dr[j] = pl_group_arrays_create(model, backend, share);
        h->dg[j] = pl_group_arrays_create(model, backend, share);
        good = good && h->dr[j] && h->dg[j];
    }
    if (!good || backend->ops->anderson->prepare(backend) != PL_OK) {
        pl_anderson_destroy(h);
        return PL_NO_MEMORY;
    }
    pl_anderson_begin(h);
    *out = h;
    return PL_OK;
}

void pl_anderson_begin(pl_anderson_history *h)
{
    h->count = 0;
    h->begun = h->stuck = h->leaving = false;
    h->norm = h->least = INFINITY;
    h->since = 0;
    for (int32_t j = 0; j < DEPTH; j++)
        h->order[j] = j;
}

/* Drops the oldest pairs except for `keep`. */
static void keep_newest(pl_anderson_history *h, int32_t keep)
{
    while (h->count > keep) {
        int32_t oldest = h->order[0];
        for (int32_t i = 0; i + 1 < DEPTH; i++)
            h->order[i] = h->order[i + 1];
        h->order[DEPTH - 1] = oldest;
        h->count--;
    }
}

/* gamma = argmin |W (r - sum gamma_j dr_j)| by the normal equations, scaled to a diagonal of ones, with a ridge
 * that bounds gamma if differences are nearly dependent. False if there is no Cholesky factor. */
static bool solve_gamma(const pl_anderson_history *h, const double *dot_r, double *gamma)
{
    double L[PL_ANDERSON_MAX][PL_ANDERSON_MAX], scale[PL_ANDERSON_MAX];
    int32_t m = h->count;
    for (int32_t i = 0; i < m; i++)
        scale[i] = 1 / sqrt(h->dots[h->order[i]][h->order[i]]);
    for (int32_t i = 0; i < m; i++) {
        gamma[i] = scale[i] * dot_r[i];
        for (int32_t j = 0; j <= i; j++) {
            double e = h->dots[h->order[i]][h->order[j]] * scale[i] * scale[j];
            e += i == j ? RIDGE : 0;
            for (int32_t k = 0; k < j; k++)
                e -= L[i][k] * L[j][k];
            if (i == j && !(e > 0))
                return false;
            L[i][j] = i == j ? sqrt(e) : e / L[j][j];
        }
    }
    for (int32_t i = 0; i < m; i++) {
        for (int32_t k = 0; k < i; k++)
            gamma[i] -= L[i][k] * gamma[k];
        gamma[i] /= L[i][i];
    }
    for (int32_t i = m - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < m; k++)
            gamma[i] -= L[k][i] * gamma[k];
        gamma[i] /= L[i][i];
    }
    for (int32_t i = 0; i < m; i++)
        gamma[i] *= scale[i];
    return true;
}

static bool is_stale(pl_anderson_history *h, double norm)
{
    bool better = norm < BETTER * h->least, stale = !better && h->since + 1 >= STALE;
    h->least = better || stale ? norm : h->least;
    h->since = better || stale ? 0 : h->since + 1;
    return stale;
}

/* True if the residual grows slowly along itself, in the step after a stale history was dropped or after a leap.
 * Then *gamma is the coefficient of the next leap. */
static bool is_leaving(const pl_anderson_history *h, const double *dot_r, double norm,
                       double *gamma)
{
    if (h->count == 0 || !(h->leaving || (h->stuck && h->count == 1)))
        return false;
    int32_t newest = h->order[h->count - 1];
    double along = dot_r[h->count - 1], square = h->dots[newest][newest];
    double most = (h->leaving ? ANOTHER : FIRST) * norm;
    *gamma = -fmin(along / square, LEAP);
    return along > 0 && square < most * most;
}

void pl_anderson_apply(pl_anderson_history *h, const pl_array *x, pl_array *const *u,
                       pl_array *const *z, double relaxation)
{
    const pl_backend_ops *ops = h->backend->ops;
    pl_array **before = h->r;
    h->r = h->r_old;
    h->r_old = before;
    if (h->begun) {
        keep_newest(h, DEPTH - 1);
        h->count++;
    }
    pl_array **dr[PL_ANDERSON_MAX], **dg[PL_ANDERSON_MAX];
    double dot_dr[PL_ANDERSON_MAX], dot_r[PL_ANDERSON_MAX], gamma[PL_ANDERSON_MAX];
    for (int32_t i = 0; i < h->count; i++) {
        dr[i] = h->dr[h->order[i]];
        dg[i] = h->dg[h->order[i]];
    }
    pl_anderson a = {.x = x,
                     .u = u,
                     .z = z,
                     .relaxation = relaxation,
                     .r = h->r,
                     .r_old = h->r_old,
                     .g = h->g,
                     .count = h->count,
                     .dr = (pl_array *const *const *)dr,
                     .dg = (pl_array *const *const *)dg,
                     .dot_dr = dot_dr,
                     .dot_r = dot_r};
    double norm = ops->anderson->difference(h->backend, &a);
    for (int32_t i = 0; i < h->count; i++) {
        int32_t slot = h->order[i], newest = h->order[h->count - 1];
        h->dots[slot][newest] = h->dots[newest][slot] = dot_dr[i];
    }
    bool stale = is_stale(h, norm);
    h->leaving = is_leaving(h, dot_r, norm, gamma);
    if (h->leaving) {
        keep_newest(h, 1);
        dr[0] = h->dr[h->order[0]];
        dg[0] = h->dg[h->order[0]];
    }
    h->stuck = stale && !h->leaving;
    if (!h->leaving && (stale || norm > GROWTH * h->norm || !solve_gamma(h, dot_r, gamma)))
        keep_newest(h, 0);
    a.count = h->count;
    ops->anderson->combine(h->backend, &a, gamma);
    h->begun = true;
    h->norm = norm;
}
