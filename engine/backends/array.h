/* array.h - an array in the memory of a backend, which may be on another device. Only that backend knows where its
 * numbers lie and in which precision (numbers.h). All other code passes arrays on unread. */
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
    /* For a solve that continues from another's answer: the target for its decrement, and the number of iterations
     * left. Bound 0: this is the first solve, with neither. */
    double bound;
    int64_t iterations;
    /* Allowed decrement as a multiple of the bound, for a solve whose answer is not the stage's; 0: once. */
    double loose;
    /* The path to the answer from which the solve continues passes through a surface: that answer is invalid as
     * long as gaps are too small. */
    bool blocked;
    /* The fraction of its first decrement at which a solve may end as `rough`, unconverged, because its fixed
     * inputs are about to be renewed. 0: it continues to the bound. */
    double share;
    /* If no step along a direction lowers the objective, the solve ends unconverged instead of failing. */
    bool stays;
} pl_backend_stage;

#endif
