/* Levels of a multigrid, and its V-cycle. */
#include "engine/linear/multigrid.h"

#include "engine/isa.h"
#include "engine/linear/multigrid_levels.h"
#include "engine/linear/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A level that is not much smaller than the one before is not worth its cost. */
static const double SHRINKS = 0.7;

const pl_multigrid_ops *pl_multigrid_ops_now(void)
{
    static const pl_multigrid_ops *const OPS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_multigrid_ops);
    return OPS[pl_isa_current()];
}

/* ---- set-up ---- */

static void clear_transfer(pl_level *l)
{
    pl_csr_clear(&l->P);
    pl_csr_clear(&l->R);
    free(l->aggregate);
    l->aggregate = NULL;
}

void pl_multigrid_destroy(pl_multigrid *m)
{
    if (!m)
        return;
    for (int32_t k = 0; k < m->levels; k++) {
        clear_transfer(&m->level[k]);
        pl_csr_clear(&m->level[k].A);
        free(m->level[k].scale);
    }
    free(m->order);
    pl_factor_destroy(m->coarse);
    free(m);
}

static pl_status set_smoother(pl_level *l)
{
    l->scale = malloc((size_t)(l->A.rows + 1) * sizeof *l->scale);
    if (!l->scale)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < l->A.rows; i++) {
        double diagonal = pl_csr_diagonal(&l->A, i);
        if (!(diagonal > 0))
            return PL_FAILED;
        l->scale[i] = 1 / sqrt(diagonal);
    }
    pl_status status = pl_csr_largest(&l->A, &l->bound);
    return status == PL_OK && !isfinite(l->bound) ? PL_FAILED : status;
}

/* The aggregates of a level, from `like` if there is such a level; *count is 0 if they are not worth a level. */
static pl_status group_rows(pl_level *l, const pl_level *like, int64_t *count)
{
    size_t bytes = (size_t)l->A.rows * sizeof *l->aggregate;
    l->aggregate = malloc(bytes + 1);
    if (!l->aggregate)
        return PL_NO_MEMORY;
    if (like) {
        memcpy(l->aggregate, like->aggregate, bytes);
        *count = like->P.columns;
        return PL_OK;
    }
    pl_status status = pl_aggregate(&l->A, l->aggregate, count);
    *count = (double)*count < SHRINKS * (double)l->A.rows ? *count : 0;
    return status;
}

/* The next level after `l`; *out is unchanged without one. */
static pl_status coarsen(pl_level *l, const pl_level *like, pl_csr *out, bool *coarser)
{
    int64_t count = 0;
    pl_status status = group_rows(l, like, &count);
    *coarser = status == PL_OK && count > 0;
    if (!*coarser)
        return status;
    status = pl_prolongation(&l->A, l->bound, l->aggregate, count, &l->P);
    if (status == PL_OK)
        status = pl_csr_transpose(&l->P, &l->R);
    if (status == PL_OK)
        status = pl_csr_galerkin(&l->R, &l->A, &l->P, out);
    if (status != PL_OK)
        pl_csr_clear(out);
    return status;
}

static pl_status factor_coarsest(pl_multigrid *m)
{
    const pl_csr *A = &m->level[m->levels - 1].A;
    pl_sparse lower;
    if (A->rows == 0)
        return PL_OK;
    pl_status status = pl_csr_to_lower(A, &lower);
    if (status == PL_OK)
        status = pl_factor_create(&lower, &m->coarse);
    pl_sparse_clear(&lower);
    return status;
}

/* The first level's matrix, in the order of `like` or the best one. */
static pl_status read_matrix(pl_multigrid *m, const pl_sparse *a, const pl_multigrid *like)
{
    const size_t bytes = (size_t)a->n * sizeof *m->order;
    pl_csr own = {0};
    pl_status status = pl_csr_from_lower(a, &own);
    bool better = !like || like->order;
    if (status == PL_OK && better) {
        m->order = malloc(bytes + 1);
        status = m->order ? PL_OK : PL_NO_MEMORY;
    }
    if (status == PL_OK && like && like->order)
        memcpy(m->order, like->order, bytes);
    else if (status == PL_OK && better)
        status = pl_order_find(&own, m->order, &better);
    if (status == PL_OK && better) {
        status = pl_csr_permute(&own, m->order, &m->level[0].A);
        pl_csr_clear(&own);
        return status;
    }
    free(m->order);
    m->order = NULL;
    m->level[0].A = own;
    return status;
}

