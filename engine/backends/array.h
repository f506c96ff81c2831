/* array.h - an array in the memory of a backend, which may be another device's: where its numbers lie, and
 * of what precision they are, that backend alone knows (numbers.h). Whoever else has one hands it on. */
#ifndef PLIANT_ENGINE_BACKENDS_ARRAY_H
#define PLIANT_ENGINE_BACKENDS_ARRAY_H

#include "engine/model/stage.h"

#include <stdbool.h>

typedef struct pl_array pl_array;

/* A stage (stage.h) whose arrays are the backend's. */
typedef struct pl_backend_stage {
    pl_stage_scalars scalars;
    const pl_array *x_start, *v_start, *xp, *stationary, *x_pred, *x_grip, *load;
    const pl_array *multipliers; /* of held groups, [model->multipliers]; NULL: all 0 */
    /* Of a solve that goes on from another's answer: what its decrement has to come down to, and how many
     * iterations are left. Bound 0: none of both, it is the first. */
    double bound;
    int64_t iterations;
    /* How many times the bound the decrement may be, of a solve whose answer is not the stage's; 0: once. */
    double loose;
    /* The way to the answer that it goes on from passes through a surface: while gaps lack, it is no answer. */
    bool blocked;
    /* The share of its first decrement at which a solve may end as `rough`, unconverged, because what it takes as
     * given is to be renewed. 0: it goes on to the bound. */
    double share;
    /* If no step along a direction lowers the objective, the solve ends unconverged instead of failing. */
    bool stays;
} pl_backend_stage;

#endif
