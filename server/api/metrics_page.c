#include "server/api/metrics_page.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(pl_metrics_page *p, size_t room)
{
    if (p->capacity - p->length >= room) {
        return true;
    }
    size_t capacity = 2 * p->capacity + 16384;
    char *text = realloc(p->text, capacity);
    if (text) {
        p->text = text;
        p->capacity = capacity;
    }
    return text;
}

void pl_metrics_put(pl_metrics_page *p, const char *format, ...)
{
    if (!reserve(p, 512)) {
        return;
    }
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->text + p->length, p->capacity - p->length, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < p->capacity - p->length) {
        p->length += (size_t)n;
    }
}

void pl_metrics_put_one(pl_metrics_page *p, const char *name, const char *type, const char *help,
                        double value)
{
    pl_metrics_put(p, "# HELP pliant_%s %s\n# TYPE pliant_%s %s\npliant_%s %.15g\n", name, help,
                   name, type, name, value);
}

/* There are thousands of these lines, so they are assembled by hand for speed. */
static void put_bucket(pl_metrics_page *p, const char *head, size_t head_length, const char *bound,
                       int64_t value)
{
    char digits[24];
    size_t bound_length = strlen(bound), n = 0;
    if (!reserve(p, head_length + bound_length + 64)) {
        return;
    }
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    char *to = p->text + p->length;
    to = mempcpy(to, head, head_length);
    to = mempcpy(to, bound, bound_length);
    to = mempcpy(to, "\"} ", 3);
    while (n > 0) {
        *to++ = digits[--n];
    }
    *to++ = '\n';
    p->length = (size_t)(to - p->text);
}

/* `labels`: the series' labels besides `le`, or "". The count is the sum of the buckets that were read, so that the two
 * agree despite concurrent additions. */
static void put_histogram(pl_metrics_page *p, const char *name, const char *labels,
                          const pl_bounds *bounds, const pl_histogram *h)
{
    char head[256];
    int64_t count = 0;
    int n = snprintf(head, sizeof head, "pliant_%s_bucket{%s%sle=\"", name, labels,
                     *labels ? "," : "");
    if (n < 0 || (size_t)n >= sizeof head) {
        return;
    }
    for (int i = 0; i <= bounds->count; i++) {
        count += pl_histogram_count(h, i);
        put_bucket(p, head, (size_t)n, i < bounds->count ? bounds->at[i].seconds : "+Inf", count);
    }
    int64_t sum = pl_histogram_sum_us(h);
    const char *open = *labels ? "{" : "", *close = *labels ? "}" : "";
    pl_metrics_put(p, "pliant_%s_sum%s%s%s %lld.%06lld\npliant_%s_count%s%s%s %lld\n", name, open,
                   labels, close, (long long)(sum / 1000000), (long long)(sum % 1000000), name,
                   open, labels, close, (long long)count);
}

/* Labels of a row of the table, or of the end of the table: requests without a route. Text sent by clients never
 * becomes a label. */
static void write_labels(const pl_route *route, int status_class, char out[192])
{
    snprintf(out, 192, "method=\"%s\",route=\"%s\",status=\"%dxx\"",
             route->method ? route->method : "none", route->method ? route->path : "none",
             status_class);
}

void pl_metrics_put_replies(pl_metrics_page *p, const pl_route *routes,
                            const pl_reply_counts *counts)
{
    char labels[192];
    size_t n = 0;
    while (routes[n].method) {
        n++;
    }
    pl_metrics_put(p, "# HELP pliant_http_requests_total Requests answered.\n"
                      "# TYPE pliant_http_requests_total counter\n");
    for (size_t i = 0; i <= n; i++) {
        for (int class = 2; class <= 5; class ++) {
            write_labels(&routes[i], class, labels);
            pl_metrics_put(p, "pliant_http_requests_total{%s} %lld\n", labels,
                           (long long)pl_reply_counts_total(counts, i, class));
        }
    }
    pl_metrics_put(
        p, "# HELP pliant_http_request_seconds Time from a request's head to its reply, including "
           "the arrival of its body. Excludes streams, exports and long polls that waited.\n"
           "# TYPE pliant_http_request_seconds histogram\n");
    for (size_t i = 0; i <= n; i++) {
        for (int class = 2; class <= 5; class ++) {
            if (pl_reply_counts_total(counts, i, class) == 0) {
                continue; /* otherwise the page would be half a megabyte, nearly all zeros */
            }
            write_labels(&routes[i], class, labels);
            put_histogram(p, "http_request_seconds", labels, &pl_bounds_of_requests,
                          pl_reply_counts_seconds(counts, i, class));
        }
    }
}

void pl_metrics_put_waits(pl_metrics_page *p, const pl_histogram *waits)
{
    pl_metrics_put(p, "# HELP pliant_queue_wait_seconds Time from a session's arrival in the queue "
                      "to its first start.\n# TYPE pliant_queue_wait_seconds histogram\n");
    put_histogram(p, "queue_wait_seconds", "", &pl_bounds_of_waits, waits);
}
