/* Rows of the free vertices, and the constant matrix on them. */
#include "engine/backends/cpu/cpu_internal.h"

#include "engine/model/factors.h"

#include <string.h>

/* Error left by a global step's solve, relative to the first: with a tenth, ADMM takes up to ten times as many
 * iterations where terms dissipate (backends/device/matrix.h), and a third cycle costs little. */
static const double GLOBAL_ERROR = 0.01;

pl_status pl_cpu_works_create(const pl_model *m, int32_t threads, solve_works *works)
{
    pl_status status = PL_OK;
    for (int k = 0; pl_model_solves(m) && status == PL_OK && k < 3; k++) {
        if ((k > 0 && pl_factors_shared(m, k, 0)) || (k > 1 && pl_factors_shared(m, k, 1)))
            continue;
        status = m->factor[k]
                     ? pl_solve_work_create(m->factor[k], threads, &works->factor[k])
                     : pl_multigrid_work_create(m->multigrid[k], threads, &works->multigrid[k]);
    }
    return status;
}

void pl_cpu_works_destroy(solve_works *works)
{
    for (int k = 0; k < 3; k++) {
        pl_solve_work_destroy(works->factor[k]);
        pl_multigrid_work_destroy(works->multigrid[k]);
    }
    *works = (solve_works){0};
}

void pl_cpu_works_set_threads(solve_works *works, int32_t threads)
{
    for (int k = 0; k < 3; k++) {
        if (works->factor[k])
            pl_solve_work_set_threads(works->factor[k], threads);
        if (works->multigrid[k])
            pl_multigrid_work_set_threads(works->multigrid[k], threads);
    }
}

/* All three right-hand sides by the factor or multigrid of coordinate k. */
static pl_status solve_by(const pl_model *m, const solve_works *works, int k, const double *rhs,
                          double *rows)
{
    if (works->factor[k])
        return pl_factor_solve3(m->factor[k], works->factor[k], rhs, rows);
    pl_multigrid_apply3(m->multigrid[k], works->multigrid[k], rhs, rows);
    return PL_OK;
}

pl_status pl_cpu_solve(pl_backend *b, const double *rhs, double *rows)
{
    const pl_model *m = b->model;
    cpu *c = cpu_of(b);
    const solve_works *works = works_of(c);
    if (!m->partly_held)
        return solve_by(m, works, 0, rhs, rows);
    /* Solves for the coordinates of one factor at a time; rows may be rhs, so results are stored last. */
    size_t n = (size_t)m->free_vertices;
    double *answer = c->scratch, *solved = answer + 3 * n;
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < 3; k++) {
        if (!works->factor[k] && !works->multigrid[k])
            continue;
        status = solve_by(m, works, k, rhs, solved);
        for (int j = 0; status == PL_OK && j < 3; j++)
            if (pl_factors_shared(m, j, k))
                memcpy(answer + j * n, solved + j * n, n * sizeof *answer);
    }
    if (status == PL_OK)
        memcpy(rows, answer, 3 * n * sizeof *rows);
    return status;
}

/* The coordinates that share k's multigrid; the columns of others are 0. A held coordinate starts at its answer. */
static pl_status solve_columns(pl_backend *b, int k, const double *rhs, const double *from,
                               double *rows, double *square)
{
    const pl_model *m = b->model;
    cpu *c = cpu_of(b);
    int64_t n = m->free_vertices;
    double *wanted = c->scratch, *solved = wanted + 3 * n;
    pl_multigrid_result result;
    for (int j = 0; j < 3; j++)
        for (int64_t i = 0; i < n; i++) {
            const bool used = pl_factors_shared(m, j, k);
            const bool held = pl_model_holds(m, m->free_vertex[i], j);
            wanted[j * n + i] = used ? rhs[j * n + i] : 0;
            solved[j * n + i] = !used ? 0 : held ? rhs[j * n + i] : from[j * n + i];
        }
    pl_status status = pl_multigrid_solve3(m->multigrid[k], works_of(c)->multigrid[k], GLOBAL_ERROR,
                                           wanted, solved, &result);
    for (int j = 0; status == PL_OK && j < 3; j++) {
        if (!pl_factors_shared(m, j, k))
            continue;
        memcpy(rows + j * n, solved + j * n, (size_t)n * sizeof *rows);
        *square += result.square[j];
    }
    return status;
}

pl_status pl_cpu_solve_from(pl_backend *b, const double *rhs, const double *from, double *rows,
                            double *square)
{
    const pl_model *m = b->model;
    const solve_works *works = works_of(cpu_of(b));
    pl_status status = PL_OK;
    *square = 0;
    for (int k = 0; m->partly_held && status == PL_OK && k < 3; k++)
        if (works->multigrid[k])
            status = solve_columns(b, k, rhs, from, rows, square);
    if (m->partly_held)
        return status;
    pl_multigrid_result result;
    memcpy(rows, from, 3 * (size_t)m->free_vertices * sizeof *rows);
    status = pl_multigrid_solve3(m->multigrid[0], works->multigrid[0], GLOBAL_ERROR, rhs, rows,
                                 &result);
    *square = result.square[0] + result.square[1] + result.square[2];
    return status;
}

void pl_cpu_multiply(pl_backend *b, const double *rows, double *out)
{
    const pl_model *m = b->model;
    double *masked = cpu_of(b)->scratch;
    int64_t n = m->free_vertices;
    if (!m->partly_held) {
        pl_sparse_multiply(&m->A, rows, out, 3);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            masked[k * n + i] = pl_model_holds(m, m->free_vertex[i], k) ? 0 : rows[k * n + i];
    pl_sparse_multiply(&m->A, masked, out, 3);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            if (pl_model_holds(m, m->free_vertex[i], k))
                out[k * n + i] = rows[k * n + i];
}

void pl_cpu_set_free(pl_backend *b, const double *rows, double *x)
{
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = m->free_vertex[i];
        for (int k = 0; k < 3; k++)
            if (!pl_model_holds(m, v, k))
                x[3 * v + k] = rows[k * n + i];
    }
}

void pl_cpu_get_free(pl_backend *b, const double *x, double *rows)
{
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            rows[k * n + i] = x[3 * (int64_t)m->free_vertex[i] + k];
}

double pl_cpu_dot_change(pl_backend *b, const double *a1, const double *a0, const double *b1,
                         const double *b0)
{
    cpu *c = cpu_of(b);
    int64_t n = 3 * b->model->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, n); i++)
            total += (a1[i] - a0[i]) * (b1[i] - b0[i]);
        c->partial[k] = total;
    }
    return add_up(c->partial, chunks);
}
