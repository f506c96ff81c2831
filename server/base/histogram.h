/* histogram.h - durations counted in fixed buckets, for /metrics. Plain atomics: adding and reading take no lock. */
#ifndef PLIANT_SERVER_BASE_HISTOGRAM_H
#define PLIANT_SERVER_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { PL_BOUNDS_MAX = 12 };

/* Upper bounds, ascending; a duration equal to a bound counts as below it. */
typedef struct pl_bounds {
    int count;
    struct {
        int64_t us;
        const char *seconds; /* the same as text */
    } at[PL_BOUNDS_MAX];
} pl_bounds;

extern const pl_bounds pl_bounds_of_requests; /* 0.5 ms to 30 s */
extern const pl_bounds pl_bounds_of_waits;    /* 10 ms to a day */

/* Zeroed memory is an empty histogram. */
typedef struct pl_histogram {
    _Atomic int64_t count[PL_BOUNDS_MAX + 1]; /* by bound; durations above all bounds come last */
    _Atomic int64_t sum_us;
} pl_histogram;

/* Durations below 0 count as 0. */
void pl_histogram_add(pl_histogram *histogram, const pl_bounds *bounds, int64_t us);
int64_t pl_histogram_count(const pl_histogram *histogram, int place);
int64_t pl_histogram_sum_us(const pl_histogram *histogram);

#endif
