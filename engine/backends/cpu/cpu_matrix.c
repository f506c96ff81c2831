/* Rows of the free vertices, and the constant matrix on them. */
#include "engine/backends/cpu/cpu_internal.h"

#include <string.h>

pl_status pl_cpu_solve(pl_backend *b, const double *rhs, double *rows)
{
    const pl_model *m = b->model;
    cpu *c = cpu_of(b);
    pl_solve_work *const *work = work_of(c);
    if (!m->partly_held)
        return pl_factor_solve3(m->factor[0], work[0], rhs, rows);
    /* Solves for the coordinates of one factor at a time; rows may be rhs, so results are stored last. */
    size_t n = (size_t)m->free_vertices;
    double *answer = c->scratch, *solved = answer + 3 * n;
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < 3; k++) {
        if (!work[k])
            continue;
        status = pl_factor_solve3(m->factor[k], work[k], rhs, solved);
        for (int j = 0; status == PL_OK && j < 3; j++)
            if (m->factor[j] == m->factor[k])
                memcpy(answer + j * n, solved + j * n, n * sizeof *answer);
    }
    if (status == PL_OK)
        memcpy(rows, answer, 3 * n * sizeof *rows);
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
