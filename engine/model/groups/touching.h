/* touching.h - the group by which ADMM and projective dynamics keep bodies apart (contact/joint_prox.h): D_i picks a vertex of the
 * collision surface, and U is the characteristic function of where no row's features are too close, of all
 * terms jointly. So whoever goes through the local steps first finds the prox of the whole group, and leaves
 * z - v here. The matrix is the same whatever touches.
 *
 * The weights are 0 until something is near something else (solvers/weights.h): until then the group does
 * nothing, and costs no iteration. A term's force is w^2 u = -C^T p. u is not kept from step to step: the rows' multipliers
 * are. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_TOUCHING_H
#define PLIANT_ENGINE_MODEL_GROUPS_TOUCHING_H

#include "engine/model/group.h"
#include "engine/scene/fault.h"

/* `data` of such a group. */
typedef struct pl_touching {
    double *weight; /* [block][L]: w_i^2 once something is near, N/m */
    double *way;    /* [block][3][L], m: z - v of the local step under way */
    int32_t *term;  /* [vertices of the model]: -1 where none */
} pl_touching;

/* A group of `count` of a model's vertices, with weights of 0. weight[k]: w^2 of vertex[k], N/m. */
pl_status pl_touching_create(const int32_t *vertex, const double *weight, int64_t count,
                             int64_t vertices, pl_group *out);

/* The group of a list of them that is one, or -1. */
int32_t pl_touching_find(const pl_group *groups, int32_t count);

/* Whether its weights are not 0. */
static inline bool pl_touching_is_on(const pl_group *g)
{
    return g->weight[0] > 0;
}

#endif
