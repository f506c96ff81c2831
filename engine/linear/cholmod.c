/* The only file that uses CHOLMOD. */
#include "engine/linear/linear.h"
#include "engine/linear/panels.h"
#include "engine/linear/solve_shape.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

/* OpenBLAS's own call, absent from other BLAS libraries. */
extern void openblas_set_num_threads(int) __attribute__((weak));

/* Below this many rows the simplicial factor solves faster; above it the supernodal one does, and is factored
 * several times faster. AMD orders small matrices as well as METIS, almost instantly. */
enum { SUPERNODAL_FROM = 10000, METIS_FROM = 5000 };

struct pl_factor {
    pl_panels panels;
};

struct pl_solve_work {
    double *work;
    int32_t threads;
};

static void start(cholmod_common *c)
{
    cholmod_start(c);
    c->print = 0; /* libraries do not print: status carries the error */
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

/* The columns of a factor of either kind, without copying its numbers. A supernode is a dense block of columns:
 * nsrow rows, of which its column k starts at the k-th. */
static pl_status columns_of(const cholmod_factor *L, pl_columns *out)
{
    size_t n = L->n;
    *out = (pl_columns){.n = (int64_t)n, .value = L->x, .order = L->Perm};
    out->row_at = malloc((n + 1) * sizeof *out->row_at);
    out->value_at = malloc((n + 1) * sizeof *out->value_at);
    out->count = malloc((n + 1) * sizeof *out->count);
    if (!out->row_at || !out->value_at || !out->count)
        return PL_NO_MEMORY;
    if (!L->is_super) {
        const int *p = L->p, *nz = L->nz;
        out->row = L->i;
        for (size_t j = 0; j < n; j++) {
            out->row_at[j] = out->value_at[j] = p[j];
            out->count[j] = nz[j];
        }
        return PL_OK;
    }
    const int *super = L->super, *pi = L->pi, *px = L->px;
    out->row = L->s;
    for (size_t s = 0; s < L->nsuper; s++) {
        int rows = pi[s + 1] - pi[s];
        for (int j = super[s]; j < super[s + 1]; j++) {
            int k = j - super[s];
            out->row_at[j] = pi[s] + k;
            out->value_at[j] = px[s] + (int64_t)k * rows + k;
            out->count[j] = rows - k;
        }
    }
    return PL_OK;
}

static pl_status lay_out(const cholmod_factor *L, pl_panels *panels)
{
    pl_columns columns;
    pl_status status = columns_of(L, &columns);
    if (status == PL_OK)
        status = pl_panels_create(&columns, panels);
    free(columns.row_at);
    free(columns.value_at);
    free(columns.count);
    return status;
}

/* True if the runtime has memory for a thread's first setting. Without any, it ends the process. */
static bool runtime_has_memory(void)
{
    enum { MORE_THAN_IT_TAKES = 1024 };
    void *volatile memory = malloc(MORE_THAN_IT_TAKES);
    free(memory);
    return memory != NULL;
}

/* L of A + shift I. CHOLMOD opens teams of four threads for loops of microseconds, whatever its settings; waking
 * them took half of a factor's time. Here every team has only its master, which changes no bit. */
static pl_status factorize(cholmod_sparse *A, double shift, cholmod_factor *L, cholmod_common *c)
{
    if (!runtime_has_memory())
        return PL_NO_MEMORY;
    double beta[2] = {shift, 0};
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    cholmod_factorize_p(A, beta, NULL, 0, L, c);
    omp_set_max_active_levels(levels);
    return c->status == CHOLMOD_OK && L->minor == L->n ? PL_OK : status_of(c);
}

/* L of A, in CHOLMOD's memory; NULL with *status set if there is no factor. */
static cholmod_factor *factor(const pl_sparse *a, cholmod_common *c, pl_status *status)
{
    cholmod_sparse matrix;
    int *columns = NULL;
    cholmod_factor *L = NULL;
    *status = view(a, &matrix, &columns);
    if (*status == PL_OK) {
        L = cholmod_analyze(&matrix, c);
        *status = L ? PL_OK : status_of(c);
    }
    if (*status == PL_OK)
        *status = factorize(&matrix, 0, L, c);
    free(columns);
    if (*status != PL_OK)
        cholmod_free_factor(&L, c);
    return L;
}

pl_status pl_factor_create(const pl_sparse *a, pl_factor **out)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    pl_factor *f = calloc(1, sizeof *f);
    if (!f)
        return PL_NO_MEMORY;
    cholmod_common common;
    start(&common);
    common.supernodal = a->n >= SUPERNODAL_FROM ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    common.method[0].ordering = a->n >= METIS_FROM ? CHOLMOD_METIS : CHOLMOD_AMD;
    pl_status status;
    cholmod_factor *L = factor(a, &common, &status);
    if (status == PL_OK)
        status = lay_out(L, &f->panels);
    cholmod_free_factor(&L, &common);
    cholmod_finish(&common);
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
    pl_panels_clear(&f->panels);
    free(f);
}

pl_status pl_solve_work_create(const pl_factor *f, int32_t threads, pl_solve_work **out)
{
    pl_solve_work *w = calloc(1, sizeof *w);
    if (!w)
        return PL_NO_MEMORY;
    w->threads = threads;
    w->work = aligned_alloc(64,
                            ((size_t)pl_panels_work(&f->panels) * sizeof(double) + 63) / 64 * 64);
    if (!w->work) {
        free(w);
        return PL_NO_MEMORY;
    }
    *out = w;
    return PL_OK;
}

