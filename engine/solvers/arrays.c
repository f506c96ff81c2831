#include "engine/solvers/arrays.h"

#include "engine/model/model.h"

#include <stdlib.h>

pl_array **pl_group_arrays_create(const pl_model *model, pl_backend *backend, int32_t share)
{
    pl_array **arrays = calloc((size_t)model->group_count + 1, sizeof *arrays);
    for (int32_t g = 0; arrays && g < model->group_count; g++) {
        arrays[g] = backend->ops->memory->alloc(backend,
                                                pl_group_values(&model->groups[g]) / share);
        if (!arrays[g]) {
            pl_group_arrays_release(model, backend, arrays);
            return NULL;
        }
    }
    return arrays;
}

void pl_group_arrays_release(const pl_model *model, pl_backend *backend, pl_array **arrays)
{
    for (int32_t g = 0; arrays && g < model->group_count; g++)
        backend->ops->memory->release(backend, arrays[g]);
    free(arrays);
}

bool pl_values_create(const pl_model *model, pl_backend *backend, pl_array ***const *list,
                      size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        *list[i] = pl_group_arrays_create(model, backend, 1);
        good = good && *list[i];
    }
    return good;
}

void pl_values_release(const pl_model *model, pl_backend *backend, pl_array **const *list,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        pl_group_arrays_release(model, backend, list[i]);
}

bool pl_rows_create(const pl_model *model, pl_backend *backend, pl_array ***rows, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        *rows[i] = backend->ops->memory->alloc(backend, 3 * model->free_vertices);
        good = good && *rows[i];
    }
    return good;
}

void pl_rows_release(pl_backend *backend, pl_array *const *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        backend->ops->memory->release(backend, rows[i]);
}
