/* The CPU's local steps by term, and their interface to global steps. */
#include "engine/backends/cpu/cpu_internal.h"

#include "engine/clock.h"
#include "engine/model/groups/touching.h"

#include <math.h>

void pl_cpu_reduce(pl_backend *b, const double *x, pl_array *const *z)
{
    cpu *c = cpu_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        EACH_RUN(c, group->blocks, r)
            group->ops->reduce(group, x, pl_numbers(z[g]), r.b0, r.b1);
    }
}

pl_local_sums pl_cpu_local_step(pl_backend *b, const pl_stage *stage, const pl_local_step *step)
{
    cpu *c = cpu_of(b);
    pl_local_sums total = {0};
    double primal = 0, change = 0, size = 0;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        double start = pl_clock_ms();
        const bool apart = pl_cpu_is_apart(c, g);
        if (apart && !pl_touching_is_on(group))
            continue;
        pl_admm_local local = {.x = pl_numbers_read(step->x),
                               .u = pl_numbers(step->u[g]),
                               .z = pl_numbers(step->z[g]),
                               .u_old = pl_numbers(step->u_old[g]),
                               .z_old = pl_numbers(step->z_old[g]),
                               .beta = step->beta,
                               .beta_next = step->beta_next,
                               .relaxation = step->relaxation,
                               .to_global = c->to_global,
                               .dual = step->want_dual ? c->dual : NULL,
                               .sums = c->sums};
        if (apart)
            pl_cpu_apart_find(c, &local);
        EACH_RUN(c, group->blocks, r)
            group->ops->admm_local(group, stage, &local, r.b0, r.b1);
        const double before = primal;
        for (int64_t i = 0; i < group->blocks; i++) {
            primal += c->sums[i].primal;
            change += c->sums[i].change;
            size += c->sums[i].size;
        }
        if (apart)
            pl_cpu_apart_end(c, sqrt(primal - before));
        *(group->ops->hard ? &total.ms_contacts : &total.ms_elastic) += pl_clock_ms() - start;
    }
    total.primal = sqrt(primal);
    total.change = sqrt(change);
    total.size = sqrt(size);
    return total;
}

void pl_cpu_contribute(pl_backend *b, pl_array *const *u, pl_array *const *z)
{
    cpu *c = cpu_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        EACH_RUN(c, group->blocks, r)
            group->ops->admm_contribute(group, pl_numbers(u[g]), pl_numbers(z[g]), c->to_global,
                                        r.b0, r.b1);
    }
}

void pl_cpu_stage_rows(pl_backend *b, const pl_stage *stage, const double *x, double *rows)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t v = m->free_vertex[i];
        double r[3];
        for (int k = 0; k < 3; k++)
            r[k] = m->mass[v] * stage->scalars.inertia * stage->x_pred[3 * v + k] +
                   pl_stage_load(stage, 3 * v + k);
        for (int64_t e = m->coupling_start[i]; e < m->coupling_start[i + 1]; e++) {
            int64_t other = m->coupling_vertex[e];
            for (int k = 0; k < 3; k++)
                if (pl_model_holds(m, other, k))
                    r[k] -= m->coupling_value[e] * x[3 * other + k];
        }
        for (int k = 0; k < 3; k++)
            rows[k * n + i] = pl_model_holds(m, v, k) ? x[3 * v + k] : r[k];
    }
}

void pl_cpu_gather_global(pl_backend *b, const double *base, double *rows)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum[3];
        int64_t v = m->free_vertex[i];
        pl_gather_vertex(&m->gather, c->to_global, v, sum);
        for (int k = 0; k < 3; k++)
            rows[k * n + i] = base[k * n + i] + (pl_model_holds(m, v, k) ? 0 : sum[k]);
    }
}

double pl_cpu_dual_norm(pl_backend *b)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, n); i++) {
            double s[3];
            pl_gather_vertex(&m->gather, c->dual, m->free_vertex[i], s);
            clear_held(m, m->free_vertex[i], s);
            total += s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        }
        c->partial[k] = total;
    }
    return sqrt(add_up(c->partial, chunks));
}

int64_t pl_cpu_hard_force(pl_backend *b, int32_t group, const double *u, double force[3])
{
    const pl_group *g = &b->model->groups[group];
    int64_t active = 0;
    for (int k = 0; k < 3; k++)
        force[k] = 0;
    for (int64_t t = 0; t < g->terms; t++) {
        int64_t block = t / PL_BLOCK, lane = t % PL_BLOCK;
        bool any = false;
        for (int k = 0; k < 3; k++) {
            double q = u[(block * 3 + k) * PL_BLOCK + lane];
            force[k] -= g->weight[t] * q;
            any = any || q != 0;
        }
        active += any;
    }
    return active;
}
