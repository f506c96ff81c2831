/* arrays.h - a solver's arrays on the device: values of every group, and rows of the free vertices.
 * The create functions are all or nothing; release takes NULL. */
#ifndef PLIANT_ENGINE_SOLVERS_ARRAYS_H
#define PLIANT_ENGINE_SOLVERS_ARRAYS_H

#include "engine/backends/backend.h"

#include <stdbool.h>
#include <stddef.h>

/* [group_count] arrays of pl_group_values() / `share` numbers each; NULL without memory. */
pl_array **pl_group_arrays_create(const pl_model *model, pl_backend *backend, int32_t share);
void pl_group_arrays_release(const pl_model *model, pl_backend *backend, pl_array **arrays);

/* The same of whole values, for every one of a list; false without memory, and then those that were made
 * are the caller's to release as well. */
bool pl_values_create(const pl_model *model, pl_backend *backend, pl_array ***const *list,
                      size_t count);
void pl_values_release(const pl_model *model, pl_backend *backend, pl_array **const *list,
                       size_t count);

/* Every *row of the list gets 3 free_vertices numbers; false without memory, and then those that
 * were made are the caller's to release as well. */
bool pl_rows_create(const pl_model *model, pl_backend *backend, pl_array ***rows, size_t count);
void pl_rows_release(pl_backend *backend, pl_array *const *rows, size_t count);

static inline void pl_rows_swap(pl_array **a, pl_array **b)
{
    pl_array *t = *a;
    *a = *b;
    *b = t;
}

#endif
