#include "protocol/sweep/sample.h"

#include <stdlib.h>

const char *const pl_sampling_names[] = {"grid", "random", "latin_hypercube", "sobol", NULL};

/* Steele, Lea, Flood 2014: a mixed counter. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

typedef struct stream {
    uint64_t state;
} stream;

/* A separate stream for each seed and dimension. */
static stream stream_of(uint64_t seed, int32_t dimension)
{
    return (stream){mix(seed) ^ mix((uint64_t)dimension + UINT64_C(0x9e3779b97f4a7c15))};
}

static uint64_t next(stream *s)
{
    s->state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(s->state);
}

/* In [0, 1), a multiple of 2^-53. */
static double unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* Uniform in [0, n) (Lemire 2019 without the division: draws that would bias the result are repeated). */
static uint64_t below(stream *s, uint64_t n)
{
    uint64_t most = UINT64_MAX - UINT64_MAX % n, drawn;
    do
        drawn = next(s);
    while (drawn >= most);
    return drawn % n;
}

static void fill_random(uint64_t seed, int64_t n, int32_t d, double *out)
{
    for (int32_t j = 0; j < d; j++) {
        stream s = stream_of(seed, j);
        for (int64_t i = 0; i < n; i++)
            out[i * d + j] = unit(next(&s));
    }
}

/* McKay, Beckman, Conover 1979: part p[i] of n, and a random place in it. */
static pl_status fill_latin(uint64_t seed, int64_t n, int32_t d, double *out)
{
    int64_t *p = malloc((size_t)n * sizeof *p);
    if (!p)
        return PL_NO_MEMORY;
    for (int32_t j = 0; j < d; j++) {
        stream s = stream_of(seed, j);
        for (int64_t i = 0; i < n; i++)
            p[i] = i;
        for (int64_t i = n - 1; i > 0; i--) { /* Fisher and Yates */
            int64_t k = (int64_t)below(&s, (uint64_t)i + 1), kept = p[i];
            p[i] = p[k];
            p[k] = kept;
        }
        for (int64_t i = 0; i < n; i++)
            out[i * d + j] = ((double)p[i] + unit(next(&s))) / (double)n;
    }
    free(p);
    return PL_OK;
}

/* ---- Sobol ---- */

enum { BITS = 32, DEGREE_MAX = 7 };

/* Dimensions 2 to 21 of new-joe-kuo-6.21201: degree s and inner coefficients a of the primitive polynomial,
 * then the initial direction numbers m. Dimension 1 is van der Corput's. */
static const struct {
    uint32_t s, a, m[DEGREE_MAX];
} joe_kuo[PL_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

/* v[k] = m_k 2^(32 - k): the recurrence of Joe and Kuo, eq. 3. */
static void directions(int32_t dimension, uint32_t v[BITS])
{
    uint32_t s = dimension ? joe_kuo[dimension - 1].s : BITS;
    for (uint32_t k = 0; k < BITS; k++) {
        if (k < s) {
            v[k] = (dimension ? joe_kuo[dimension - 1].m[k] : 1) << (BITS - 1 - k);
            continue;
        }
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (uint32_t i = 1; i < s; i++)
            v[k] ^= ((joe_kuo[dimension - 1].a >> (s - 1 - i)) & 1) * v[k - i];
    }
}

/* Antonov and Saleev 1979: point i + 1 differs from point i by the direction of i's lowest zero bit. */
static void fill_sobol(uint64_t seed, int64_t n, int32_t d, double *out)
{
    for (int32_t j = 0; j < d; j++) {
        uint32_t v[BITS], x = 0;
        directions(j, v);
        stream s = stream_of(seed, j);
        uint32_t shift = seed ? (uint32_t)(next(&s) >> 32) : 0;
        for (int64_t i = 0; i < n; i++) {
            out[i * d + j] = (double)(x ^ shift) * 0x1p-32;
            x ^= v[__builtin_ctzll(~(uint64_t)i)];
        }
    }
}

pl_status pl_sample_points(pl_sampling sampling, uint64_t seed, int64_t n, int32_t d, double *out)
{
    switch (sampling) {
    case PL_SAMPLING_RANDOM:
        fill_random(seed, n, d, out);
        return PL_OK;
    case PL_SAMPLING_LATIN:
        return fill_latin(seed, n, d, out);
    case PL_SAMPLING_SOBOL:
        fill_sobol(seed, n, d, out);
        return PL_OK;
    default:
        return PL_INVALID;
    }
}
