/* factors.h - what solves with A_x, A_y and A_z (model.h): factors, or multigrids if model->solver.matrix says so. */
#ifndef PLIANT_ENGINE_MODEL_FACTORS_H
#define PLIANT_ENGINE_MODEL_FACTORS_H

#include "engine/model/model.h"

#include <math.h>

/* Makes one for each different set of held vertices. Multigrids take their aggregates from those of `like`, which
 * differs in weights or inertia; or from none if it is NULL. PL_NO_MEMORY, or PL_FAILED if a matrix is not positive
 * definite, or not suited to multigrid; the model then holds those already made. */
pl_status pl_factors_create(pl_model *model, const pl_model *like);
void pl_factors_destroy(pl_model *model);

/* True if coordinates c and d share one. */
bool pl_factors_shared(const pl_model *model, int c, int d);

/* Number of different ones: 1 to 3. */
int32_t pl_factors_count(const pl_model *model);

/* The numbers that a solve reads, each twice: of a factor; of a multigrid, its matrices in all cycles. 0 for a
 * device. */
double pl_factors_numbers(const pl_model *model);

/* The numbers of a factor of n rows after fill-in: fitted to boxes of Kuhn tetrahedra, which fill in more than meshes
 * of the same size do (tests/bench/measurements.md). */
static inline double pl_factor_expected(double n)
{
    return 7.6 * pow(n, 4.0 / 3.0);
}

/* The numbers of the model's first factor; beside a multigrid, as expected; 0 for a device. */
double pl_factors_filled(const pl_model *model);

#endif
