#include "engine/model/groups/vertex_terms.h"

void pl_vertex_terms_reduce(const pl_group *g, const double *x, double *Dx, int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        for (int c = 0; c < 3; c++)
            Dx[(b * 3 + c) * PL_BLOCK + l] = x[3 * (int64_t)g->corner[i] + c];
    }
}

void pl_vertex_terms_contribute(const pl_group *g, const double *u, const double *z,
                                double *contributions, int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        for (int c = 0; c < 3; c++) {
            int64_t e = (b * 3 + c) * PL_BLOCK + l;
            contributions[g->contribution + e] = g->weight[i] * (z[e] - u[e]);
        }
    }
}

void pl_vertex_terms_transpose(const pl_group *g, const double *q, double *contributions,
                               int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        for (int c = 0; c < 3; c++) {
            int64_t e = (b * 3 + c) * PL_BLOCK + l;
            contributions[g->contribution + e] = g->weight[i] * q[e];
        }
    }
}

void pl_vertex_terms_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K)
{
    K[0] = g->weight[block * PL_BLOCK + lane];
}

bool pl_vertex_terms_alloc(pl_group *g, const int32_t *vertex, const double *weight, int64_t count)
{
    g->terms = count;
    g->blocks = (count + PL_BLOCK - 1) / PL_BLOCK;
    g->corner = pl_block_alloc(g->blocks * PL_BLOCK, sizeof *g->corner);
    g->weight = pl_block_alloc(g->blocks * PL_BLOCK, sizeof *g->weight);
    for (int64_t i = 0; g->corner && g->weight && i < g->blocks * PL_BLOCK; i++) {
        g->corner[i] = vertex[i < count ? i : i - i % PL_BLOCK];
        g->weight[i] = i < count ? weight[i] : 0;
    }
    return g->corner && g->weight;
}
