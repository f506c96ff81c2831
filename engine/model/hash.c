#include "engine/model/hash.h"

#include "engine/scene/scene.h"

#include <string.h>

uint64_t pl_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        if (size - i >= 8)
            memcpy(&word, bytes + i, 8);
        else
            memcpy(&word, bytes + i, size - i);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return (hash ^ size) * UINT64_C(0x9E3779B97F4A7C15);
}

/* Field by field, because padding is undefined. */
_Static_assert(sizeof(pl_motion) == 120, "a new field of motions: does it decide bits?");

uint64_t pl_hash_motion(uint64_t hash, const pl_motion *m)
{
    hash = pl_hash_i64(hash, m->present);
    hash = pl_hash_doubles(hash, m->velocity, 3);
    hash = pl_hash_doubles(hash, m->axis, 3);
    hash = pl_hash_f64(hash, m->degrees_per_second);
    hash = pl_hash_i64(hash, m->interpolation);
    hash = pl_hash_i64(hash, m->keyframe_count);
    for (int32_t k = 0; k < m->keyframe_count; k++) {
        const pl_keyframe *key = &m->keyframes[k];
        hash = pl_hash_f64(hash, key->time);
        hash = pl_hash_doubles(hash, key->translate, 3);
        hash = pl_hash_doubles(hash, key->axis, 3);
        hash = pl_hash_f64(hash, key->degrees);
    }
    hash = pl_hash_i64(hash, m->has_origin);
    return pl_hash_doubles(hash, m->origin, 3);
}
