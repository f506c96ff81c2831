/* guess.h - the initial guess for the iterations of a stage. Private to the engine's own files. */
#ifndef PLIANT_ENGINE_STEP_GUESS_H
#define PLIANT_ENGINE_STEP_GUESS_H

#include "engine/step/state.h"

/* Fills x [vertices][3] with the model's initial guess; pinned vertices are at their positions at the stage's end.
 * v and v_old [vertices][3]: velocities at the step's start and one step before. If the objective is infinite at
 * the guess, x is stage->x_start. The guess ignores contact: the constraint handles a guess inside an obstacle. */
void pl_guess(const pl_stepper *by, const pl_backend_stage *stage, const pl_array *v,
              const pl_array *v_old, pl_array *x);

/* True if it reads v_old, which is then part of the saved state. */
bool pl_guess_looks_back(const pl_model *model);

#endif
