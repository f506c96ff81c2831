/* ADMM's phases for changes of weights. */
#include "engine/backends/cpu/cpu_internal.h"

pl_status pl_cpu_use_model(pl_backend *b, const pl_model *model)
{
    cpu *c = cpu_of(b);
    solve_works works = {0};
    pl_status status = model == c->first ? PL_OK : pl_cpu_works_create(model, c->threads, &works);
    pl_cpu_works_destroy(status == PL_OK ? &c->other_work : &works);
    if (status != PL_OK)
        return status;
    c->other_work = works;
    b->model = model;
    return PL_OK;
}

void pl_cpu_concavity(pl_backend *b, int32_t group, const double *z, double *out)
{
    cpu *c = cpu_of(b);
    const pl_group *g = &b->model->groups[group];
    EACH_RUN(c, g->blocks, r)
        g->ops->concavity(g, z, out, r.b0, r.b1);
}

void pl_cpu_scale_terms(pl_backend *b, int32_t group, const double *factor, double *values)
{
    cpu *c = cpu_of(b);
    const pl_group *g = &b->model->groups[group];
    int64_t rows = g->blocks * g->ops->rows;
#pragma omp parallel for num_threads(team(c, g->blocks, BLOCKS_A_THREAD)) schedule(static)
    for (int64_t r = 0; r < rows; r++)
        for (int64_t l = 0; l < PL_BLOCK; l++)
            values[r * PL_BLOCK + l] *= factor[r / g->ops->rows * PL_BLOCK + l];
}
