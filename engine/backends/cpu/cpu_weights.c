/* ADMM's phases for changes of weights. */
#include "engine/backends/cpu/cpu_internal.h"

#include <string.h>

pl_status pl_cpu_use_model(pl_backend *b, const pl_model *model)
{
    cpu *c = cpu_of(b);
    pl_solve_work *work[3] = {NULL};
    pl_status status = model == c->first ? PL_OK : pl_cpu_solve_work(model, c->threads, work);
    pl_solve_work **unused = status == PL_OK ? c->other_work : work;
    for (int k = 0; k < 3; k++)
        pl_solve_work_destroy(unused[k]);
    if (status != PL_OK)
        return status;
    memcpy(c->other_work, work, sizeof work);
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
