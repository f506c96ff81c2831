/* touching.h - the group by which ADMM and projective dynamics keep bodies apart (contact/joint_prox.h). D_i
 * selects a vertex of the collision surface, and U is the characteristic function, jointly over all terms, of the
 * positions at which no row's features are too close. Code that runs the local steps must therefore first
 * compute the prox of the whole group and store z - v here. The matrix is the same whatever touches.
 *
 * The weights are 0 until bodies are near each other (solvers/weights.h): until then the group does nothing, and
 * costs no iteration. A term's force is w^2 u = -C^T p. u is not kept from step to step: the rows' multipliers are. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_TOUCHING_H
#define PLIANT_ENGINE_MODEL_GROUPS_TOUCHING_H

#include "engine/model/group.h"
#include "engine/scene/fault.h"

/* `data` of such a group. */
typedef struct pl_touching {
    double *weight; /* [block][L]: w_i^2 once bodies are near each other, N/m */
    double *way;    /* [block][3][L], m: z - v of the current local step */
    int32_t *term;  /* [vertices of the model]: term, or -1 */
} pl_touching;

/* Creates a group of `count` of a model's vertices, with weights of 0. weight[k]: w^2 of vertex[k], N/m. */
pl_status pl_touching_create(const int32_t *vertex, const double *weight, int64_t count,
                             int64_t vertices, pl_group *out);

/* The index of such a group in a list, or -1. */
int32_t pl_touching_find(const pl_group *groups, int32_t count);

/* True if its weights are not 0. */
static inline bool pl_touching_is_on(const pl_group *g)
{
    return g->weight[0] > 0;
}

#endif
