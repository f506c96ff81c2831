/* order.h - sorting of records of small integers, to find equal faces and equal elements. */
#ifndef PLIANT_ENGINE_MESH_ORDER_H
#define PLIANT_ENGINE_MESH_ORDER_H

#include "engine/scene/fault.h"

#include <stdint.h>

/* The lexicographic order of n records keys[n][width], every key in [0, limit): *order is malloc'ed int64_t[n];
 * equal records keep their order. Counting sort, last key first: time O(width (n + limit)) for any keys, so no mesh
 * can make it slow. */
pl_status pl_order_records(const int32_t *keys, int64_t n, int width, int32_t limit,
                           int64_t **order);

/* True if two records are equal. */
static inline int pl_order_equal(const int32_t *keys, int width, int64_t a, int64_t b)
{
    int same = 1;
    for (int k = 0; k < width; k++)
        same &= keys[a * width + k] == keys[b * width + k];
    return same;
}

/* Sorts `width` (2 to 4) keys in ascending order in place, by insertion. */
static inline void pl_order_corners(int32_t *keys, int width)
{
    for (int i = 1; i < width; i++)
        for (int j = i; j > 0 && keys[j - 1] > keys[j]; j--) {
            int32_t swap = keys[j];
            keys[j] = keys[j - 1];
            keys[j - 1] = swap;
        }
}

#endif
