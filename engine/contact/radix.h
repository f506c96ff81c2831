/* radix.h - a stable parallel sort of integer keys; private to engine/contact.
 *
 * Sorts digits from the lowest to the highest. Each thread counts and moves its own blocks, in the order of the
 * blocks, so the result is the stable order. That order is unique and does not depend on the threads.
 */
#ifndef PLIANT_ENGINE_CONTACT_RADIX_H
#define PLIANT_ENGINE_CONTACT_RADIX_H

#include <stdbool.h>
#include <stdint.h>

/* Keys [n] and, unless NULL, the values [n] that go with them. */
typedef struct pl_radix_items {
    uint64_t *key;
    int32_t *value;
} pl_radix_items;

/* Sorts `items` by the lowest `bits` bits of the keys; the bits above must be 0. `scratch` has the same arrays; its
 * content is undefined afterwards. False: out of memory, and items are undefined. */
bool pl_radix_sort(int64_t n, int bits, pl_radix_items *items, pl_radix_items *scratch,
                   int threads);

/* Number of bits that hold the numbers 0 .. count - 1. */
static inline int pl_radix_bits(int64_t count)
{
    return count <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)count - 1);
}

#endif
