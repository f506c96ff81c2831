/* What this machine can do at most: bytes read from memory, on one and on two threads, and additions and
 * multiplications of doubles in registers, on one core with the vectors of each instruction set. The best of several
 * passes. */
#include "engine/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 1 << 25, PASSES = 8, ROUNDS = 24000000, CHAINS = 12 };

/* ---- memory ---- */

static double sum_of(const double *x, size_t count)
{
    double sum[8] = {0};
    for (size_t i = 0; i < count; i += 8)
        for (int l = 0; l < 8; l++)
            sum[l] += x[i + (size_t)l];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/* GB/s. */
static double reads(const double *x, int threads)
{
    double least = INFINITY;
    volatile double kept = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        double sum = 0, start = pl_clock_ms();
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(static)
        for (int part = 0; part < threads; part++)
            sum += sum_of(x + (size_t)part * (NUMBERS / (size_t)threads),
                          NUMBERS / (size_t)threads);
        least = fmin(least, pl_clock_ms() - start);
        kept = kept + sum;
    }
    return 8e-6 * NUMBERS / least;
}

/* ---- arithmetic ---- */

/* Seconds for ROUNDS additions or multiplications of vectors: CHAINS independent ones of alternating kind. */
#define ARITHMETIC(name, bytes, isa)                                                               \
    __attribute__((target(isa))) static double name(void)                                          \
    {                                                                                              \
        typedef double wide __attribute__((vector_size(bytes)));                                   \
        wide x[CHAINS], one = {0};                                                                 \
        one += 1;                                                                                  \
        for (int c = 0; c < CHAINS; c++)                                                           \
            x[c] = one;                                                                            \
        double start = pl_clock_ms();                                                              \
        for (int k = 0; k < ROUNDS / CHAINS; k++) {                                                \
            _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) x[c] = c % 2 ? x[c] * one    \
                                                                                   : x[c] + one;   \
            __asm__ volatile("" : "+x"(one));                                                      \
        }                                                                                          \
        double ms = pl_clock_ms() - start;                                                         \
        volatile double kept = 0;                                                                  \
        for (int c = 0; c < CHAINS; c++)                                                           \
            kept = kept + x[c][0];                                                                 \
        return 1e-3 * ms;                                                                          \
    }

#if defined(__x86_64__)
ARITHMETIC(two_lanes, 16, "sse4.2")
ARITHMETIC(four_lanes, 32, "avx2")
ARITHMETIC(eight_lanes, 64, "avx512f")

static void print_arithmetic(const char *isa, double (*seconds)(void), int lanes)
{
    double least = INFINITY;
    for (int pass = 0; pass < PASSES; pass++)
        least = fmin(least, seconds());
    printf("  %-12s    %23.1f\n", isa, 1e-9 * ROUNDS * lanes / least);
}
#endif

int main(void)
{
    double *x = aligned_alloc(64, NUMBERS * sizeof *x);
    if (!x)
        abort();
    for (size_t i = 0; i < NUMBERS; i++)
        x[i] = 1;
    puts("The most that this machine does");
    printf("  reads, GB/s    1 thread %8.1f    2 threads %8.1f\n", reads(x, 1), reads(x, 2));
#if defined(__x86_64__)
    puts("  instructions    1e9 operations a second");
    print_arithmetic("x86-64-v2", two_lanes, 2);
    if (__builtin_cpu_supports("x86-64-v3"))
        print_arithmetic("x86-64-v3", four_lanes, 4);
    if (__builtin_cpu_supports("x86-64-v4"))
        print_arithmetic("x86-64-v4", eight_lanes, 8);
#endif
    free(x);
    return 0;
}
