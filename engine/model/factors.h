/* factors.h - the factors of A_x, A_y and A_z (model.h). */
#ifndef PLIANT_ENGINE_MODEL_FACTORS_H
#define PLIANT_ENGINE_MODEL_FACTORS_H

#include "engine/model/model.h"

/* Factors model->A for each coordinate: as many factors as there are different sets of held vertices. PL_NO_MEMORY,
 * or PL_FAILED if a matrix is not positive definite; model->factor then holds the factors already made. */
pl_status pl_factors_create(pl_model *model);
void pl_factors_destroy(pl_model *model);

/* Number of different factors: 1 to 3. */
int32_t pl_factors_count(const pl_model *model);

#endif
