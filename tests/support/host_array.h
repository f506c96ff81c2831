/* host_array.h - numbers of a test as arrays of the CPU's backend, whose arrays are the host's memory. */
#ifndef PLIANT_TESTS_SUPPORT_HOST_ARRAY_H
#define PLIANT_TESTS_SUPPORT_HOST_ARRAY_H

#include "engine/backends/backend.h"
#include "engine/backends/numbers.h"

#include <stdint.h>

static inline pl_array *pl_host_array(const double *numbers)
{
    return pl_numbers_array((double *)(uintptr_t)numbers);
}

/* Memory of a backend that has it on the host. */
static inline double *pl_host_alloc(pl_backend *b, int64_t count)
{
    return pl_numbers(b->ops->memory->alloc(b, count));
}

#endif
