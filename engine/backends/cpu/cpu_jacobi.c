/* The CPU's phases of descent methods without a matrix: the Jacobi preconditioner, inner products, and a Chebyshev
 * step. */
#include "engine/backends/cpu/cpu_internal.h"

#include <math.h>

/* The Hessian's contributions at a vertex, without negative ones. Projecting a term's Hessian to a semidefinite one
 * adds a semidefinite matrix to it, so its diagonal is at least this: P never claims more curvature than a
 * projected Newton step would meet. */
static void gather_positive(const pl_gather *g, const double *contributions, int64_t vertex,
                            double sum[3])
{
    for (int k = 0; k < 3; k++)
        sum[k] = 0;
    for (int64_t e = g->start[vertex]; e < g->start[vertex + 1]; e++) {
        const double *h = contributions + g->slot[e];
        for (int k = 0; k < 3; k++)
            sum[k] += h[k * PL_BLOCK] > 0 ? h[k * PL_BLOCK] : 0;
    }
}

/* 1 / P of a chunk of free vertices; its sums of inertia and of P. */
static void invert(cpu *c, const pl_stage *stage, double *inverse, int64_t chunk)
{
    const pl_model *m = c->base.model;
    int64_t n = m->free_vertices;
    double total_inertia = 0, all = 0;
    for (int64_t i = chunk * CHUNK; i < chunk_end(chunk, n); i++) {
        int64_t v = m->free_vertex[i];
        double diagonal[3], inertia = m->mass[v] * stage->scalars.inertia;
        gather_positive(&m->gather, c->to_global, v, diagonal);
        add_pairs(c, v, diagonal);
        for (int k = 0; k < 3; k++) {
            double P = fmax(inertia + diagonal[k], PL_JACOBI_LEAST * m->diagonal[i]);
            inverse[k * n + i] = 1 / P;
            total_inertia += inertia;
            all += P;
        }
    }
    c->vertex_sums[2 * chunk] = total_inertia;
    c->vertex_sums[2 * chunk + 1] = all;
}

double pl_cpu_jacobi(pl_backend *b, const pl_stage *stage, const double *x, double *inverse)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        EACH_RUN(c, group->blocks, r)
            pl_group_hessian_diagonal(group, x, c->to_global, c->hessians, r.b0, r.b1);
    }
    if (c->between.set)
        pl_contact_rows_diagonal(pl_contact_set_rows(c->between.set), x);
    int64_t n = m->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++)
        invert(c, stage, inverse, k);
    double inertia = 0, all = 0;
    for (int64_t k = 0; k < chunks; k++) {
        inertia += c->vertex_sums[2 * k];
        all += c->vertex_sums[2 * k + 1];
    }
    return inertia / all;
}

double pl_cpu_jacobi_constant(pl_backend *b, const pl_stage *stage, bool flat, double *inverse)
{
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
    double most = 0, inertia = 0, all = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, pl_model_diagonal(m, i));
    for (int64_t i = 0; i < n; i++) {
        double P = flat ? most : pl_model_diagonal(m, i);
        inertia += m->mass[m->free_vertex[i]] * stage->scalars.inertia;
        all += P;
        for (int k = 0; k < 3; k++)
            inverse[k * n + i] = 1 / P;
    }
    return inertia / all;
}

double pl_cpu_scale(pl_backend *b, const double *inverse, const double *g, double *out)
{
    cpu *c = cpu_of(b);
    int64_t n = 3 * b->model->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++)
        c->partial[k] = c->rows->scale(inverse, g, k * CHUNK, chunk_end(k, n), out);
    return add_up(c->partial, chunks);
}

void pl_cpu_unscale(pl_backend *b, const double *inverse, const double *p, double *out)
{
    int64_t n = 3 * b->model->free_vertices;
    for (int64_t i = 0; i < n; i++)
        out[i] = p[i] / inverse[i];
}

double pl_cpu_dot(pl_backend *b, const double *a, const double *d)
{
    cpu *c = cpu_of(b);
    int64_t n = 3 * b->model->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++)
        c->partial[k] = c->rows->dot(a, d, k * CHUNK, chunk_end(k, n));
    return add_up(c->partial, chunks);
}

void pl_cpu_chebyshev(pl_backend *b, const pl_chebyshev *step)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
    const double *x = pl_numbers_read(step->x), *g = pl_numbers_read(step->g),
                 *inverse = pl_numbers_read(step->inverse);
    double *moved = pl_numbers(step->s), *x_new = pl_numbers(step->x_new);
    double down = -step->omega * step->alpha, on = step->omega - 1;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t v = m->free_vertex[i];
        for (int k = 0; k < 3; k++) {
            int64_t row = k * n + i;
            double s = down * inverse[row] * g[row] + on * moved[row];
            moved[row] = s;
            x_new[3 * v + k] = x[3 * v + k] + s;
        }
    }
}
