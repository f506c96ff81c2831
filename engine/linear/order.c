#include "engine/linear/order.h"

#include <stdlib.h>

/* Appends the rows reached from `first`, nearest first, to the `count` ones in `order`; place [rows]: -1 of rows not
 * reached. Returns the new count. */
static int64_t reach(const pl_csr *A, int64_t first, int32_t *order, int32_t *place, int64_t count)
{
    int64_t next = count;
    place[first] = (int32_t)count;
    order[count++] = (int32_t)first;
    for (; next < count; next++) {
        const int64_t i = order[next];
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++) {
            const int32_t j = A->column[e];
            if (place[j] >= 0)
                continue;
            place[j] = (int32_t)count;
            order[count++] = j;
        }
    }
    return count;
}

/* Sum of the distances of entries from the diagonal, with row i at place[i], or i if that is NULL. */
static double distance(const pl_csr *A, const int32_t *place)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++) {
            const int64_t j = A->column[e];
            sum += llabs(place ? (int64_t)place[i] - place[j] : i - j);
        }
    return (double)sum;
}

pl_status pl_order_find(const pl_csr *A, int32_t *order, bool *better)
{
    int32_t *place = malloc((size_t)(A->rows + 1) * sizeof *place);
    if (!place)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < A->rows; i++)
        place[i] = -1;
    for (int64_t i = 0, count = 0; i < A->rows; i++) {
        if (place[i] >= 0)
            continue;
        const int64_t end = reach(A, i, order, place, count);
        const int64_t last = order[end - 1];
        for (int64_t k = count; k < end; k++)
            place[order[k]] = -1;
        count = reach(A, last, order, place, count);
    }
    *better = distance(A, place) < 0.5 * distance(A, NULL);
    free(place);
    return PL_OK;
}
