#include "server/base/histogram.h"

const pl_bounds pl_bounds_of_requests = {11,
                                         {{500, "0.0005"},
                                          {1000, "0.001"},
                                          {2500, "0.0025"},
                                          {5000, "0.005"},
                                          {10000, "0.01"},
                                          {25000, "0.025"},
                                          {100000, "0.1"},
                                          {500000, "0.5"},
                                          {2500000, "2.5"},
                                          {10000000, "10"},
                                          {30000000, "30"}}};

const pl_bounds pl_bounds_of_waits = {10,
                                      {{10000, "0.01"},
                                       {100000, "0.1"},
                                       {1000000, "1"},
                                       {10000000, "10"},
                                       {60000000, "60"},
                                       {300000000, "300"},
                                       {1800000000, "1800"},
                                       {3600000000, "3600"},
                                       {21600000000, "21600"},
                                       {86400000000, "86400"}}};

void pl_histogram_add(pl_histogram *h, const pl_bounds *bounds, int64_t us)
{
    int place = 0;
    us = us < 0 ? 0 : us;
    while (place < bounds->count && us > bounds->at[place].us) {
        place++;
    }
    atomic_fetch_add_explicit(&h->sum_us, us, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->count[place], 1, memory_order_relaxed);
}

int64_t pl_histogram_count(const pl_histogram *h, int place)
{
    return atomic_load_explicit(&h->count[place], memory_order_relaxed);
}

int64_t pl_histogram_sum_us(const pl_histogram *h)
{
    return atomic_load_explicit(&h->sum_us, memory_order_relaxed);
}