static void scale_entries(pl_csr *a, const double *by_row, const double *by_column)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            a->value[e] *= by_row[i] * by_column[a->column[e]];
}

/* P becomes S^-1 P S of the next level, and R its transpose. */
static void scale_transfer(pl_level *l, const double *next)
{
    for (int64_t i = 0; i < l->P.rows; i++)
        for (int64_t e = l->P.start[i]; e < l->P.start[i + 1]; e++)
            l->P.value[e] *= next[l->P.column[e]] / l->scale[i];
    for (int64_t i = 0; i < l->R.rows; i++)
        for (int64_t e = l->R.start[i]; e < l->R.start[i + 1]; e++)
            l->R.value[e] *= next[i] / l->scale[l->R.column[e]];
}

static void scale_levels(pl_multigrid *m)
{
    for (int32_t k = 0; k < m->levels; k++) {
        pl_level *l = &m->level[k];
        scale_entries(&l->A, l->scale, l->scale);
        if (k + 1 < m->levels)
            scale_transfer(l, l[1].scale);
    }
}

static pl_status make_levels(pl_multigrid *m, const pl_sparse *a, const pl_multigrid *like)
{
    m->levels = 1;
    pl_status status = read_matrix(m, a, like);
    for (bool coarser = true; status == PL_OK && coarser;) {
        pl_level *l = &m->level[m->levels - 1];
        bool more = like ? m->levels < like->levels
                         : l->A.rows > PL_COARSE_MOST && m->levels < PL_LEVELS_MAX;
        status = set_smoother(l);
        coarser = false;
        if (status == PL_OK && more)
            status = coarsen(l, like ? &like->level[m->levels - 1] : NULL, &l[1].A, &coarser);
        if (coarser && status == PL_OK)
            m->levels++;
        else
            clear_transfer(l);
    }
    if (status != PL_OK)
        return status;
    scale_levels(m);
    return factor_coarsest(m);
}

pl_status pl_multigrid_create(const pl_sparse *a, const pl_multigrid *like, pl_multigrid **out)
{
    pl_multigrid *m = calloc(1, sizeof *m);
    if (!m)
        return PL_NO_MEMORY;
    pl_status status = make_levels(m, a, like);
    if (status == PL_OK)
        status = pl_multigrid_measure(m);
    if (status == PL_OK && m->least < PL_MULTIGRID_LEAST)
        status = PL_FAILED;
    if (status != PL_OK) {
        pl_multigrid_destroy(m);
        return status;
    }
    *out = m;
    return PL_OK;
}

static int64_t bytes_of(const pl_csr *a)
{
    int64_t entry = sizeof *a->column + sizeof *a->value;
    return a->start ? a->start[a->rows] * entry + (a->rows + 1) * (int64_t)sizeof *a->start : 0;
}

pl_multigrid_facts pl_multigrid_describe(const pl_multigrid *m)
{
    pl_multigrid_facts facts = {
        .levels = m->levels, .least = m->least, .apply_cycles = pl_multigrid_interval_of(m).cycles};
    for (int32_t k = 0; k < m->levels; k++) {
        const pl_level *l = &m->level[k];
        facts.entries += l->A.start[l->A.rows];
        facts.bytes += bytes_of(&l->A) + bytes_of(&l->P) + bytes_of(&l->R) + 12 * l->A.rows;
    }
    facts.bytes += m->order ? 4 * m->level[0].A.rows : 0;
    facts.bytes += m->coarse ? 8 * pl_factor_nonzeros(m->coarse) : 0;
    return facts;
}

/* ---- workspaces ---- */

static pl_quad *quads(int64_t count)
{
    pl_quad *memory = aligned_alloc(64, ((size_t)count * sizeof *memory + 127) / 64 * 64);
    if (memory)
        memset(memory, 0, (size_t)count * sizeof *memory);
    return memory;
}

void pl_multigrid_work_destroy(pl_multigrid_work *w)
{
    if (!w)
        return;
    for (int32_t k = 0; k < PL_LEVELS_MAX; k++) {
        pl_level_work *l = &w->level[k];
        free(l->b);
        free(l->x);
        free(l->r);
    }
    free(w->x);
    free(w->r);
    free(w->z);
    free(w->p);
    free(w->Ap);
    free(w->sums);
    free(w->columns);
    pl_solve_work_destroy(w->coarse);
    free(w);
}

