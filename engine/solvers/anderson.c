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

enum { RESIDUALS = DEPTH + 1 };

/* Slots of arrays, oldest first; those after the first `count` are free. */
typedef struct ring {
    int32_t count, size, order[PL_ANDERSON_MAX];
} ring;

struct pl_anderson_history {
    const pl_model *model;
    pl_backend *backend;
    pl_array **r[RESIDUALS], **dg[DEPTH]; /* [slot][group_count] */
    ring residuals, pairs;                /* one residual more than pairs, once it has begun */
    bool taken;          /* the slot for the next dg holds what the last local step took */
    double norm, least;  /* |W r| of the newest; the recent minimum */
    int32_t since;       /* iterations since that minimum */
    bool stuck, leaving; /* the last one dropped a stale history; made a leap */
    double dots[RESIDUALS][RESIDUALS]; /* W r_i . W r_j, by slots */
    pl_mixing mixing;                  /* the last answer, */
    pl_array **list[DEPTH];            /* its list, */
    double gamma[DEPTH];               /* and coefficients */
};

void pl_anderson_destroy(pl_anderson_history *h)
{
    if (!h)
        return;
    for (int32_t j = 0; j < RESIDUALS; j++)
        pl_group_arrays_release(h->model, h->backend, h->r[j]);
    for (int32_t j = 0; j < DEPTH; j++)
        pl_group_arrays_release(h->model, h->backend, h->dg[j]);
    free(h);
}

pl_status pl_anderson_create(const pl_model *model, pl_backend *backend, pl_anderson_history **out)
{
    pl_anderson_history *h = calloc(1, sizeof *h);
    if (!h)
        return PL_NO_MEMORY;
    h->model = model;
    h->backend = backend;
    bool good = true;
    /* Differences are in single precision: they take half of a number, or one. */
    int32_t share = backend->ops->epsilon < FLT_EPSILON ? 2 : 1;
    for (int32_t j = 0; j < RESIDUALS; j++) {
        h->r[j] = pl_group_arrays_create(model, backend, 1);
        good = good && h->r[j];
    }
    for (int32_t j = 0; j < DEPTH; j++) {
        h->dg[j] = pl_group_arrays_create(model, backend, share);
        good = good && h->dg[j];
    }
    if (!good || backend->ops->anderson->prepare(backend) != PL_OK) {
        pl_anderson_destroy(h);
        return PL_NO_MEMORY;
    }
    pl_anderson_begin(h);
    *out = h;
    return PL_OK;
}

static void ring_begin(ring *r, int32_t size)
{
    r->count = 0;
    r->size = size;
    for (int32_t j = 0; j < size; j++)
        r->order[j] = j;
}

/* Drops the oldest except for `keep`. */
static void ring_keep(ring *r, int32_t keep)
{
    while (r->count > keep) {
        int32_t oldest = r->order[0];
        for (int32_t i = 0; i + 1 < r->size; i++)
            r->order[i] = r->order[i + 1];
        r->order[r->size - 1] = oldest;
        r->count--;
    }
}

/* The slot that the next one takes: a free one, or the oldest. */
static int32_t ring_next(const ring *r)
{
    return r->order[r->count < r->size ? r->count : 0];
}

static int32_t ring_take(ring *r)
{
    int32_t slot = ring_next(r);
    ring_keep(r, r->size - 1);
    r->count++;
    return slot;
}

void pl_anderson_begin(pl_anderson_history *h)
{
    ring_begin(&h->residuals, RESIDUALS);
    ring_begin(&h->pairs, DEPTH);
    h->taken = h->stuck = h->leaving = false;
    h->norm = h->least = INFINITY;
    h->since = 0;
}

static void keep_pairs(pl_anderson_history *h, int32_t keep)
{
    ring_keep(&h->pairs, keep);
    ring_keep(&h->residuals, keep + 1);
}

/* W r_i . W r_j of the i-th and j-th residual, oldest first. */
static double dot(const pl_anderson_history *h, int32_t i, int32_t j)
{
    return h->dots[h->residuals.order[i]][h->residuals.order[j]];
}

