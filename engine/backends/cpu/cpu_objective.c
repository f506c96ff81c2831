/* The stage objective and its gradient, on the CPU. */
#include "engine/backends/cpu/cpu_internal.h"

#include <math.h>

void pl_cpu_freeze(pl_backend *b, const pl_stage *stage)
{
    cpu *c = cpu_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        if (!group->ops->freeze)
            continue;
        EACH_RUN(c, group->blocks, r)
            group->ops->freeze(group, stage, r.b0, r.b1);
        if (!group->ops->spread || !group->ops->spreads(group))
            continue;
        EACH_RUN(c, group->blocks, r)
            group->ops->spread(group, r.b0, r.b1);
    }
    pl_cpu_sweep_refreeze(c);
}

static double elastic_energy(cpu *c, const double *x)
{
    const pl_model *m = c->base.model;
    double total = 0;
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        if (!group->ops->energy)
            continue;
        EACH_RUN(c, group->blocks, r)
            group->ops->energy(group, x, c->partial, r.b0, r.b1);
        total += add_up(c->partial, group->blocks);
    }
    return total;
}

double pl_cpu_objective(pl_backend *b, const pl_stage *stage, const double *x)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    double elastic = elastic_energy(c, x) + pl_cpu_pairs_evaluate(c, x);
    int64_t chunks = chunks_of(m->vertices);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, m->vertices); i++) {
            double square = 0, work = 0;
            for (int j = 0; j < 3; j++) {
                if (pl_model_holds(m, i, j))
                    continue; /* where it must be: no choice */
                double d = x[3 * i + j] - stage->x_pred[3 * i + j];
                square += d * d;
                work += pl_stage_load(stage, 3 * i + j) * x[3 * i + j];
            }
            total += 0.5 * stage->scalars.inertia * m->mass[i] * square - work;
        }
        c->partial[k] = total;
    }
    return add_up(c->partial, chunks) + elastic;
}

double pl_cpu_gradient(pl_backend *b, const pl_stage *stage, const double *x, pl_array *const *u,
                       double *gradient)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        EACH_RUN(c, group->blocks, r) {
            if (group->ops->hard && u && !pl_cpu_is_apart(c, g))
                group->ops->transpose(group, pl_numbers(u[g]), c->to_global, r.b0, r.b1);
            else if (group->ops->hard)
                pl_cpu_no_contributions(group, c->to_global, r.b0, r.b1);
            else
                group->ops->gradient(group, x, c->to_global, r.b0, r.b1);
        }
    }
    const bool with_pairs = u || !c->apart;
    if (with_pairs)
        pl_cpu_pairs_evaluate(c, x);
    int64_t chunks = chunks_of(m->vertices);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, m->vertices); i++) {
            double *f = gradient + 3 * i;
            pl_gather_vertex(&m->gather, c->to_global, i, f);
            if (with_pairs)
                add_pairs(c, i, f);
            for (int j = 0; j < 3; j++)
                f[j] += m->mass[i] * stage->scalars.inertia *
                            (x[3 * i + j] - stage->x_pred[3 * i + j]) -
                        pl_stage_load(stage, 3 * i + j);
            double off[3] = {f[0], f[1], f[2]};
            clear_held(m, i, off);
            total += off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
        }
        c->partial[k] = total;
    }
    return sqrt(add_up(c->partial, chunks));
}
