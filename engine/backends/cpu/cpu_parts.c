#include "engine/backends/cpu/cpu_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of a part: 512 tetrahedra, whose contributions are 49 kB, a small part of a second-level cache; and enough
 * parts for a few threads if a body is small. */
enum { PART_BLOCKS = 32 };
static_assert(PART_BLOCKS * PL_CORNERS_MAX * 3 * PL_BLOCK <= UINT16_MAX, "a slot fits");

void pl_parts_destroy(pl_parts *parts)
{
    free(parts->part);
    free(parts->terms);
    free(parts->slot);
    free(parts->sum);
    free(parts->start);
    free(parts->summand);
    free(parts->window);
    *parts = (pl_parts){0};
}

/* ---- creation ---- */

static int64_t cut(const pl_model *m, pl_part *part)
{
    int64_t count = 0;
    for (int32_t g = 0; g < m->group_count; g++)
        for (int64_t b = 0; b < m->groups[g].blocks; b += PART_BLOCKS) {
            int64_t end = b + PART_BLOCKS, blocks = m->groups[g].blocks;
            if (part)
                part[count] = (pl_part){.group = g, .b0 = b, .b1 = end < blocks ? end : blocks};
            count++;
        }
    return count;
}

static int64_t first_term(int64_t block)
{
    return block * PL_BLOCK;
}

static int64_t end_term(const pl_group *g, int64_t block)
{
    return block * PL_BLOCK < g->terms ? block * PL_BLOCK : g->terms;
}

static int32_t corner_of(const pl_group *g, int64_t term, int32_t corner)
{
    int64_t block = term / PL_BLOCK, lane = term % PL_BLOCK;
    return g->corner[(block * g->ops->corners + corner) * PL_BLOCK + lane];
}

/* Numbers the vertices of every part in the order of their first occurrence. number[vertex] is the number in the
 * last part that contains it, below `first` if it is not in the current part. Returns the count; owner, unless
 * NULL, is the vertex of each. */
static int64_t number_part(const pl_model *m, pl_part *part, int64_t next, int64_t *number,
                           int32_t *owner)
{
    const pl_group *g = &m->groups[part->group];
    part->first = next;
    for (int64_t t = first_term(part->b0); t < end_term(g, part->b1); t++)
        for (int32_t c = 0; c < g->ops->corners; c++) {
            int32_t vertex = corner_of(g, t, c);
            if (number[vertex] >= part->first)
                continue;
            if (owner)
                owner[next] = vertex;
            number[vertex] = next++;
        }
    return next;
}

static void fill_slots(const pl_model *m, pl_parts *p, pl_part *part, const int64_t *number)
{
    const pl_group *g = &m->groups[part->group];
    uint16_t at[PART_BLOCKS * PL_BLOCK * PL_CORNERS_MAX];
    int32_t corners = g->ops->corners, used = 0;
    for (int64_t t = first_term(part->b0); t < end_term(g, part->b1); t++)
        for (int32_t c = 0; c < corners; c++)
            p->terms[number[corner_of(g, t, c)]]++;
    for (int64_t i = part->first; i < part[1].first; i++) {
        at[i - part->first] = (uint16_t)used;
        used += p->terms[i];
    }
    for (int64_t t = first_term(part->b0); t < end_term(g, part->b1); t++)
        for (int32_t c = 0; c < corners; c++) {
            int64_t block = t / PL_BLOCK - part->b0, lane = t % PL_BLOCK;
            int64_t i = number[corner_of(g, t, c)] - part->first;
            p->slot[part->slot + at[i]++] = (uint16_t)((block * corners + c) * 3 * PL_BLOCK + lane);
        }
    part[1].slot = part->slot + used;
}

/* Fills summand by vertex, in the order of the parts. */
static void list_summands(const pl_model *m, pl_parts *p, const int32_t *owner)
{
    int64_t all = p->part[p->count].first;
    for (int64_t i = 0; i < all; i++)
        p->start[owner[i] + 1]++;
    for (int64_t v = 0; v < m->vertices; v++)
        p->start[v + 1] += p->start[v];
    for (int64_t i = 0; i < all; i++)
        p->summand[p->start[owner[i]]++] = i;
    for (int64_t v = m->vertices; v > 0; v--)
        p->start[v] = p->start[v - 1];
    p->start[0] = 0;
}