/* W dr_i . W dr_j */
static double dot_changes(const pl_anderson_history *h, int32_t i, int32_t j)
{
    return (dot(h, i + 1, j + 1) - dot(h, i, j + 1)) - (dot(h, i + 1, j) - dot(h, i, j));
}

/* W r . W dr_i of the newest r. */
static double dot_newest(const pl_anderson_history *h, int32_t i)
{
    const int32_t newest = h->residuals.count - 1;
    return dot(h, newest, i + 1) - dot(h, newest, i);
}

/* gamma = argmin |W (r - sum gamma_j dr_j)| by the normal equations, scaled to a diagonal of ones, with a ridge
 * that bounds gamma if differences are nearly dependent. False if there is no Cholesky factor. */
static bool solve_gamma(const pl_anderson_history *h, double *gamma)
{
    double L[PL_ANDERSON_MAX][PL_ANDERSON_MAX], scale[PL_ANDERSON_MAX];
    const int32_t m = h->pairs.count;
    for (int32_t i = 0; i < m; i++)
        scale[i] = 1 / sqrt(dot_changes(h, i, i));
    for (int32_t i = 0; i < m; i++) {
        gamma[i] = scale[i] * dot_newest(h, i);
        for (int32_t j = 0; j <= i; j++) {
            double e = dot_changes(h, i, j) * scale[i] * scale[j];
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
static bool is_leaving(const pl_anderson_history *h, double norm, double *gamma)
{
    const int32_t newest = h->pairs.count - 1;
    if (newest < 0 || !(h->leaving || (h->stuck && newest == 0)))
        return false;
    double along = dot_newest(h, newest), square = dot_changes(h, newest, newest);
    double most = (h->leaving ? ANOTHER : FIRST) * norm;
    *gamma = -fmin(along / square, LEAP);
    return along > 0 && square < most * most;
}

/* The newest residual and dg, and the inner products. Returns |W r|. */
static double measure(pl_anderson_history *h, const pl_array *x, pl_array *const *z,
                      double relaxation)
{
    pl_array *const *r[RESIDUALS];
    double dots[RESIDUALS];
    const bool begun = h->residuals.count > 0;
    const int32_t slot = ring_take(&h->residuals), count = h->residuals.count - 1;
    for (int32_t i = 0; i <= count; i++)
        r[i] = h->r[h->residuals.order[i]];
    const pl_anderson a = {.x = x,
                           .z = z,
                           .relaxation = relaxation,
                           .count = count,
                           .r = r,
                           .dg = begun ? h->dg[ring_take(&h->pairs)] : NULL,
                           .taken = h->taken,
                           .dot_r = dots};
    h->backend->ops->anderson->difference(h->backend, &a);
    for (int32_t i = 0; i <= count; i++)
        h->dots[slot][h->residuals.order[i]] = h->dots[h->residuals.order[i]][slot] = dots[i];
    return sqrt(dots[count]);
}

const pl_mixing *pl_anderson_mix(pl_anderson_history *h, const pl_array *x, pl_array *const *z,
                                 double relaxation)
{
    const double norm = measure(h, x, z, relaxation);
    const bool stale = is_stale(h, norm);
    h->leaving = is_leaving(h, norm, h->gamma);
    if (h->leaving)
        keep_pairs(h, 1);
    h->stuck = stale && !h->leaving;
    if (!h->leaving && (stale || norm > GROWTH * h->norm || !solve_gamma(h, h->gamma)))
        keep_pairs(h, 0);
    h->norm = norm;
    const int32_t count = h->pairs.count;
    h->taken = count > 0;
    if (!h->taken)
        return NULL;
    for (int32_t i = 0; i < count; i++)
        h->list[i] = h->dg[h->pairs.order[i]];
    h->mixing = (pl_mixing){.count = count,
                            .gamma = h->gamma,
                            .dg = (pl_array *const *const *)h->list,
                            .taken = h->dg[ring_next(&h->pairs)]};
    return &h->mixing;
}
