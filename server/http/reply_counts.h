/* reply_counts.h - replies counted and timed by route and status class, for /metrics. Allocated once from the route
 * table; atomics only.
 */
#ifndef PLIANT_SERVER_HTTP_REPLY_COUNTS_H
#define PLIANT_SERVER_HTTP_REPLY_COUNTS_H

#include "server/base/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_reply_counts pl_reply_counts;

pl_reply_counts *pl_reply_counts_create(size_t routes); /* NULL: out of memory */
void pl_reply_counts_destroy(pl_reply_counts *counts);  /* NULL is allowed */

/* `route` is an index into the table; an index beyond it stands for requests without a route: the path is unknown, or
 * the head was rejected earlier. Status class 2..5. */

/* A reply was queued, `us` after its request's head had been read. timed false: a stream, or a request that waited for
 * news; its duration only shows how long there was no news. */
void pl_reply_counts_add(pl_reply_counts *counts, size_t route, int status, bool timed, int64_t us);
int64_t pl_reply_counts_total(const pl_reply_counts *counts, size_t route, int status_class);
const pl_histogram *pl_reply_counts_seconds(const pl_reply_counts *counts, size_t route,
                                            int status_class);

#endif
