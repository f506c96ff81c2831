#include "engine/model/groups/tets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Large arrays on large pages, if the system provides them on request. */
enum { LARGE_PAGE = 2 << 20 };

void *pl_block_alloc(int64_t count, size_t size)
{
    size_t bytes = (size_t)count * size;
    size_t align = bytes >= 2 * (size_t)LARGE_PAGE ? LARGE_PAGE : 64;
    bytes = bytes ? (bytes + align - 1) & ~(align - 1) : align;
    void *p = aligned_alloc(align, bytes);
    if (!p)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (align == LARGE_PAGE)
        madvise(p, bytes, MADV_HUGEPAGE);
#endif
    memset(p, 0, bytes);
    return p;
}

void pl_tets_destroy(pl_group *g)
{
    pl_tets *t = g->data;
    if (t) {
        free(t->shape);
        free(t->volume);
        free(t->constants);
        free(t->shared);
        free(t->blend);
        free(t->least);
        free(t->around_start);
        free(t->around);
        free(t->element);
        free(t);
    }
    free(g->corner);
    free(g->weight);
    *g = (pl_group){0};
}

/* B^-1 column-major and V = det B / 6 of one tetrahedron (Narain 2016, eq. 32). */
static double rest_shape(const double *rest, const int32_t *tet, double inverse[9])
{
    double B[3][3]; /* B[r][c]: coordinate r of edge c */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            B[r][c] = rest[3 * (int64_t)tet[c + 1] + r] - rest[3 * (int64_t)tet[0] + r];
    double cof[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            cof[r][c] = B[r1][c1] * B[r2][c2] - B[r1][c2] * B[r2][c1];
        }
    double det = B[0][0] * cof[0][0] + B[0][1] * cof[0][1] + B[0][2] * cof[0][2];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            inverse[c + 3 * r] = cof[r][c] / det; /* inverse is the transposed cofactors over det */
    return det / 6;
}

static bool allocate(const pl_tets_parts *p, pl_group *g, pl_tets *t)
{
    const int64_t blocks = g->blocks;
    g->corner = pl_block_alloc(blocks * 4 * PL_BLOCK, sizeof *g->corner);
    g->weight = pl_block_alloc(blocks * PL_BLOCK, sizeof *g->weight);
    t->shape = pl_block_alloc(blocks * 9 * PL_BLOCK, sizeof *t->shape);
    t->volume = pl_block_alloc(blocks * PL_BLOCK, sizeof *t->volume);
    t->constants = pl_block_alloc(blocks * p->stretch->constants * PL_BLOCK, sizeof *t->constants);
    t->element = pl_block_alloc(blocks * PL_BLOCK, sizeof *t->element);
    if (p->shared)
        t->shared = pl_block_alloc(p->shared_count, sizeof *t->shared);
    if (p->invertible)
        t->blend = pl_block_alloc(blocks * 2 * PL_BLOCK, sizeof *t->blend);
    if (p->spreads)
        t->least = pl_block_alloc(blocks * PL_BLOCK, sizeof *t->least);
    return g->corner && g->weight && t->shape && t->volume && t->constants && t->element &&
           (!p->shared || t->shared) && (!p->invertible || t->blend) && (!p->spreads || t->least);
}

static int32_t corner_at(const pl_group *g, int64_t i, int c)
{
    return g->corner[(i / PL_BLOCK * 4 + c) * PL_BLOCK + i % PL_BLOCK];
}

/* The i-th place of the group; places after the last hold copies of their block's first, with no volume. */
static void fill(const pl_tets_parts *p, pl_group *g, int64_t i)
{
    pl_tets *t = g->data;
    const int64_t b = i / PL_BLOCK, lane = i % PL_BLOCK;
    const bool padding = i >= p->count;
    const int64_t k = padding ? b * PL_BLOCK : i;
    const int32_t *tet = p->tets + 4 * (int64_t)p->element[k], rows = p->stretch->constants;
    double inverse[9], volume = rest_shape(p->rest, tet, inverse);
    if (p->scale)
        volume *= p->scale[p->element[k]];
    for (int c = 0; c < 4; c++)
        g->corner[(b * 4 + c) * PL_BLOCK + lane] = tet[c];
    for (int e = 0; e < 9; e++)
        t->shape[(b * 9 + e) * PL_BLOCK + lane] = inverse[e];
    for (int r = 0; r < rows; r++)
        t->constants[(b * rows + r) * PL_BLOCK + lane] = p->constants[k * rows + r];
    if (t->blend)
        t->blend[(b * 2 + 1) * PL_BLOCK + lane] = p->shear[k];
    t->element[i] = p->element[k];
    t->volume[i] = padding ? 0 : volume;
    g->weight[i] = padding ? 0 : p->stiffness[k] * volume;
}

