/* matrix.h - the constant matrix A of a model's masses and groups (model.h). */
#ifndef PLIANT_ENGINE_MODEL_MATRIX_H
#define PLIANT_ENGINE_MODEL_MATRIX_H

#include "engine/model/model.h"

/* diag(A) [vertices] of the masses and of the groups added so far. It measures how stiffly a vertex is held, and so
 * how large the weight of a hard term on it should be (Narain 2016, section 5: both terms of a z-step of similar
 * curvature). */
void pl_matrix_vertex_stiffness(const pl_model *m, double *stiffness);

/* Computes A over the free rows, its diagonal (memory is allocated), and its coupling to held vertices. */
pl_status pl_matrix_assemble(pl_model *m);

#endif
