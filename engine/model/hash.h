/* hash.h - a 64-bit hash of numbers, to distinguish models and saved states and to detect damage. Not for hostile
 * input: anyone who can write a file can also write its hash. */
#ifndef PLIANT_ENGINE_MODEL_HASH_H
#define PLIANT_ENGINE_MODEL_HASH_H

#include <stddef.h>
#include <stdint.h>

struct pl_motion; /* engine/scene/scene.h */

/* FNV-1a over 8-byte words, with a shift so that high bits reach low ones: several GB/s, where a version that reads
 * single bytes reaches one. The last word is padded with zeros, and the size is hashed last. Start from
 * PL_HASH_START; to hash in pieces, pass on the returned value. */
#define PL_HASH_START UINT64_C(0xCBF29CE484222325)
uint64_t pl_hash(uint64_t hash, const void *data, size_t size);

static inline uint64_t pl_hash_i64(uint64_t hash, int64_t value)
{
    return pl_hash(hash, &value, sizeof value);
}

static inline uint64_t pl_hash_f64(uint64_t hash, double value)
{
    return pl_hash(hash, &value, sizeof value);
}

static inline uint64_t pl_hash_doubles(uint64_t hash, const double *values, int64_t count)
{
    return pl_hash(hash, values, (size_t)count * sizeof *values);
}

static inline uint64_t pl_hash_ints(uint64_t hash, const int32_t *values, int64_t count)
{
    return pl_hash(hash, values, (size_t)count * sizeof *values);
}

uint64_t pl_hash_motion(uint64_t hash, const struct pl_motion *motion);

#endif