/* The places of each vertex's tetrahedra, by a counting sort. */
static bool list_around(const pl_group *g, pl_tets *t)
{
    int32_t top = 0;
    for (int64_t k = 0; k < g->blocks * 4 * PL_BLOCK; k++)
        top = g->corner[k] > top ? g->corner[k] : top;
    t->around_vertices = (size_t)top + 3;
    int32_t *start = t->around_start = pl_block_alloc((int64_t)top + 3, sizeof *start);
    t->around = pl_block_alloc(4 * g->terms, sizeof *t->around);
    if (!start || !t->around)
        return false;
    for (int64_t i = 0; i < g->terms; i++)
        for (int c = 0; c < 4; c++)
            start[corner_at(g, i, c) + 2]++;
    for (int64_t v = 0; v <= top; v++)
        start[v + 2] += start[v + 1];
    for (int64_t i = 0; i < g->terms; i++)
        for (int c = 0; c < 4; c++)
            t->around[start[corner_at(g, i, c) + 1]++] = (int32_t)i;
    return true;
}

bool pl_tets_spreads(const pl_group *g)
{
    const pl_tets *t = g->data;
    bool any = false;
    for (int64_t i = 0; t->around && i < g->blocks * PL_BLOCK; i++)
        any |= t->least[i] < PL_INVERTIBLE_LOW;
    return any;
}

pl_status pl_tets_create(const pl_tets_parts *p, pl_group *out)
{
    int64_t blocks = (p->count + PL_BLOCK - 1) / PL_BLOCK;
    pl_group g = {.ops = p->ops, .terms = p->count, .blocks = blocks};
    pl_tets *t = calloc(1, sizeof *t);
    g.data = t;
    if (!t || !allocate(p, &g, t)) {
        pl_tets_destroy(&g);
        return PL_NO_MEMORY;
    }
    t->stretch = p->stretch;
    if (p->shared)
        memcpy(t->shared, p->shared, (size_t)p->shared_count * sizeof *t->shared);
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++)
        fill(p, &g, i);
    if (p->spreads && !list_around(&g, t)) {
        pl_tets_destroy(&g);
        return PL_NO_MEMORY;
    }
    *out = g;
    return PL_OK;
}

/* K_cd = w^2 g_c . g_d with g_c the gradient of corner c's shape function: rows of B^-1 for corners 1 to 3, minus
 * their sum for corner 0. */
void pl_tets_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K)
{
    const pl_tets *t = g->data;
    double grad[4][3] = {{0}};
    for (int c = 1; c < 4; c++)
        for (int j = 0; j < 3; j++) {
            grad[c][j] = t->shape[(block * 9 + (c - 1) + 3 * j) * PL_BLOCK + lane];
            grad[0][j] -= grad[c][j];
        }
    double w2 = g->weight[block * PL_BLOCK + lane];
    for (int c = 0; c < 4; c++)
        for (int d = 0; d < 4; d++)
            K[4 * c + d] =
                w2 * (grad[c][0] * grad[d][0] + grad[c][1] * grad[d][1] + grad[c][2] * grad[d][2]);
}

/* ---- copies around vertices ---- */

void pl_tets_local_release(pl_group *copy)
{
    pl_tets *t = copy->data;
    if (t)
        t->shared = NULL; /* the original's */
    pl_tets_destroy(copy);
}

pl_status pl_tets_local_copy(const pl_group *g, const pl_places *places, pl_group *out)
{
    const pl_tets *from = g->data;
    const int32_t constants = from->stretch->constants;
    pl_group copy = {.ops = g->ops, .blocks = places->blocks};
    pl_tets *t = copy.data = calloc(1, sizeof *t);
    if (!t)
        return PL_NO_MEMORY;
    copy.corner = pl_local_copy_corners(g->corner, 4, places);
    t->shape = pl_local_copy_rows(from->shape, 9, places);
    t->volume = pl_local_copy_rows(from->volume, 1, places);
    t->constants = pl_local_copy_rows(from->constants, constants, places);
    t->blend = from->blend ? pl_local_copy_rows(from->blend, 2, places) : NULL;
    t->shared = from->shared;
    t->stretch = from->stretch;
    if (!copy.corner || !t->shape || !t->volume || !t->constants || (from->blend && !t->blend)) {
        pl_tets_local_release(&copy);
        return PL_NO_MEMORY;
    }
    pl_local_clear_padding(places, 1, t->volume);
    *out = copy;
    return PL_OK;
}

void pl_tets_local_refreeze(const pl_group *g, const pl_places *places, pl_group *copy, int64_t b0,
                            int64_t b1)
{
    const pl_tets *from = g->data;
    pl_tets *t = copy->data;
    if (from->blend)
        pl_local_fill_rows(from->blend, 2, places, t->blend, b0, b1);
}
