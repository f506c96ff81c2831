/* stages.h - the stages of one step, or of half a step. Private to the engine's own files. */
#ifndef PLIANT_ENGINE_STEP_STAGES_H
#define PLIANT_ENGINE_STEP_STAGES_H

#include "engine/step/state.h"

/* From (x, v) at `start`, with v_old the velocities one step before, to (x_out, v_out) at `end`, by a stepper of
 * that length. */
typedef struct pl_substep {
    const pl_stepper *by;
    double start, end; /* s */
    const pl_array *x, *v, *v_old;
    const pl_step_history *history;
    pl_array *x_out, *v_out;
    pl_step_history *history_out; /* data for the next step */
    double landing;               /* m/s, pl_contact_end's */
    bool by_euler;                /* backward Euler repeats a step of another integrator */
    bool stays;                   /* pl_backend_stage's */
} pl_substep;

/* Runs the stages of s->integrator. *landed: whether a vertex hit an obstacle faster than `landing`. PL_FAILED:
 * *failure is filled, with vertex and element counted over all bodies; outputs are undefined. */
pl_status pl_stages_run(pl_state *s, const pl_substep *substep, pl_solve_result *solve,
                        pl_step_totals *totals, bool *landed, pl_failure *failure);

#endif
