/* solve_shape.h - how the work of a solve is divided, in numbers of L, which a solve reads twice. */
#ifndef PLIANT_ENGINE_LINEAR_SOLVE_SHAPE_H
#define PLIANT_ENGINE_LINEAR_SOLVE_SHAPE_H

#include "engine/linear/linear.h"
#include "engine/linear/panels.h"

typedef struct pl_solve_shape {
    double all; /* of all panels */
    /* of the busier of two threads, as parts divide L: the larger part, and the top; `all` if there are no parts */
    double two;
    /* of the heaviest path from a leaf of the elimination tree to a root: panels on it wait for each other */
    double chain;
} pl_solve_shape;

/* `all` everywhere if out of memory. */
pl_solve_shape pl_panels_shape(const pl_panels *panels);
pl_solve_shape pl_factor_shape(const pl_factor *f);

#endif
