/* vertex_terms.h - shared by groups with a single vertex per term: D_i selects its position. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_VERTEX_TERMS_H
#define PLIANT_ENGINE_MODEL_GROUPS_VERTEX_TERMS_H

#include "engine/model/group.h"

/* The slots `reduce`, `admm_contribute`, `transpose` and `stiffness`. */
void pl_vertex_terms_reduce(const pl_group *g, const double *x, double *Dx, int64_t b0, int64_t b1);
void pl_vertex_terms_contribute(const pl_group *g, const double *u, const double *z,
                                double *contributions, int64_t b0, int64_t b1);
void pl_vertex_terms_transpose(const pl_group *g, const double *q, double *contributions,
                               int64_t b0, int64_t b1);
void pl_vertex_terms_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K);

/* corner and weight of `count` terms, padded; false: out of memory. */
bool pl_vertex_terms_alloc(pl_group *g, const int32_t *vertex, const double *weight, int64_t count);

/* v, the argument of the prox in term i's local step, and z^. */
static inline void pl_vertex_term_point(const pl_group *g, const pl_admm_local *local, int64_t i,
                                        double v[3], double z_hat[3])
{
    const double *x = local->x + 3 * (int64_t)g->corner[i];
    const double alpha = local->relaxation, beta = local->beta;
    for (int c = 0; c < 3; c++) {
        const int64_t e = (i / PL_BLOCK * 3 + c) * PL_BLOCK + i % PL_BLOCK;
        const double u_hat = local->u[e] + beta * (local->u[e] - local->u_old[e]);
        z_hat[c] = local->z[e] + beta * (local->z[e] - local->z_old[e]);
        v[c] = u_hat + alpha * x[c] + (1 - alpha) * z_hat[c];
    }
}

/* The rest of its local step, with z the prox of v. */
static inline void pl_vertex_term_end(const pl_group *g, const pl_admm_local *local, int64_t i,
                                      const double v[3], const double z_hat[3], const double z[3])
{
    const double *x = local->x + 3 * (int64_t)g->corner[i], w2 = g->weight[i];
    pl_block_sums *sums = &local->sums[i / PL_BLOCK];
    for (int c = 0; c < 3; c++) {
        const int64_t e = (i / PL_BLOCK * 3 + c) * PL_BLOCK + i % PL_BLOCK;
        const double s = z[c] - z_hat[c], r = x[c] - z[c], u = v[c] - z[c];
        const double momentum = (z[c] - local->z[e]) - (u - local->u[e]);
        sums->primal += w2 * r * r;
        sums->change += w2 * s * s;
        sums->size += w2 * z[c] * z[c];
        local->to_global[g->contribution + e] = w2 * (z[c] - u + local->beta_next * momentum);
        if (local->dual)
            local->dual[g->contribution + e] = w2 * s;
        local->u_old[e] = u;
        local->z_old[e] = z[c];
    }
}

#endif
