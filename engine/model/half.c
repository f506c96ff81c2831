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
    free(half);
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
    size_t bytes = (size_t)whole->A.column[whole->A.n] * sizeof *half->A.value;
    half->A.value = malloc(bytes + 1);
    pl_status status = half->A.value ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK) {
        memcpy(half->A.value, whole->A.value, bytes);
        for (int64_t i = 0; i < half->A.n; i++)
            half->A.value[half->A.column[i]] += 3 * whole->mass[whole->free_vertex[i]] *
                                                whole->inertia;
        status = pl_factors_create(half);
    }
    if (status != PL_OK) {
        pl_model_half_destroy(half);
        return status;
    }
    *out = half;
    return PL_OK;
}
