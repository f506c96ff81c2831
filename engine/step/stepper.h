/* stepper.h - a model of one step length, with the backend and the solver created for it. */
#ifndef PLIANT_ENGINE_STEP_STEPPER_H
#define PLIANT_ENGINE_STEP_STEPPER_H

#include "engine/solvers/solver.h"

/* Runs steps of one length: a model of that step length, and its work arrays. */
typedef struct pl_stepper {
    const pl_model *model;
    pl_backend *backend;
    pl_solver *solver;
} pl_stepper;

/* beside: stepper whose arrays this one works on, or NULL. */
pl_status pl_stepper_create(const pl_model *model, int32_t threads, pl_backend *beside,
                            pl_stepper *out);
void pl_stepper_destroy(pl_stepper *stepper);
/* PL_OK, or PL_NO_MEMORY with the number unchanged; a stepper that was not created has none. */
pl_status pl_stepper_set_threads(const pl_stepper *stepper, int32_t threads);

/* Saves what later steps depend on: contacts between bodies, and the solver's memory (solver.h). */
void pl_stepper_save(const pl_stepper *stepper, pl_bytes_out *out);
/* Consumes all of `in`. PL_INVALID if it does not belong to this model: nothing has changed. PL_NO_MEMORY: no
 * contacts are known. */
pl_status pl_stepper_restore(const pl_stepper *stepper, pl_bytes_in *in);

#endif
