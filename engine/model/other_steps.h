/* other_steps.h - the same model at half the step, for a step that failed, or stepped by backward Euler, for one that
 * another integrator gains energy in: it shares everything of the whole one but h, a, the matrix, whose diagonal
 * has another inertia, and the factor. Weights stay those of the whole model, so that multipliers mean the same
 * force in both. */
#ifndef PLIANT_ENGINE_MODEL_OTHER_STEPS_H
#define PLIANT_ENGINE_MODEL_OTHER_STEPS_H

#include "engine/model/model.h"

/* PL_NO_MEMORY, or PL_FAILED where there is no factor. Lives no longer than `whole`. */
pl_status pl_model_halve(const pl_model *whole, pl_model **out);
pl_status pl_model_plain(const pl_model *whole, pl_model **out);
/* Releases what such a model has of its own. NULL is nothing. */
void pl_model_other_destroy(pl_model *other);

#endif
