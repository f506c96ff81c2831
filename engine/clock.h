/* clock.h - the monotonic clock: time since an unspecified moment in the past, never set back. For durations,
 * deadlines and waits of every program.
 */
#ifndef PLIANT_ENGINE_CLOCK_H
#define PLIANT_ENGINE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t pl_monotonic_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline int64_t pl_monotonic_ms(void)
{
    return pl_monotonic_us() / 1000;
}

/* With a fraction, for the metrics' milliseconds. */
static inline double pl_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

#endif
