#include "engine/mesh/order.h"

#include <stdlib.h>
#include <string.h>

/* One stable pass over key k: from[] -> to[], with start[] the first free place of each key. */
static void pass(const int32_t *keys, int64_t n, int width, int k, int32_t limit, int64_t *start,
                 const int64_t *from, int64_t *to)
{
    memset(start, 0, ((size_t)limit + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++)
        start[keys[i * width + k] + 1]++;
    for (int32_t v = 0; v < limit; v++)
        start[v + 1] += start[v];
    for (int64_t i = 0; i < n; i++)
        to[start[keys[from[i] * width + k]]++] = from[i];
}

pl_status pl_order_records(const int32_t *keys, int64_t n, int width, int32_t limit,
                           int64_t **order)
{
    int64_t *from = malloc((size_t)(n + 1) * sizeof *from);
    int64_t *to = malloc((size_t)(n + 1) * sizeof *to);
    int64_t *start = malloc(((size_t)limit + 1) * sizeof *start);
    *order = NULL;
    if (from && to && start) {
        for (int64_t i = 0; i < n; i++)
            from[i] = i;
        for (int k = width - 1; k >= 0; k--) {
            pass(keys, n, width, k, limit, start, from, to);
            int64_t *swap = from;
            from = to;
            to = swap;
        }
        *order = from;
        from = NULL;
    }
    free(start);
    free(to);
    free(from);
    return *order ? PL_OK : PL_NO_MEMORY;
}
