#include "engine/contact/bvh.h"

#include "engine/contact/radix.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bits of a Morton code along an axis: a grid of 65,536 cells in the longest direction. */
enum { AXIS_BITS = 16, ITEMS_A_THREAD = 4096 };

/* Largest coordinate: far below the overflow of single precision. */
#define LARGEST 1e18

typedef struct pl_bvh_sort {
    pl_radix_items items, scratch;
} pl_bvh_sort;

static int team(int64_t items, int threads)
{
    int64_t most = items / ITEMS_A_THREAD;
    return most < 1 ? 1 : most < threads ? (int)most : threads;
}

/* ---- creation ---- */

void pl_bvh_clear(pl_bvh *b)
{
    if (b->sort) {
        free(b->sort->items.key);
        free(b->sort->items.value);
        free(b->sort->scratch.key);
        free(b->sort->scratch.value);
        free(b->sort);
    }
    for (int l = 0; l < b->levels; l++)
        free(b->level[l]);
    *b = (pl_bvh){0};
}

static bool allocate_levels(pl_bvh *b)
{
    int32_t below = b->items;
    do {
        int l = b->levels;
        b->nodes[l] = below / PL_BVH_WIDTH + (below % PL_BVH_WIDTH != 0);
        b->level[l] = aligned_alloc(64, (size_t)b->nodes[l] * sizeof(pl_bvh_node));
        if (!b->level[l])
            return false;
        b->levels++;
        below = b->nodes[l];
    } while (below > 1);
    return true;
}

static bool allocate_sort(pl_bvh *b)
{
    pl_bvh_sort *s = b->sort = calloc(1, sizeof *b->sort);
    if (!s)
        return false;
    s->items.key = malloc((size_t)b->items * sizeof *s->items.key);
    s->scratch.key = malloc((size_t)b->items * sizeof *s->scratch.key);
    s->items.value = malloc((size_t)b->items * sizeof *s->items.value);
    s->scratch.value = malloc((size_t)b->items * sizeof *s->scratch.value);
    return s->items.key && s->scratch.key && s->items.value && s->scratch.value;
}

pl_status pl_bvh_create(int32_t items, int corners, const int32_t *corner, pl_bvh *out)
{
    *out = (pl_bvh){.items = items, .corners = corners, .corner = corner};
    if (items == 0)
        return PL_OK;
    if (!allocate_levels(out) || !allocate_sort(out)) {
        pl_bvh_clear(out);
        return PL_NO_MEMORY;
    }
    return PL_OK;
}

/* ---- boxes ---- */

typedef struct box {
    double lo[3], hi[3];
} box;

static const box nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static inline void include(box *b, const double x[3])
{
    for (int c = 0; c < 3; c++) {
        b->lo[c] = x[c] < b->lo[c] ? x[c] : b->lo[c];
        b->hi[c] = x[c] > b->hi[c] ? x[c] : b->hi[c];
    }
}

static inline box box_of(const pl_bvh *b, const pl_contact_move *m, int32_t item)
{
    box out = nothing;
    for (int k = 0; k < b->corners; k++) {
        int64_t v = 3 * (int64_t)b->corner[b->corners * (int64_t)item + k];
        include(&out, m->x0 + v);
        if (m->x1 != m->x0)
            include(&out, m->x1 + v);
    }
    return out;
}

/* The largest float at most x. |f| 2^-23 is at least the spacing of floats at f, and the least normal number covers
 * underflow. */
static inline float below(double x)
{
    float f = (float)x;
    return f - fabsf(f) * 0x1p-23f - FLT_MIN;
}

static inline float above(double x)
{
    float f = (float)x;
    return f + fabsf(f) * 0x1p-23f + FLT_MIN;
}

static inline void put(pl_bvh_node *n, int k, const box *b, const pl_contact_move *m)
{
    for (int c = 0; c < 3; c++) {
        n->lo[c][k] = below(b->lo[c] - m->centre[c] - 0.5 * m->reach);
        n->hi[c][k] = above(b->hi[c] - m->centre[c] + 0.5 * m->reach);
    }
}

static void put_nothing(pl_bvh_node *n, int k)
{
    for (int c = 0; c < 3; c++) {
        n->lo[c][k] = FLT_MAX;
        n->hi[c][k] = -FLT_MAX;
    }
}

static void fit_leaf(pl_bvh *b, const pl_contact_move *m, int32_t leaf)
{
    pl_bvh_node *n = &b->level[0][leaf];
    for (int k = 0; k < PL_BVH_WIDTH; k++) {
        int64_t at = (int64_t)leaf * PL_BVH_WIDTH + k;
        if (at >= b->items) {
            put_nothing(n, k);
            continue;
        }
        box one = box_of(b, m, b->order[at]);
        put(n, k, &one, m);
    }
}

static void fit_node(pl_bvh *b, int level, int32_t node)
{
    pl_bvh_node *n = &b->level[level][node];
    for (int k = 0; k < PL_BVH_WIDTH; k++) {
        int64_t at = (int64_t)node * PL_BVH_WIDTH + k;
        put_nothing(n, k);
        if (at >= b->nodes[level - 1])
            continue;
        const pl_bvh_node *child = &b->level[level - 1][at];
        for (int c = 0; c < 3; c++)
            for (int j = 0; j < PL_BVH_WIDTH; j++) {
                n->lo[c][k] = child->lo[c][j] < n->lo[c][k] ? child->lo[c][j] : n->lo[c][k];
                n->hi[c][k] = child->hi[c][j] > n->hi[c][k] ? child->hi[c][j] : n->hi[c][k];
            }
    }
}