static bool allocate(const pl_multigrid *m, pl_multigrid_work *w)
{
    int64_t n = m->level[0].A.rows, last = m->level[m->levels - 1].A.rows;
    bool good = true;
    for (int32_t k = 0; k < m->levels; k++) {
        pl_level_work *l = &w->level[k];
        int64_t rows = m->level[k].A.rows;
        l->b = k > 0 ? quads(rows) : NULL;
        l->x = k > 0 ? quads(rows) : NULL;
        good = good && (k == 0 || (l->b && l->x));
        if (k + 1 == m->levels)
            continue;
        l->r = quads(rows);
        good = good && l->r;
    }
    w->x = quads(n);
    w->r = quads(n);
    w->z = quads(n);
    w->p = quads(n);
    w->Ap = quads(n);
    w->sums = quads(pl_row_chunks(n));
    w->columns = malloc((size_t)(3 * last + 1) * sizeof *w->columns);
    return good && w->x && w->r && w->z && w->p && w->Ap && w->sums && w->columns;
}

pl_status pl_multigrid_work_create(const pl_multigrid *m, int32_t threads, pl_multigrid_work **out)
{
    pl_multigrid_work *w = calloc(1, sizeof *w);
    if (!w)
        return PL_NO_MEMORY;
    w->threads = threads;
    pl_status status = allocate(m, w) ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK && m->coarse)
        status = pl_solve_work_create(m->coarse, threads, &w->coarse);
    if (status != PL_OK) {
        pl_multigrid_work_destroy(w);
        return status;
    }
    *out = w;
    return PL_OK;
}

void pl_multigrid_work_set_threads(pl_multigrid_work *w, int32_t threads)
{
    w->threads = threads;
    if (w->coarse)
        pl_solve_work_set_threads(w->coarse, threads);
}

/* ---- the cycle ---- */

static void solve_coarsest(const pl_multigrid *m, pl_multigrid_work *w, const pl_quad *b,
                           pl_quad *x)
{
    int64_t n = m->level[m->levels - 1].A.rows;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            w->columns[k * n + i] = b[i][k];
    if (m->coarse)
        pl_factor_solve3(m->coarse, w->coarse, w->columns, w->columns);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] = w->columns[k * n + i];
}

/* x = or += S r: Chebyshev's iteration of the fourth kind, of two steps, on a spectrum from 0 to `bound`:
 *
 *     d = 4 / (3 bound) r,   S r = d + (1/5 d + 12 / (5 bound) (r - A d)) = 4 / bound r - 16 / (5 bound^2) A r   Lottes 2022
 *
 * which multiplies an error of eigenvalue s bound by 1 - 4 s + 16/5 s^2, in [-1/4, 1). */
static void smooth(const pl_level *l, pl_multigrid_work *w, const pl_quad *r, bool add, pl_quad *x)
{
    const pl_multigrid_ops *ops = pl_multigrid_ops_now();
    const double first = 4 / l->bound, second = 3.2 / (l->bound * l->bound);
    PL_EACH_CHUNK(w, l->A.rows, i0, i1)
    ops->smooth(&l->A, first, second, r, add, x, i0, i1);
}

static void descend(const pl_multigrid *m, pl_multigrid_work *w, int32_t k, const pl_quad *b,
                    pl_quad *x)
{
    const pl_multigrid_ops *ops = pl_multigrid_ops_now();
    const pl_level *l = &m->level[k];
    pl_level_work *own = &w->level[k], *next = &w->level[k + 1];
    int64_t n = l->A.rows;
    if (k + 1 == m->levels) {
        solve_coarsest(m, w, b, x);
        return;
    }
    smooth(l, w, b, false, x);
    PL_EACH_CHUNK(w, n, i0, i1)
    ops->residual(&l->A, b, x, own->r, i0, i1);
    PL_EACH_CHUNK(w, l->R.rows, i0, i1)
    ops->multiply(&l->R, own->r, false, next->b, i0, i1);
    descend(m, w, k + 1, next->b, next->x);
    PL_EACH_CHUNK(w, n, i0, i1)
    ops->multiply(&l->P, next->x, true, x, i0, i1);
    PL_EACH_CHUNK(w, n, i0, i1)
    ops->residual(&l->A, b, x, own->r, i0, i1);
    smooth(l, w, own->r, true, x);
}

void pl_multigrid_cycle(const pl_multigrid *m, pl_multigrid_work *w, const pl_quad *r, pl_quad *z)
{
    descend(m, w, 0, r, z);
}
