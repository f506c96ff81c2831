/* clock.h - wall time for the metrics' milliseconds. */
#ifndef PLIANT_ENGINE_CLOCK_H
#define PLIANT_ENGINE_CLOCK_H

#include <time.h>

static inline double pl_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

#endif