/* The extents of all leaves, which grow as neighbours in the order move apart. Runs on one thread, so that the
 * order of the sum is fixed; it reads an eighth of the tree. */
static double girth_of(const pl_bvh *b, double reach)
{
    double sum = 0;
    int parent = b->levels > 1;
    for (int32_t i = 0; parent && i < b->nodes[1]; i++)
        for (int k = 0; k < PL_BVH_WIDTH; k++)
            for (int c = 0; c < 3; c++) {
                const pl_bvh_node *n = &b->level[1][i];
                if (n->lo[c][k] <= n->hi[c][k])
                    sum += (double)n->hi[c][k] - n->lo[c][k] - reach;
            }
    return sum;
}

void pl_bvh_refit(pl_bvh *b, const pl_contact_move *m, int threads)
{
    if (b->items == 0)
        return;
#pragma omp parallel for num_threads(team(b->items, threads)) schedule(static)
    for (int32_t i = 0; i < b->nodes[0]; i++)
        fit_leaf(b, m, i);
    for (int l = 1; l < b->levels; l++) {
#pragma omp parallel for num_threads(team(b->nodes[l - 1], threads)) schedule(static)
        for (int32_t i = 0; i < b->nodes[l]; i++)
            fit_node(b, l, i);
    }
    b->girth = girth_of(b, m->reach);
}

/* ---- order ---- */

/* Inserts two zeros between the bits of a 16-bit number. */
static inline uint64_t spread(uint64_t x)
{
    x = (x | x << 16) & 0x0000ff0000ff;
    x = (x | x << 8) & 0x00f00f00f00f;
    x = (x | x << 4) & 0x0c30c30c30c3;
    return (x | x << 2) & 0x249249249249;
}

static uint64_t morton_code(const box *b, const pl_contact_move *m)
{
    double cells = m->extent > 0 ? (1 << (AXIS_BITS - 1)) / m->extent : 0;
    uint64_t code = 0;
    for (int c = 0; c < 3; c++) {
        double at = (0.5 * (b->lo[c] + b->hi[c]) - m->centre[c]) * cells + (1 << (AXIS_BITS - 1));
        double last = (1 << AXIS_BITS) - 1;
        code |= spread((uint64_t)(at > last ? last : at > 0 ? at : 0)) << c;
    }
    return code;
}

pl_status pl_bvh_build(pl_bvh *b, const pl_contact_move *m, int threads)
{
    if (b->items == 0)
        return PL_OK;
    pl_bvh_sort *s = b->sort;
#pragma omp parallel for num_threads(team(b->items, threads)) schedule(static)
    for (int32_t i = 0; i < b->items; i++) {
        box one = box_of(b, m, i);
        s->items.key[i] = morton_code(&one, m);
        s->items.value[i] = i;
    }
    b->order = NULL;
    if (!pl_radix_sort(b->items, 3 * AXIS_BITS, &s->items, &s->scratch, threads))
        return PL_NO_MEMORY;
    b->order = s->items.value;
    pl_bvh_refit(b, m, threads);
    b->girth_built = b->girth;
    return PL_OK;
}

/* ---- the scene's position ---- */

/* A NaN fails the comparison. */
static bool is_moderate(const double x[3])
{
    return fabs(x[0]) <= LARGEST && fabs(x[1]) <= LARGEST && fabs(x[2]) <= LARGEST;
}

pl_status pl_contact_move_bound(pl_contact_move *m, const int32_t *vertex, int32_t count,
                                int threads)
{
    double l0 = INFINITY, l1 = INFINITY, l2 = INFINITY;
    double h0 = -INFINITY, h1 = -INFINITY, h2 = -INFINITY;
    bool moderate = m->reach >= 0 && m->reach <= LARGEST;
#pragma omp parallel for num_threads(team(count, threads)) schedule(static)                        \
    reduction(min : l0, l1, l2) reduction(max : h0, h1, h2) reduction(&& : moderate)
    for (int32_t i = 0; i < count; i++) {
        box b = {{l0, l1, l2}, {h0, h1, h2}};
        const double *x0 = m->x0 + 3 * (int64_t)vertex[i], *x1 = m->x1 + 3 * (int64_t)vertex[i];
        moderate = moderate && is_moderate(x0) && is_moderate(x1);
        include(&b, x0);
        include(&b, x1);
        l0 = b.lo[0], l1 = b.lo[1], l2 = b.lo[2];
        h0 = b.hi[0], h1 = b.hi[1], h2 = b.hi[2];
    }
    if (!moderate)
        return PL_FAILED;
    const double lo[3] = {l0, l1, l2}, hi[3] = {h0, h1, h2};
    m->extent = 0;
    for (int c = 0; c < 3; c++) {
        m->centre[c] = count ? 0.5 * (lo[c] + hi[c]) : 0;
        m->extent = count ? fmax(m->extent, 0.5 * (hi[c] - lo[c])) : 0;
    }
    return PL_OK;
}
