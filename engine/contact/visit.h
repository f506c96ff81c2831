/* visit.h - pairs of items of two trees whose boxes overlap; private to engine/contact.
 *
 * One leaf of the query tree walks down the other tree: it compares a node's eight boxes at once and, at a leaf,
 * each of its eight queries with the eight items. The walk keeps a stack of nodes of bounded depth. The result
 * depends only on the items' boxes, not on the trees' shape.
 */
#ifndef PLIANT_ENGINE_CONTACT_VISIT_H
#define PLIANT_ENGINE_CONTACT_VISIT_H

#include "engine/contact/bvh.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef struct pl_bvh_query {
    float lo[3], hi[3];
} pl_bvh_query;

/* Bit k: the query overlaps box k of the node. */
#if defined __AVX__
static inline unsigned pl_bvh_overlaps(const pl_bvh_node *n, const pl_bvh_query *q)
{
    __m256 all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++) {
        __m256 lo = _mm256_load_ps(n->lo[c]), hi = _mm256_load_ps(n->hi[c]);
        all = _mm256_and_ps(all, _mm256_cmp_ps(lo, _mm256_set1_ps(q->hi[c]), _CMP_LE_OQ));
        all = _mm256_and_ps(all, _mm256_cmp_ps(hi, _mm256_set1_ps(q->lo[c]), _CMP_GE_OQ));
    }
    return (unsigned)_mm256_movemask_ps(all);
}
#elif defined __SSE2__
static inline unsigned pl_bvh_overlaps(const pl_bvh_node *n, const pl_bvh_query *q)
{
    __m128 left = _mm_castsi128_ps(_mm_set1_epi32(-1)), right = left;
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++) {
        __m128 lo = _mm_set1_ps(q->lo[c]), hi = _mm_set1_ps(q->hi[c]);
        left = _mm_and_ps(left, _mm_cmple_ps(_mm_load_ps(n->lo[c]), hi));
        left = _mm_and_ps(left, _mm_cmpge_ps(_mm_load_ps(n->hi[c]), lo));
        right = _mm_and_ps(right, _mm_cmple_ps(_mm_load_ps(n->lo[c] + 4), hi));
        right = _mm_and_ps(right, _mm_cmpge_ps(_mm_load_ps(n->hi[c] + 4), lo));
    }
    return (unsigned)_mm_movemask_ps(left) | (unsigned)_mm_movemask_ps(right) << 4;
}
#else
static inline unsigned pl_bvh_overlaps(const pl_bvh_node *n, const pl_bvh_query *q)
{
    unsigned mask = 0;
    for (int k = 0; k < PL_BVH_WIDTH; k++) {
        unsigned all = 1;
        for (int c = 0; c < 3; c++)
            all &= (n->lo[c][k] <= q->hi[c]) & (n->hi[c][k] >= q->lo[c]);
        mask |= all << k;
    }
    return mask;
}
#endif

static inline pl_bvh_query pl_bvh_query_of(const pl_bvh_node *n, int k)
{
    return (pl_bvh_query){{n->lo[0][k], n->lo[1][k], n->lo[2][k]},
                          {n->hi[0][k], n->hi[1][k], n->hi[2][k]}};
}

/* The box around all boxes of a node. */
static inline pl_bvh_query pl_bvh_query_around(const pl_bvh_node *n)
{
    pl_bvh_query q = pl_bvh_query_of(n, 0);
    for (int k = 1; k < PL_BVH_WIDTH; k++)
        for (int c = 0; c < 3; c++) {
            q.lo[c] = n->lo[c][k] < q.lo[c] ? n->lo[c][k] : q.lo[c];
            q.hi[c] = n->hi[c][k] > q.hi[c] ? n->hi[c][k] : q.hi[c];
        }
    return q;
}

/* Called with an item of the query tree and one of the other. */
typedef void pl_bvh_take(void *context, int32_t query, int32_t item);

static inline __attribute__((always_inline)) void
pl_bvh_visit_leaves(const pl_bvh *queries, int32_t leaf, const pl_bvh *items, int32_t other,
                    pl_bvh_take *take, void *context)
{
    const pl_bvh_node *from = &queries->level[0][leaf], *to = &items->level[0][other];
    unsigned near = (1u << PL_BVH_WIDTH) - 1;
    if (items->levels > 1) { /* the queries that overlap the leaf's own box */
        pl_bvh_query box = pl_bvh_query_of(&items->level[1][other / PL_BVH_WIDTH],
                                           other % PL_BVH_WIDTH);
        near = pl_bvh_overlaps(from, &box);
    }
    for (; near; near &= near - 1) {
        int k = __builtin_ctz(near);
        pl_bvh_query q = pl_bvh_query_of(from, k);
        unsigned hits = pl_bvh_overlaps(to, &q);
        if (queries == items && leaf == other)
            hits &= ~0u << (k + 1);
        for (; hits; hits &= hits - 1)
            take(context, queries->order[leaf * PL_BVH_WIDTH + k],
                 items->order[other * PL_BVH_WIDTH + __builtin_ctz(hits)]);
    }
}

/* Visits every pair of an item in leaf `leaf` of `queries` and an item of `items` whose boxes overlap. If both are
 * the same tree, visiting all leaves yields each pair once. */
static inline __attribute__((always_inline)) void pl_bvh_visit(const pl_bvh *queries, int32_t leaf,
                                                               const pl_bvh *items,
                                                               pl_bvh_take *take, void *context)
{
    struct {
        int32_t level, node;
    } stack[PL_BVH_LEVELS * PL_BVH_WIDTH];
    int top = 0;
    pl_bvh_query around = pl_bvh_query_around(&queries->level[0][leaf]);
    if (items->levels == 0)
        return;
    stack[top].level = items->levels - 1;
    stack[top++].node = 0;
    while (top > 0) {
        int32_t level = stack[--top].level, node = stack[top].node;
        if (level == 0) {
            pl_bvh_visit_leaves(queries, leaf, items, node, take, context);
            continue;
        }
        /* In a tree against itself, earlier leaves have already found their pairs with this one. */
        int below = 3 * (level - 1);
        unsigned hits = pl_bvh_overlaps(&items->level[level][node], &around);
        for (; hits; hits &= hits - 1) {
            int32_t child = node * PL_BVH_WIDTH + __builtin_ctz(hits);
            if (queries == items && child < leaf >> below)
                continue;
            stack[top].level = level - 1;
            stack[top++].node = child;
        }
    }
}

#endif
