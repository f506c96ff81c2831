/* stepper.h - a model of one step length with the backend and the solver that were made for it. */
#ifndef PLIANT_ENGINE_STEP_STEPPER_H
#define PLIANT_ENGINE_STEP_STEPPER_H

#include "engine/solvers/solver.h"

/* Who does steps of one length: a model of that step, and the work made for it. */
typedef struct pl_stepper {
    const pl_model *model;
    pl_backend *backend;
    pl_solver *solver;
} pl_stepper;

/* beside: whose arrays the stepper works on, or NULL. */
pl_status pl_stepper_create(const pl_model *model, int32_t threads, pl_backend *beside,
                            pl_stepper *out);
void pl_stepper_destroy(pl_stepper *stepper);
/* PL_OK, or PL_NO_MEMORY and it has as many as before; one that was not made has none. */
pl_status pl_stepper_set_threads(const pl_stepper *stepper, int32_t threads);

/* What later steps depend on of the earlier ones: of contacts between bodies, and of the solver (solver.h). */
void pl_stepper_save(const pl_stepper *stepper, pl_bytes_out *out);
/* Takes all of `in`. PL_INVALID where that cannot be of this model: nothing has changed. PL_NO_MEMORY: no
 * contacts are known. */
pl_status pl_stepper_restore(const pl_stepper *stepper, pl_bytes_in *in);

#endif
