/* lanes_random.h - reproducible random numbers, and lanes from plain arrays, for tests of kernels.
 */
#ifndef PLIANT_TESTS_SUPPORT_LANES_RANDOM_H
#define PLIANT_TESTS_SUPPORT_LANES_RANDOM_H

#include <math.h>
#include <stdint.h>

/* A 64-bit state, not zero; xorshift64*. In [0, 1). */
static inline double random_unit(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * 2685821657736338717u >> 11) * 0x1p-53;
}

static inline double random_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * random_unit(state);
}

/* Even in its logarithm. */
static inline double random_scale(uint64_t *state, double low, double high)
{
    return low * pow(high / low, random_unit(state));
}

#endif
