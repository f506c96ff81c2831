#include "engine/model/reweigh.h"

#include "engine/model/factors.h"
#include "engine/model/matrix.h"

#include <stdlib.h>
#include <string.h>

void pl_model_reweighed_destroy(pl_model *reweighed, const pl_model *model)
{
    if (!reweighed)
        return;
    for (int32_t g = 0; reweighed->groups && g < model->group_count; g++)
        if (reweighed->groups[g].weight != model->groups[g].weight)
            free(reweighed->groups[g].weight);
    free(reweighed->groups);
    pl_factors_destroy(reweighed);
    pl_sparse_clear(&reweighed->A);
    free(reweighed->coupling_start);
    free(reweighed->coupling_vertex);
    free(reweighed->coupling_value);
    free(reweighed->diagonal);
    free(reweighed);
}

/* Copies the list of groups, some of them with another `weight`. */
static pl_status set_weights(pl_model *m, const pl_model *from, const double *const *weight)
{
    const size_t groups = (size_t)m->group_count;
    m->groups = malloc((groups + 1) * sizeof *m->groups);
    if (!m->groups)
        return PL_NO_MEMORY;
    memcpy(m->groups, from->groups, groups * sizeof *m->groups);
    for (size_t g = 0; g < groups; g++) {
        const int64_t count = m->groups[g].blocks * PL_BLOCK;
        double *own = weight[g] ? pl_block_alloc(count, sizeof *own) : NULL;
        if (weight[g] && !own)
            return PL_NO_MEMORY;
        if (!own)
            continue;
        memcpy(own, weight[g], (size_t)count * sizeof *own);
        m->groups[g].weight = own;
    }
    return PL_OK;
}

pl_status pl_model_reweigh(const pl_model *model, const double *const *weight, pl_model **out)
{
    pl_model *m = malloc(sizeof *m);
    if (!m)
        return PL_NO_MEMORY;
    *m = *model;
    m->groups = NULL;
    m->A = (pl_sparse){0};
    memset(m->factor, 0, sizeof m->factor);
    memset(m->multigrid, 0, sizeof m->multigrid);
    m->coupling_start = NULL;
    m->coupling_vertex = NULL;
    m->coupling_value = NULL;
    m->diagonal = malloc((size_t)m->free_vertices * sizeof *m->diagonal + 1);
    pl_status status = m->diagonal ? set_weights(m, model, weight) : PL_NO_MEMORY;
    if (status == PL_OK)
        status = pl_matrix_assemble(m);
    if (status == PL_OK && pl_model_solves(model))
        status = pl_factors_create(m, model);
    if (status != PL_OK) {
        pl_model_reweighed_destroy(m, model);
        return status;
    }
    *out = m;
    return PL_OK;
}
