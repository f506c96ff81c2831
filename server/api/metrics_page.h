/* metrics_page.h - the text of /metrics: one growing buffer, and the families with many series. A family's samples are
 * contiguous, after its HELP and TYPE.
 */
#ifndef PLIANT_SERVER_API_METRICS_PAGE_H
#define PLIANT_SERVER_API_METRICS_PAGE_H

#include "server/base/histogram.h"
#include "server/http/http.h"
#include "server/http/reply_counts.h"

#include <stddef.h>

/* Zero-initialise. Text is dropped when out of memory. */
typedef struct pl_metrics_page {
    char *text; /* malloc'ed; the caller frees it */
    size_t length, capacity;
} pl_metrics_page;

/* Less than 512 bytes a call. */
__attribute__((format(printf, 2, 3))) void pl_metrics_put(pl_metrics_page *p, const char *format,
                                                          ...);
/* A family of one series; name without "pliant_". */
void pl_metrics_put_one(pl_metrics_page *p, const char *name, const char *type, const char *help,
                        double value);

/* process_* as in Prometheus' client libraries: this process, from /proc. */
void pl_metrics_put_process(pl_metrics_page *p);
/* pliant_http_requests_total and pliant_http_request_seconds. */
void pl_metrics_put_replies(pl_metrics_page *p, const pl_route *routes,
                            const pl_reply_counts *counts);
/* pliant_queue_wait_seconds. */
void pl_metrics_put_waits(pl_metrics_page *p, const pl_histogram *waits);

#endif
