#include "engine/model/other_steps.h"

#include "engine/model/factors.h"

#include <stdlib.h>
#include <string.h>

void pl_model_other_destroy(pl_model *other)
{
    if (!other)
        return;
    pl_factors_destroy(other);
    free(other->A.value);
    free(other->diagonal);
    free(other);
}

static pl_status make_matrix(const pl_model *whole, pl_model *other)
{
    size_t bytes = (size_t)whole->A.column[whole->A.n] * sizeof *other->A.value;
    other->A.value = malloc(bytes + 1);
    if (!other->A.value)
        return PL_NO_MEMORY;
    memcpy(other->A.value, whole->A.value, bytes);
    for (int64_t i = 0; i < other->A.n; i++)
        other->A.value[other->A.column[i]] = other->diagonal[i];
    return pl_model_solves(whole) ? pl_factors_create(other, whole) : PL_OK;
}

/* A = inertia M + D^T W^2 D. */
static pl_status make_other(const pl_model *whole, const pl_model *wanted, pl_model **out)
{
    pl_model *other = malloc(sizeof *other);
    if (!other)
        return PL_NO_MEMORY;
    *other = *wanted;
    memset(other->factor, 0, sizeof other->factor);
    memset(other->multigrid, 0, sizeof other->multigrid);
    other->A.value = NULL;
    other->diagonal = malloc((size_t)whole->free_vertices * sizeof *other->diagonal + 1);
    pl_status status = other->diagonal ? PL_OK : PL_NO_MEMORY;
    for (int64_t i = 0; status == PL_OK && i < whole->free_vertices; i++)
        other->diagonal[i] = whole->diagonal[i] +
                             whole->mass[whole->free_vertex[i]] * (other->inertia - whole->inertia);
    if (status == PL_OK && whole->A.n > 0)
        status = make_matrix(whole, other);
    if (status != PL_OK) {
        pl_model_other_destroy(other);
        return status;
    }
    *out = other;
    return PL_OK;
}

/* With h/2, inertia is four times as much. */
pl_status pl_model_halve(const pl_model *whole, pl_model **out)
{
    pl_model half = *whole;
    half.h = whole->h / 2;
    half.inertia = 4 * whole->inertia;
    return make_other(whole, &half, out);
}

pl_status pl_model_by_euler(const pl_model *whole, pl_model **out)
{
    pl_model euler = *whole;
    euler.integrator = PL_INTEGRATOR_BACKWARD_EULER;
    euler.a = 1;
    euler.inertia = whole->inertia * whole->a * whole->a;
    return make_other(whole, &euler, out);
}