static void number_all(const pl_model *m, pl_parts *p, int64_t *number, int32_t *owner)
{
    for (int64_t v = 0; v < m->vertices; v++)
        number[v] = -1;
    int64_t next = 0;
    for (int64_t i = 0; i < p->count; i++) {
        next = number_part(m, &p->part[i], next, number, owner);
        p->part[i + 1].first = next;
        if (owner)
            fill_slots(m, p, &p->part[i], number);
    }
}

pl_status pl_parts_create(const pl_model *model, int32_t threads, pl_parts *out)
{
    int64_t slots = 0;
    int32_t corners = 1;
    for (int32_t g = 0; g < model->group_count; g++) {
        const pl_group *group = &model->groups[g];
        slots += group->terms * group->ops->corners;
        corners = group->ops->corners > corners ? group->ops->corners : corners;
    }
    pl_parts p = {.count = cut(model, NULL),
                  .window_values = (int64_t)PART_BLOCKS * corners * 3 * PL_BLOCK};
    int64_t *number = malloc((size_t)(model->vertices + 1) * sizeof *number);
    int32_t *owner = NULL;
    p.part = calloc((size_t)p.count + 1, sizeof *p.part);
    bool good = number && p.part;
    if (good) {
        cut(model, p.part);
        number_all(model, &p, number, NULL);
        size_t all = (size_t)p.part[p.count].first + 1;
        owner = malloc(all * sizeof *owner);
        p.terms = calloc(all, sizeof *p.terms);
        p.slot = malloc((size_t)(slots + 1) * sizeof *p.slot);
        p.sum = pl_block_alloc(3 * (int64_t)all, sizeof *p.sum);
        p.start = calloc((size_t)model->vertices + 1, sizeof *p.start);
        p.summand = malloc(all * sizeof *p.summand);
        p.window = pl_block_alloc(threads * p.window_values, sizeof *p.window);
        good = owner && p.terms && p.slot && p.sum && p.start && p.summand && p.window;
    }
    if (good) {
        number_all(model, &p, number, owner);
        list_summands(model, &p, owner);
        *out = p;
    } else {
        pl_parts_destroy(&p);
    }
    free(number);
    free(owner);
    return good ? PL_OK : PL_NO_MEMORY;
}

pl_status pl_parts_set_threads(pl_parts *p, int32_t threads)
{
    double *window = pl_block_alloc(threads * p->window_values, sizeof *window);
    if (!window)
        return PL_NO_MEMORY;
    free(p->window);
    p->window = window;
    return PL_OK;
}

/* ---- use ---- */

void pl_parts_add_up(const pl_parts *p, int64_t which, const double *window)
{
    const pl_part *part = &p->part[which];
    const uint16_t *slot = p->slot + part->slot;
    for (int64_t i = part->first; i < part[1].first; i++) {
        double x = 0, y = 0, z = 0;
        for (const uint16_t *end = slot + p->terms[i]; slot < end; slot++) {
            const double *f = window + *slot;
            x += f[0];
            y += f[PL_BLOCK];
            z += f[2 * PL_BLOCK];
        }
        p->sum[3 * i] = x;
        p->sum[3 * i + 1] = y;
        p->sum[3 * i + 2] = z;
    }
}

void pl_parts_clear(const pl_parts *p, int64_t which)
{
    const pl_part *part = &p->part[which];
    memset(p->sum + 3 * part->first, 0, 3 * (size_t)(part[1].first - part->first) * sizeof *p->sum);
}

void pl_parts_of_group(const pl_parts *p, int32_t group, int64_t *first, int64_t *end)
{
    *first = 0;
    while (*first < p->count && p->part[*first].group < group)
        ++*first;
    *end = *first;
    while (*end < p->count && p->part[*end].group == group)
        ++*end;
}

pl_group pl_parts_group(const pl_model *model, const pl_part *part)
{
    pl_group group = model->groups[part->group];
    group.contribution = -part->b0 * group.ops->corners * 3 * PL_BLOCK;
    return group;
}

bool pl_parts_energy_gradient(const pl_parts *parts, const pl_model *model, const double *x,
                              double *energy, int64_t p, int32_t thread)
{
    double *window = pl_parts_window(parts, thread);
    const pl_part *part = &parts->part[p];
    for (int32_t g = 0; g < part->group; g++)
        energy += model->groups[g].blocks;
    const pl_group group = pl_parts_group(model, part);
    group.ops->energy_gradient(&group, x, energy, window, part->b0, part->b1);
    pl_parts_add_up(parts, p, window);
    bool inside = true;
    for (int64_t b = part->b0; b < part->b1; b++)
        inside = inside && energy[b] != INFINITY;
    return inside;
}
