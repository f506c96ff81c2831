#include "engine/mesh/tag_map.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
    const pl_tag_pair *a = left, *b = right;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

int32_t pl_tag_map_find(const pl_tag_map *map, int64_t tag)
{
    if (map->count == 0 || tag < map->low || tag > map->high)
        return -1;
    if (map->table)
        return map->table[tag - map->low];
    int64_t low = 0, high = map->count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (map->pairs[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return map->pairs[low].tag == tag ? map->pairs[low].index : -1;
}

static bool build_table(pl_tag_map *map, const int64_t *tags, pl_tag_repeated *repeated,
                        void *context)
{
    size_t range = (size_t)(map->high - map->low) + 1;
    map->table = malloc(range * sizeof *map->table);
    if (!map->table)
        return false;
    memset(map->table, -1, range * sizeof *map->table);
    for (int64_t i = 0; i < map->count; i++) {
        int32_t *entry = &map->table[tags[i] - map->low];
        if (*entry < 0)
            *entry = (int32_t)i;
        else if (repeated)
            repeated(context, *entry, (int32_t)i);
    }
    return true;
}

static bool build_pairs(pl_tag_map *map, const int64_t *tags, pl_tag_repeated *repeated,
                        void *context)
{
    map->pairs = malloc((size_t)map->count * sizeof *map->pairs);
    if (!map->pairs)
        return false;
    for (int64_t i = 0; i < map->count; i++)
        map->pairs[i] = (pl_tag_pair){tags[i], (int32_t)i};
    qsort(map->pairs, (size_t)map->count, sizeof *map->pairs, compare);
    for (int64_t i = 1; repeated && i < map->count; i++)
        if (map->pairs[i].tag == map->pairs[i - 1].tag)
            repeated(context, map->pairs[i - 1].index, map->pairs[i].index);
    return true;
}

bool pl_tag_map_build(pl_tag_map *map, const int64_t *tags, int64_t count,
                      pl_tag_repeated *repeated, void *context)
{
    *map = (pl_tag_map){.count = count};
    if (count == 0)
        return true;
    map->low = map->high = tags[0];
    for (int64_t i = 1; i < count; i++) {
        map->low = tags[i] < map->low ? tags[i] : map->low;
        map->high = tags[i] > map->high ? tags[i] : map->high;
    }
    uint64_t range = (uint64_t)map->high - (uint64_t)map->low;
    bool dense = range < 4 * (uint64_t)count + 1024;
    return dense ? build_table(map, tags, repeated, context)
                 : build_pairs(map, tags, repeated, context);
}

void pl_tag_map_clear(pl_tag_map *map)
{
    free(map->table);
    free(map->pairs);
    *map = (pl_tag_map){0};
}
