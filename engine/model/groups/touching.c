#include "engine/model/groups/touching.h"

#include "engine/model/groups/vertex_terms.h"
#include "engine/model/hash.h"

#include <stdlib.h>

static void touching_admm_local(const pl_group *g, const pl_stage *stage,
                                const pl_admm_local *local, int64_t b0, int64_t b1)
{
    const pl_touching *k = g->data;
    (void)stage;
    for (int64_t b = b0; b < b1; b++)
        local->sums[b] = (pl_block_sums){0, 0, 0};
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        double v[3], z_hat[3], z[3];
        pl_vertex_term_point(g, local, i, v, z_hat);
        for (int c = 0; c < 3; c++)
            z[c] = v[c] + k->way[(i / PL_BLOCK * 3 + c) * PL_BLOCK + i % PL_BLOCK];
        pl_vertex_term_end(g, local, i, v, z_hat, z);
    }
}

static uint64_t touching_hash(const pl_group *g, uint64_t hash)
{
    const pl_touching *k = g->data;
    return pl_hash(hash, k->weight, (size_t)(g->blocks * PL_BLOCK) * sizeof *k->weight);
}

static void touching_destroy(pl_group *g)
{
    pl_touching *k = g->data;
    if (k) {
        free(k->weight);
        free(k->way);
        free(k->term);
    }
    free(k);
    free(g->corner);
    free(g->weight);
    *g = (pl_group){0};
}

static const pl_group_ops TOUCHING = {
    .name = "touching",
    .corners = 1,
    .rows = 3,
    .hard = true,
    .reduce = pl_vertex_terms_reduce,
    .admm_local = touching_admm_local,
    .admm_contribute = pl_vertex_terms_contribute,
    .transpose = pl_vertex_terms_transpose,
    .stiffness = pl_vertex_terms_stiffness,
    .hash = touching_hash,
    .destroy = touching_destroy,
};

int32_t pl_touching_find(const pl_group *groups, int32_t count)
{
    for (int32_t g = 0; g < count; g++)
        if (groups[g].ops == &TOUCHING)
            return g;
    return -1;
}

pl_status pl_touching_create(const int32_t *vertex, const double *weight, int64_t count,
                             int64_t vertices, pl_group *out)
{
    pl_group g = {.ops = &TOUCHING};
    pl_touching *k = calloc(1, sizeof *k);
    g.data = k;
    bool good = pl_vertex_terms_alloc(&g, vertex, weight, count) && k;
    if (good) {
        k->weight = g.weight;
        g.weight = pl_block_alloc(g.blocks * PL_BLOCK, sizeof *g.weight);
        k->way = pl_block_alloc(g.blocks * PL_BLOCK * 3, sizeof *k->way);
        k->term = malloc(((size_t)vertices + 1) * sizeof *k->term);
    }
    if (!good || !g.weight || !k->way || !k->term) {
        touching_destroy(&g);
        return PL_NO_MEMORY;
    }
    for (int64_t i = 0; i < vertices; i++)
        k->term[i] = -1;
    for (int64_t i = 0; i < count; i++)
        k->term[vertex[i]] = (int32_t)i;
    *out = g;
    return PL_OK;
}
