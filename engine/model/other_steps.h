/* other_steps.h - variants of a model for single steps: at half the step, to retry a step that failed; by backward
 * Euler, to repeat a step that gained energy. A variant shares everything with the whole model except h, a, the
 * matrix (its diagonal has another inertia) and the factor. The weights are the whole model's, so multipliers
 * mean the same force in both. */
#ifndef PLIANT_ENGINE_MODEL_OTHER_STEPS_H
#define PLIANT_ENGINE_MODEL_OTHER_STEPS_H

#include "engine/model/model.h"

/* PL_OK, PL_NO_MEMORY, or PL_FAILED if the matrix has no factor. *out must not outlive `whole`. */
pl_status pl_model_halve(const pl_model *whole, pl_model **out);
pl_status pl_model_by_euler(const pl_model *whole, pl_model **out);
/* Releases what the variant does not share. NULL is allowed. */
void pl_model_other_destroy(pl_model *other);

#endif
