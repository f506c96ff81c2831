/* Replaces factors in programs built without CHOLMOD: conjugate gradients until nothing improves. Slow, but as
 * accurate. Newton's factor is missing. */
#include "engine/linear/linear.h"
#include "engine/linear/solve_shape.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct pl_factor {
    pl_sparse A;
};

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    return to ? memcpy(to, from, bytes) : NULL;
}

void pl_factor_destroy(pl_factor *f)
{
    if (f)
        pl_sparse_clear(&f->A);
    free(f);
}

pl_status pl_factor_create(const pl_sparse *a, pl_factor **out)
{
    pl_factor *f = *out = calloc(1, sizeof *f);
    size_t n = (size_t)a->n, entries = (size_t)a->column[n];
    if (!f)
        return PL_NO_MEMORY;
    f->A = (pl_sparse){a->n, copy(a->column, (n + 1) * sizeof *a->column),
                       copy(a->row, entries * sizeof *a->row),
                       copy(a->value, entries * sizeof *a->value)};
    if (f->A.column && f->A.row && f->A.value)
        return PL_OK;
    pl_factor_destroy(f);
    *out = NULL;
    return PL_NO_MEMORY;
}

struct pl_solve_work {
    double *r, *p, *Ap, *x; /* [n] */
};

void pl_solve_work_destroy(pl_solve_work *w)
{
    if (w)
        free(w->r);
    free(w);
}

pl_status pl_solve_work_create(const pl_factor *f, int32_t threads, pl_solve_work **out)
{
    size_t n = (size_t)f->A.n;
    pl_solve_work *w = calloc(1, sizeof *w);
    *out = w;
    if (!w || !(w->r = malloc((4 * n + 1) * sizeof *w->r))) {
        free(w);
        return PL_NO_MEMORY;
    }
    w->p = w->r + n;
    w->Ap = w->p + n;
    w->x = w->Ap + n;
    return PL_OK;
}

/* r . D^-1 r */
static double dot_scaled(const pl_sparse *a, const double *r)
{
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++)
        sum += r[i] * r[i] / a->value[a->column[i]];
    return sum;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void solve_one(const pl_sparse *a, pl_solve_work *w, const double *b, double *x)
{
    int64_t n = a->n;
    memcpy(w->r, b, (size_t)n * sizeof *b);
    memset(w->x, 0, (size_t)n * sizeof *b);
    double old = INFINITY, now = dot_scaled(a, w->r), end = 1e-32 * now;
    for (int64_t k = 0; k < 10 * n + 100 && now > end; k++) {
        for (int64_t i = 0; i < n; i++)
            w->p[i] = w->r[i] / a->value[a->column[i]] + (k > 0 ? now / old * w->p[i] : 0);
        pl_sparse_multiply(a, w->p, w->Ap, 1);
        double alpha = now / dot(w->p, w->Ap, n);
        for (int64_t i = 0; i < n; i++) {
            w->x[i] += alpha * w->p[i];
            w->r[i] -= alpha * w->Ap[i];
        }
        old = now;
        now = dot_scaled(a, w->r);
    }
    memcpy(x, w->x, (size_t)n * sizeof *x);
}

pl_status pl_factor_solve3(const pl_factor *f, pl_solve_work *w, const double *b, double *x)
{
    for (int c = 0; c < 3; c++)
        solve_one(&f->A, w, b + c * f->A.n, x + c * f->A.n);
    return PL_OK;
}

int64_t pl_factor_nonzeros(const pl_factor *f)
{
    return 0;
}

pl_solve_shape pl_factor_shape(const pl_factor *f)
{
    return (pl_solve_shape){0};
}

pl_status pl_refactor_create(const pl_sparse *a, int32_t block, pl_refactor **out)
{
    *out = NULL;
    return PL_NO_MEMORY;
}

void pl_refactor_destroy(pl_refactor *f) {}

pl_status pl_refactor_make(pl_refactor *f, const pl_sparse *a, double shift)
{
    return PL_FAILED;
}

pl_status pl_refactor_solve(pl_refactor *f, const double *b, double *x)
{
    return PL_FAILED;
}

void pl_solve_work_set_threads(pl_solve_work *w, int32_t threads) {}
