#include "engine/model/half.h"

#include "engine/model/factors.h"

#include <stdlib.h>
#include <string.h>

void pl_model_half_destroy(pl_model *half)
{
    if (!half)
        return;
    pl_factors_destroy(half);
    free(half->A.value);
    free(half->diagonal);
    free(half);
}

static pl_status halve_matrix(const pl_model *whole, pl_model *half)
{
    size_t bytes = (size_t)whole->A.column[whole->A.n] * sizeof *half->A.value;
    half->A.value = malloc(bytes + 1);
    if (!half->A.value)
        return PL_NO_MEMORY;
    memcpy(half->A.value, whole->A.value, bytes);
    for (int64_t i = 0; i < half->A.n; i++)
        half->A.value[half->A.column[i]] = half->diagonal[i];
    return whole->factor[0] ? pl_factors_create(half) : PL_OK;
}

/* A = inertia M + D^T W^2 D: with h/2, inertia is four times as much. */
pl_status pl_model_halve(const pl_model *whole, pl_model **out)
{
    pl_model *half = malloc(sizeof *half);
    if (!half)
        return PL_NO_MEMORY;
    *half = *whole;
    half->h = whole->h / 2;
    half->inertia = 4 * whole->inertia;
    memset(half->factor, 0, sizeof half->factor);
    half->A.value = NULL;
    half->diagonal = malloc((size_t)whole->free_vertices * sizeof *half->diagonal);
    pl_status status = half->diagonal ? PL_OK : PL_NO_MEMORY;
    for (int64_t i = 0; status == PL_OK && i < whole->free_vertices; i++)
        half->diagonal[i] = whole->diagonal[i] +
                            3 * whole->mass[whole->free_vertex[i]] * whole->inertia;
    if (status == PL_OK && whole->A.n > 0)
        status = halve_matrix(whole, half);
    if (status != PL_OK) {
        pl_model_half_destroy(half);
        return status;
    }
    *out = half;
    return PL_OK;
}