void pl_solve_work_set_threads(pl_solve_work *w, int32_t threads)
{
    w->threads = threads;
}

void pl_solve_work_destroy(pl_solve_work *w)
{
    if (!w)
        return;
    free(w->work);
    free(w);
}

pl_status pl_factor_solve3(const pl_factor *f, pl_solve_work *w, const double *b, double *x)
{
    pl_panels_solve3(&f->panels, w->work, w->threads, b, x);
    return PL_OK;
}

int64_t pl_factor_nonzeros(const pl_factor *f)
{
    return f->panels.value_count;
}

pl_solve_shape pl_factor_shape(const pl_factor *f)
{
    return pl_panels_shape(&f->panels);
}

/* ---- a pattern factored repeatedly ---- */

struct pl_refactor {
    cholmod_common common;
    cholmod_factor *L;
    cholmod_dense *x, *y, *e; /* for solves, kept between them */
};

/* The pattern of the groups of rows: that of their first rows. */
static pl_status group_pattern(const pl_sparse *a, int32_t block, pl_sparse *out)
{
    int64_t n = a->n / block;
    *out = (pl_sparse){.n = n};
    out->column = calloc((size_t)n + 1, sizeof *out->column);
    out->row = malloc((size_t)(a->column[a->n] + 1) * sizeof *out->row);
    if (!out->column || !out->row) {
        pl_sparse_clear(out);
        return PL_NO_MEMORY;
    }
    int64_t count = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = a->column[block * j]; k < a->column[block * j + 1]; k++)
            if (a->row[k] % block == 0)
                out->row[count++] = a->row[k] / block;
        out->column[j + 1] = count;
    }
    return PL_OK;
}

/* The order of rows, by groups: [n]; NULL with *status set on failure. */
static int *order_groups(const pl_sparse *a, int32_t block, cholmod_common *c, pl_status *status)
{
    pl_sparse groups;
    cholmod_sparse matrix;
    int *columns = NULL, *order = NULL;
    cholmod_factor *L = NULL;
    *status = group_pattern(a, block, &groups);
    if (*status != PL_OK)
        return NULL;
    *status = view(&groups, &matrix, &columns);
    if (*status == PL_OK) {
        matrix.x = NULL;
        matrix.xtype = CHOLMOD_PATTERN;
        c->method[0].ordering = groups.n >= METIS_FROM ? CHOLMOD_METIS : CHOLMOD_AMD;
        L = cholmod_analyze(&matrix, c);
        *status = L ? PL_OK : status_of(c);
    }
    order = *status == PL_OK ? malloc((size_t)(a->n + 1) * sizeof *order) : NULL;
    if (order) {
        const int *perm = L->Perm;
        for (int64_t i = 0; i < a->n; i++)
            order[i] = block * perm[i / block] + (int)(i % block);
    } else if (*status == PL_OK) {
        *status = PL_NO_MEMORY;
    }
    cholmod_free_factor(&L, c);
    pl_sparse_clear(&groups);
    free(columns);
    return order;
}

pl_status pl_refactor_create(const pl_sparse *a, int32_t block, pl_refactor **out)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    pl_refactor *f = calloc(1, sizeof *f);
    if (!f)
        return PL_NO_MEMORY;
    start(&f->common);
    f->common.quick_return_if_not_posdef = 1;
    f->common.supernodal = CHOLMOD_AUTO;
    cholmod_sparse matrix;
    int *columns = NULL;
    pl_status status;
    int *order = order_groups(a, block, &f->common, &status);
    if (status == PL_OK)
        status = view(a, &matrix, &columns);
    if (status == PL_OK) {
        matrix.x = NULL;
        matrix.xtype = CHOLMOD_PATTERN;
        f->common.method[0].ordering = CHOLMOD_GIVEN;
        f->L = cholmod_analyze_p(&matrix, order, NULL, 0, &f->common);
        status = f->L ? PL_OK : status_of(&f->common);
    }
    free(order);
    free(columns);
    if (status != PL_OK) {
        pl_refactor_destroy(f);
        return status;
    }
    *out = f;
    return PL_OK;
}

void pl_refactor_destroy(pl_refactor *f)
{
    if (!f)
        return;
    cholmod_free_dense(&f->x, &f->common);
    cholmod_free_dense(&f->y, &f->common);
    cholmod_free_dense(&f->e, &f->common);
    cholmod_free_factor(&f->L, &f->common);
    cholmod_finish(&f->common);
    free(f);
}

pl_status pl_refactor_make(pl_refactor *f, const pl_sparse *a, double shift)
{
    cholmod_sparse matrix;
    int *columns = NULL;
    pl_status status = view(a, &matrix, &columns);
    if (status != PL_OK)
        return status;
    f->common.status = CHOLMOD_OK;
    status = factorize(&matrix, shift, f->L, &f->common);
    free(columns);
    return status;
}

pl_status pl_refactor_solve(pl_refactor *f, const double *b, double *x)
{
    size_t n = f->L->n;
    cholmod_dense right = {.nrow = n,
                           .ncol = 1,
                           .nzmax = n,
                           .d = n,
                           .x = (void *)b,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
    if (!cholmod_solve2(CHOLMOD_A, f->L, &right, NULL, &f->x, NULL, &f->y, &f->e, &f->common))
        return status_of(&f->common);
    memcpy(x, f->x->x, n * sizeof *x);
    return PL_OK;
}
