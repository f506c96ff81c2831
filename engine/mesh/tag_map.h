/* tag_map.h - map from a file's numbers of nodes or elements to their indices.
 *
 * It is a table if the numbers are dense, otherwise sorted pairs. Both use memory in proportion to the count, and
 * no choice of numbers makes a look-up slower than a binary search.
 */
#ifndef PLIANT_ENGINE_MESH_TAG_MAP_H
#define PLIANT_ENGINE_MESH_TAG_MAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_tag_pair {
    int64_t tag;
    int32_t index;
} pl_tag_pair;

typedef struct pl_tag_map {
    int64_t count, low, high;
    int32_t *table;     /* [high - low + 1], -1 = no such number; or NULL */
    pl_tag_pair *pairs; /* [count] by number, then index; or NULL */
} pl_tag_map;

/* Called with two indices of one number; the map keeps the first. */
typedef void pl_tag_repeated(void *context, int32_t first, int32_t again);

/* False if out of memory; `repeated` may be NULL. Call pl_tag_map_clear in either case. */
bool pl_tag_map_build(pl_tag_map *map, const int64_t *tags, int64_t count,
                      pl_tag_repeated *repeated, void *context);
/* -1 if the number is unknown. */
int32_t pl_tag_map_find(const pl_tag_map *map, int64_t tag);
void pl_tag_map_clear(pl_tag_map *map);

#endif
