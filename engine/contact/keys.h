/* keys.h - pairs of features as sorted integers; private to engine/contact.
 *
 * A key holds kind, first and second feature, from the highest bit to the lowest, so the order of keys is the order
 * of pairs. Threads collect keys in any order; sorted and without duplicates, they form one list.
 */
#ifndef PLIANT_ENGINE_CONTACT_KEYS_H
#define PLIANT_ENGINE_CONTACT_KEYS_H

#include "engine/contact/kind.h"
#include "engine/contact/surface.h"

#include <stdbool.h>

typedef struct pl_contact_keys {
    uint64_t *key;
    int64_t count, capacity;
    int bits;     /* of a feature */
    bool failed;  /* out of memory */
    int64_t work; /* of the search that collected them; pl_contact_keys_gather drops it */
} pl_contact_keys;

int pl_contact_keys_bits(const pl_contact_surface *surface);
void pl_contact_keys_add(pl_contact_keys *keys, pl_contact_kind kind, int32_t a, int32_t b);
void pl_contact_keys_clear(pl_contact_keys *keys);

/* Merges `parts` lists into `out`, sorted and without duplicates, and clears the parts. PL_OK or PL_NO_MEMORY; on
 * failure `out` is empty. */
pl_status pl_contact_keys_gather(pl_contact_keys *part, int parts, int threads,
                                 pl_contact_keys *out);

static inline pl_contact_kind pl_contact_key_kind(const pl_contact_keys *keys, uint64_t key)
{
    return (pl_contact_kind)(key >> 2 * keys->bits);
}

/* Feature 0 or 1 of a key. */
static inline int32_t pl_contact_key_feature(const pl_contact_keys *keys, uint64_t key, int which)
{
    uint64_t mask = ((uint64_t)1 << keys->bits) - 1;
    return (int32_t)((which ? key : key >> keys->bits) & mask);
}

#endif
