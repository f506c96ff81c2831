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

/* Absolute values from the largest down, with the sign of the product on the last. */
static inline void order_stretches(double s[3])
{
    double sign = 1;
    for (int i = 0; i < 3; i++) {
        sign *= s[i] < 0 ? -1 : 1;
        s[i] = fabs(s[i]);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++)
            if (s[i] < s[i + 1]) {
                const double swap = s[i];
                s[i] = s[i + 1];
                s[i + 1] = swap;
            }
    s[2] *= sign;
}

/* Singular values next to each other, opposite, 0 and far apart. */
static inline void random_stretches(uint64_t *state, double s[3])
{
    const double low = random_unit(state) < 0.4 ? 0.3 : -3, high = low > 0 ? 1.8 : 10;
    for (int i = 0; i < 3; i++)
        s[i] = random_between(state, low, high);
    for (int i = 1; i < 3; i++) {
        const double roll = random_unit(state);
        s[i] = roll < 0.1 ? s[i - 1] : roll < 0.15 ? 0 : roll < 0.2 ? -s[i - 1] : s[i];
    }
    order_stretches(s);
}

#endif
