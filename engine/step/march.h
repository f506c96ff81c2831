/* march.h - the stages of one step, or of a half of one. Private to the engine's own files. */
#ifndef PLIANT_ENGINE_MARCH_H
#define PLIANT_ENGINE_MARCH_H

#include "engine/step/state.h"

/* From (x, v) at `start`, v_old the velocities a step before, to (x_out, v_out) at `end`, by a stepper of
 * that length. */
typedef struct pl_leg {
    const pl_stepper *by;
    double start, end; /* s */
    const double *x, *v, *v_old;
    const pl_past *past;
    double *x_out, *v_out;
    pl_past *past_out; /* what a step after it goes out from */
} pl_leg;

/* PL_FAILED: *failure says of what, vertex and element not yet of a body; what is `out` has no meaning. */
pl_status pl_march(pl_state *s, const pl_leg *leg, pl_solve_result *solve, pl_tally *tally,
                   pl_failure *failure);

#endif
