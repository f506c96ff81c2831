/* guess.h - where the iterations of a stage begin. Private to the engine's own files. */
#ifndef PLIANT_ENGINE_STEP_GUESS_H
#define PLIANT_ENGINE_STEP_GUESS_H

#include "engine/step/state.h"

/* Fill x [vertices][3] with the model's initial guess, pinned vertices where they are at the stage's
 * end. v and v_old [vertices][3]: velocities at the step's start and one step before. Where the
 * objective is infinite at the guess it is stage->x_start. Contact has no say: a guess inside an
 * obstacle is what the constraint is there for. */
void pl_guess(const pl_stepper *by, const pl_backend_stage *stage, const pl_array *v,
              const pl_array *v_old, pl_array *x);

/* Whether it reads v_old: then that is of the state that is saved. */
bool pl_guess_looks_back(const pl_model *model);

#endif
