/* numbers.h - the numbers of a backend's arrays: for backends, and for callers that have checked `on_host`. NULL
 * stays NULL. */
#ifndef PLIANT_ENGINE_BACKENDS_NUMBERS_H
#define PLIANT_ENGINE_BACKENDS_NUMBERS_H

#include "engine/backends/array.h"

static inline pl_number *pl_numbers(pl_array *array)
{
    return (pl_number *)(void *)array;
}

static inline const pl_number *pl_numbers_read(const pl_array *array)
{
    return (const pl_number *)(const void *)array;
}

static inline pl_array *pl_numbers_array(pl_number *numbers)
{
    return (pl_array *)(void *)numbers;
}

/* The stage as terms read it. */
static inline pl_stage pl_numbers_stage(const pl_backend_stage *stage)
{
    return (pl_stage){.scalars = stage->scalars,
                      .x_start = pl_numbers_read(stage->x_start),
                      .v_start = pl_numbers_read(stage->v_start),
                      .xp = pl_numbers_read(stage->xp),
                      .stationary = pl_numbers_read(stage->stationary),
                      .x_pred = pl_numbers_read(stage->x_pred),
                      .x_grip = pl_numbers_read(stage->x_grip),
                      .load = pl_numbers_read(stage->load)};
}

#endif
