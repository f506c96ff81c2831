#include "engine/model/gather.h"

#include <stdlib.h>

/* Visits every term and corner twice (count, fill) in the fixed order. */
static void walk(const pl_group *groups, int32_t group_count, int64_t *cursor, int64_t *slot)
{
    for (int32_t i = 0; i < group_count; i++) {
        const pl_group *g = &groups[i];
        int32_t corners = g->ops->corners;
        for (int64_t t = 0; t < g->terms; t++) {
            int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
            for (int32_t c = 0; c < corners; c++) {
                int32_t vertex = g->corner[(b * corners + c) * PL_BLOCK + l];
                if (slot)
                    slot[cursor[vertex]] = g->contribution + (b * corners + c) * 3 * PL_BLOCK + l;
                cursor[vertex]++;
            }
        }
    }
}

pl_status pl_gather_create(int64_t n, const pl_group *groups, int32_t group_count, pl_gather *out)
{
    int64_t *start = calloc((size_t)n + 1, sizeof *start);
    int64_t *cursor = calloc((size_t)n + 1, sizeof *cursor);
    int64_t *slot = NULL;
    if (start && cursor) {
        walk(groups, group_count, start, NULL);
        int64_t total = 0;
        for (int64_t i = 0; i <= n; i++) {
            int64_t here = start[i];
            start[i] = cursor[i] = total;
            total += here;
        }
        slot = malloc((size_t)(total + 1) * sizeof *slot);
    }
    if (!slot) {
        free(start);
        free(cursor);
        return PL_NO_MEMORY;
    }
    walk(groups, group_count, cursor, slot);
    free(cursor);
    *out = (pl_gather){start, slot};
    return PL_OK;
}

void pl_gather_destroy(pl_gather *g)
{
    free(g->start);
    free(g->slot);
    *g = (pl_gather){0};
}
