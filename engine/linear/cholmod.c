/* The one file that knows CHOLMOD. */
#include "engine/linear/linear.h"

#include <stdlib.h>
#include <suitesparse/cholmod.h>

/* OpenBLAS's own call, absent from other BLAS libraries. */
extern void openblas_set_num_threads(int) __attribute__((weak));

/* Below this many rows the simplicial factor solves faster; above it the supernodal one does, and
 * is factored several times faster. AMD orders small matrices as well as METIS, at once. */
enum { SUPERNODAL_FROM = 10000, METIS_FROM = 5000 };

struct pl_factor {
    cholmod_common common; /* of analysis and factorisation */
    cholmod_factor *L;
};

struct pl_solve_work {
    cholmod_common common; /* CHOLMOD keeps workspace in it, so one a user */
    cholmod_dense *X, *Y, *E;
};

static void start(cholmod_common *c)
{
    cholmod_start(c);
    c->print = 0; /* a library never prints: status says it */
    c->nmethods = 1;
    c->final_ll = 1;
}

static pl_status status_of(const cholmod_common *c)
{
    return c->status == CHOLMOD_OUT_OF_MEMORY || c->status == CHOLMOD_TOO_LARGE ? PL_NO_MEMORY
                                                                                : PL_FAILED;
}

/* CHOLMOD reads the matrix with int indices: a view without copy of the values. */
static pl_status view(const pl_sparse *a, cholmod_sparse *out, int **columns)
{
    if (a->column[a->n] > INT32_MAX)
        return PL_NO_MEMORY;
    *columns = malloc((size_t)(a->n + 1) * sizeof **columns);
    if (!*columns)
        return PL_NO_MEMORY;
    for (int64_t j = 0; j <= a->n; j++)
        (*columns)[j] = (int)a->column[j];
    *out = (cholmod_sparse){.nrow = (size_t)a->n,
                            .ncol = (size_t)a->n,
                            .nzmax = (size_t)a->column[a->n],
                            .p = *columns,
                            .i = a->row,
                            .x = a->value,
                            .stype = -1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
    return PL_OK;
}

pl_status pl_factor_create(const pl_sparse *a, pl_factor **out)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    pl_factor *f = calloc(1, sizeof *f);
    if (!f)
        return PL_NO_MEMORY;
    start(&f->common);
    f->common.supernodal = a->n >= SUPERNODAL_FROM ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    f->common.method[0].ordering = a->n >= METIS_FROM ? CHOLMOD_METIS : CHOLMOD_AMD;

    cholmod_sparse matrix;
    int *columns = NULL;
    pl_status status = view(a, &matrix, &columns);
    if (status == PL_OK) {
        f->L = cholmod_analyze(&matrix, &f->common);
        status = f->L ? PL_OK : status_of(&f->common);
    }
    if (status == PL_OK) {
        cholmod_factorize(&matrix, f->L, &f->common);
        if (f->common.status != CHOLMOD_OK || f->L->minor < f->L->n)
            status = status_of(&f->common);
    }
    free(columns);
    if (status != PL_OK) {
        pl_factor_destroy(f);
        return status;
    }
    *out = f;
    return PL_OK;
}

void pl_factor_destroy(pl_factor *f)
{
    if (!f)
        return;
    cholmod_free_factor(&f->L, &f->common);
    cholmod_finish(&f->common);
    free(f);
}

pl_status pl_solve_work_create(const pl_factor *f, pl_solve_work **out)
{
    pl_solve_work *w = calloc(1, sizeof *w);
    if (!w)
        return PL_NO_MEMORY;
    start(&w->common);
    w->X = cholmod_allocate_dense(f->L->n, 3, f->L->n, CHOLMOD_REAL, &w->common);
    if (!w->X) {
        pl_solve_work_destroy(w);
        return PL_NO_MEMORY;
    }
    *out = w;
    return PL_OK;
}

void pl_solve_work_destroy(pl_solve_work *w)
{
    if (!w)
        return;
    cholmod_free_dense(&w->X, &w->common);
    cholmod_free_dense(&w->Y, &w->common);
    cholmod_free_dense(&w->E, &w->common);
    cholmod_finish(&w->common);
    free(w);
}

pl_status pl_factor_solve3(const pl_factor *f, pl_solve_work *w, const double *b, double *x)
{
    size_t n = f->L->n;
    cholmod_dense B = {.nrow = n,
                       .ncol = 3,
                       .nzmax = 3 * n,
                       .d = n,
                       .x = (void *)(uintptr_t)b,
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
    if (!cholmod_solve2(CHOLMOD_A, f->L, &B, NULL, &w->X, NULL, &w->Y, &w->E, &w->common))
        return status_of(&w->common);
    const double *from = w->X->x;
    for (size_t i = 0; i < 3 * n; i++)
        x[i] = from[i];
    return PL_OK;
}

int64_t pl_factor_nonzeros(const pl_factor *f)
{
    return f->L->is_super ? (int64_t)f->L->xsize : (int64_t)f->L->nzmax;
}
