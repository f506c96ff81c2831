#include "engine/mesh/sets.h"

#include "engine/mesh/tag_map.h"

#include <stdlib.h>
#include <string.h>

/* Further sets are ignored. */
enum { SETS_MAX = 4096 };

int32_t pl_sets_tag(pl_sets *s, pl_draft *draft, const char *name, size_t length)
{
    for (int32_t k = 0; k < s->count; k++)
        if (s->names[k].length == length && strncasecmp(s->names[k].at, name, length) == 0)
            return k + 1;
    if (s->count == SETS_MAX ||
        !pl_draft_grow(draft, (void **)&s->names, s->count, s->name_capacity, sizeof *s->names))
        return 0;
    if (s->count == s->name_capacity)
        s->name_capacity = s->name_capacity ? 2 * s->name_capacity : 64;
    s->names[s->count] = (struct pl_set_name){name, length};
    return ++s->count;
}

void pl_sets_add(pl_sets *s, pl_draft *draft, int32_t tag, int64_t number, int64_t last,
                 int64_t step)
{
    if (tag == 0 || draft->stopped ||
        !pl_draft_grow(draft, (void **)&s->members, s->member_count, s->member_capacity,
                       sizeof *s->members))
        return;
    if (s->member_count == s->member_capacity)
        s->member_capacity = s->member_capacity ? 2 * s->member_capacity : 64;
    s->members[s->member_count++] = (struct pl_set_member){number, last, step, tag};
}

/* The first set in the file's order wins. A range costs no more than the number of cells. */
static void tag_range(const struct pl_set_member *m, const pl_tag_map *map, pl_draft_cells *cells)
{
    int64_t low = m->number > map->low ? m->number : map->low;
    int64_t high = m->last < map->high ? m->last : map->high;
    if (m->last == m->number) {
        int32_t at = pl_tag_map_find(map, m->number);
        if (at >= 0 && cells->tags[at] == 0)
            cells->tags[at] = m->tag;
        return;
    }
    if (high < low || map->count == 0)
        return;
    for (int64_t i = 0; i < cells->count; i++) {
        int64_t n = cells->numbers[i];
        if (n >= low && n <= high && (n - m->number) % m->step == 0 && cells->tags[i] == 0)
            cells->tags[i] = m->tag;
    }
}

/* At most this many ranges run over all cells: a file of nothing else must not cost more than its size. */
enum { RANGES_MAX = 256 };

static void add_groups(const pl_sets *s, pl_draft *draft, const pl_draft_cells *cells,
                       int32_t dimension)
{
    bool *used = calloc((size_t)s->count + 1, sizeof *used);
    if (!used)
        draft->no_memory = draft->stopped = true;
    for (int64_t i = 0; used && i < cells->count; i++)
        used[cells->tags[i]] = true;
    for (int32_t k = 0; used && k < s->count; k++)
        if (used[k + 1])
            pl_draft_add_group(draft, dimension, k + 1, s->names[k].at, s->names[k].length);
    free(used);
}

void pl_sets_apply(const pl_sets *s, pl_draft *draft, pl_draft_cells *cells, int32_t dimension)
{
    pl_tag_map map = {0};
    int ranges = 0;
    if (draft->stopped || s->count == 0)
        return;
    bool built = pl_tag_map_build(&map, cells->numbers, cells->count, NULL, NULL);
    for (int64_t i = 0; built && i < s->member_count; i++) {
        bool range = s->members[i].last != s->members[i].number;
        if (!range || ranges++ < RANGES_MAX)
            tag_range(&s->members[i], &map, cells);
    }
    pl_tag_map_clear(&map);
    if (built)
        add_groups(s, draft, cells, dimension);
    else
        draft->no_memory = draft->stopped = true;
}

void pl_sets_apply_nodes(const pl_sets *s, pl_draft *draft, int64_t where)
{
    int ranges = 0;
    for (int64_t i = 0; i < s->member_count && !draft->stopped; i++) {
        const struct pl_set_member *m = &s->members[i];
        if (m->last == m->number) {
            pl_draft_add_cell(draft, &draft->points, &m->number, 0, m->tag, where);
            continue;
        }
        for (int64_t k = 0; ranges < RANGES_MAX && k < draft->node_count; k++) {
            int64_t n = draft->node_tags[k];
            if (n >= m->number && n <= m->last && (n - m->number) % m->step == 0)
                pl_draft_add_cell(draft, &draft->points, &n, 0, m->tag, where);
        }
        ranges++;
    }
    if (!draft->stopped && s->count > 0)
        add_groups(s, draft, &draft->points, 0);
}

void pl_sets_clear(pl_sets *s)
{
    free(s->members);
    free(s->names);
    *s = (pl_sets){0};
}
