/* half.h - the same model at half the step, for a step that failed: it shares everything of the
 * whole one but h, the matrix, whose diagonal has more inertia, and the factor. Weights stay those
 * of the whole model, so that multipliers mean the same force in both. */
#ifndef PLIANT_ENGINE_MODEL_HALF_H
#define PLIANT_ENGINE_MODEL_HALF_H

#include "engine/model/model.h"

/* PL_NO_MEMORY, or PL_FAILED where there is no factor. Lives no longer than `whole`. */
pl_status pl_model_halve(const pl_model *whole, pl_model **out);
/* Releases what a half model has of its own. NULL is nothing. */
void pl_model_half_destroy(pl_model *half);

#endif
