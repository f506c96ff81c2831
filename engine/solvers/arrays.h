/* arrays.h - a solver's arrays on the device: values of every group, and rows of the free vertices. The create
 * functions create all or nothing; release accepts NULL. */
#ifndef PLIANT_ENGINE_SOLVERS_ARRAYS_H
#define PLIANT_ENGINE_SOLVERS_ARRAYS_H

#include "engine/backends/backend.h"

#include <stdbool.h>
#include <stddef.h>

/* [group_count] arrays of pl_group_values() / `share` numbers each; NULL if out of memory. */
pl_array **pl_group_arrays_create(const pl_model *model, pl_backend *backend, int32_t share);
void pl_group_arrays_release(const pl_model *model, pl_backend *backend, pl_array **arrays);

/* The same with whole values, for every entry of a list. False: out of memory; the caller then also releases the
 * arrays already created. */
bool pl_values_create(const pl_model *model, pl_backend *backend, pl_array ***const *list,
                      size_t count);
void pl_values_release(const pl_model *model, pl_backend *backend, pl_array **const *list,
                       size_t count);

/* Gives every *row of the list 3 free_vertices numbers. False: out of memory; the caller then also releases the
 * rows already created. */
bool pl_rows_create(const pl_model *model, pl_backend *backend, pl_array ***rows, size_t count);
void pl_rows_release(pl_backend *backend, pl_array *const *rows, size_t count);

static inline void pl_rows_swap(pl_array **a, pl_array **b)
{
    pl_array *t = *a;
    *a = *b;
    *b = t;
}

#endif
