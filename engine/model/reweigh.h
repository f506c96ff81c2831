/* reweigh.h - a variant of a model with other weights of some groups: it shares everything with the original except
 * these weights, the matrix and the factor. Energies do not depend on weights, so it has the same minimisers.
 */
#ifndef PLIANT_ENGINE_MODEL_REWEIGH_H
#define PLIANT_ENGINE_MODEL_REWEIGH_H

#include "engine/model/model.h"

/* weight[g] [block][PL_BLOCK] of group g, copied; NULL: unchanged. PL_NO_MEMORY, or PL_FAILED if the matrix cannot
 * be factored. *out must not outlive `model`. */
pl_status pl_model_reweigh(const pl_model *model, const double *const *weight, pl_model **out);
/* Releases what a reweighed model does not share. NULL does nothing. */
void pl_model_reweighed_destroy(pl_model *reweighed, const pl_model *model);

#endif
