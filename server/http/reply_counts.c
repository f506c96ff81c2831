#include "server/http/reply_counts.h"

#include <stdlib.h>

enum { LOWEST = 2, CLASSES = 4 }; /* 2xx to 5xx */

typedef struct row {
    _Atomic int64_t total[CLASSES];
    pl_histogram seconds[CLASSES];
} row;

struct pl_reply_counts {
    size_t routes;
    row rows[]; /* the last row counts requests without a route */
};

pl_reply_counts *pl_reply_counts_create(size_t routes)
{
    pl_reply_counts *c = calloc(1, sizeof *c + (routes + 1) * sizeof *c->rows);
    if (c) {
        c->routes = routes;
    }
    return c;
}

void pl_reply_counts_destroy(pl_reply_counts *c)
{
    free(c);
}

void pl_reply_counts_add(pl_reply_counts *c, size_t route, int status, bool timed, int64_t us)
{
    int class = status / 100 - LOWEST;
    if (class < 0 || class >= CLASSES) {
        return;
    }
    row *at = &c->rows[route < c->routes ? route : c->routes];
    atomic_fetch_add_explicit(&at->total[class], 1, memory_order_relaxed);
    if (timed) {
        pl_histogram_add(&at->seconds[class], &pl_bounds_of_requests, us);
    }
}

int64_t pl_reply_counts_total(const pl_reply_counts *c, size_t route, int status_class)
{
    return atomic_load_explicit(&c->rows[route].total[status_class - LOWEST], memory_order_relaxed);
}

const pl_histogram *pl_reply_counts_seconds(const pl_reply_counts *c, size_t route,
                                            int status_class)
{
    return &c->rows[route].seconds[status_class - LOWEST];
}
