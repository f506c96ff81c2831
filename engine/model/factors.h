/* factors.h - the factors of A_x, A_y and A_z (model.h). */
#ifndef PLIANT_ENGINE_MODEL_FACTORS_H
#define PLIANT_ENGINE_MODEL_FACTORS_H

#include "engine/model/model.h"

/* Factor model->A for each coordinate: as many factors as there are different sets of held
 * vertices. PL_NO_MEMORY, or PL_FAILED where one is not positive definite; model->factor then holds
 * what was made. */
pl_status pl_factors_create(pl_model *model);
void pl_factors_destroy(pl_model *model);

/* How many differ: 1 to 3. */
int32_t pl_factors_count(const pl_model *model);

#endif
