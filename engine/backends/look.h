/* look.h - searches for a vertex on the host, for backends whose arrays are readable there or were copied there. */
#ifndef PLIANT_ENGINE_BACKENDS_LOOK_H
#define PLIANT_ENGINE_BACKENDS_LOOK_H

#include "engine/model/model.h"

/* The largest |a - c| of a coordinate, and its vertex; a, c [vertices][3]. */
double pl_look_farthest(int64_t vertices, const double *a, const double *c, int64_t *vertex);

/* The first vertex with a coordinate that is not finite, or -1; x [vertices][3]. */
int64_t pl_look_not_finite(int64_t vertices, const double *x);

/* The vertex of the largest gradient, over coordinates that pins leave free; -1 if none. gradient
 * [vertices][3]. */
int64_t pl_look_steepest(const pl_model *model, const double *gradient);

#endif
