/* reweigh.h - the same model with other weights of some groups: it shares everything of the first one
 * but these, the matrix and the factor. Energies do not know of weights, so it has the same minimisers.
 */
#ifndef PLIANT_ENGINE_MODEL_REWEIGH_H
#define PLIANT_ENGINE_MODEL_REWEIGH_H

#include "engine/model/model.h"

/* weight[g] [block][PL_BLOCK] of group g, copied; NULL: as it is. PL_NO_MEMORY, or PL_FAILED where there
 * is no factor. Lives no longer than `model`. */
pl_status pl_model_reweigh(const pl_model *model, const double *const *weight, pl_model **out);
/* Releases what a reweighed one has of its own. NULL is nothing. */
void pl_model_reweighed_destroy(pl_model *reweighed, const pl_model *model);

#endif
