/* Metrics of a state for frames, on the CPU. */
#include "engine/backends/cpu/cpu_internal.h"

#include <math.h>

int64_t pl_cpu_soft_force(pl_backend *b, int32_t group, const double *x, double force[3])
{
    const pl_group *g = &b->model->groups[group];
    return g->ops->push(g, x, force);
}

double pl_cpu_depth(pl_backend *b, int32_t group, double time, const double *x)
{
    const pl_group *g = &b->model->groups[group];
    int32_t threads = team(cpu_of(b), g->blocks, BLOCKS_A_THREAD);
    double deepest = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : deepest)
    for (int64_t part = 0; part < threads; part++) {
        run r = run_of(g->blocks, part, threads);
        deepest = fmax(deepest, g->ops->depth(g, time, x, r.b0, r.b1));
    }
    return deepest;
}

double pl_cpu_dissipation(pl_backend *b, int32_t group, const double *x)
{
    cpu *c = cpu_of(b);
    const pl_group *g = &b->model->groups[group];
    EACH_RUN(c, g->blocks, r)
        g->ops->dissipate(g, x, c->energies, r.b0, r.b1);
    double power = 0;
    for (int64_t i = 0; i < g->blocks; i++)
        power += c->energies[i];
    return power;
}

pl_measures pl_cpu_measure(pl_backend *b, const double *x)
{
    cpu *c = cpu_of(b);
    pl_measures out = {0};
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        if (!group->ops->measure)
            continue;
        EACH_RUN(c, group->blocks, r)
            group->ops->measure(group, x, c->measures, r.b0, r.b1);
        for (int64_t i = 0; i < group->blocks; i++) {
            out.elastic += c->measures[i].energy;
            out.inverted += c->measures[i].inverted;
            out.max_stretch = fmax(out.max_stretch, c->measures[i].max_stretch);
        }
    }
    return out;
}
