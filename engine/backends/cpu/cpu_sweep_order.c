#include "engine/backends/cpu/cpu_sweep.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The terms of each vertex that moves: entry[start[v] .. start[v + 1]), by group, then by term. A term that names a
 * vertex twice, because it has fewer corners than its kind, is listed once. */
typedef struct entry {
    int64_t term;
    int32_t group, corner;
} entry;

typedef struct around {
    int64_t *start; /* [vertices + 1] */
    entry *entry;
} around;

static int32_t corner_of(const pl_group *g, int64_t term, int32_t corner)
{
    return g->corner[(term / PL_BLOCK * g->ops->corners + corner) * PL_BLOCK + term % PL_BLOCK];
}

/* True if an earlier corner of the term is the same vertex. */
static bool repeats(const pl_group *g, int64_t term, int32_t corner)
{
    for (int32_t c = 0; c < corner; c++)
        if (corner_of(g, term, c) == corner_of(g, term, corner))
            return true;
    return false;
}

/* Counts, or with `entries` lists, at the cursors. */
static void walk(const pl_model *m, int64_t *cursor, entry *entries)
{
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        for (int64_t t = 0; t < g->terms; t++)
            for (int32_t c = 0; c < g->ops->corners; c++) {
                const int32_t vertex = corner_of(g, t, c);
                if (m->free_row[vertex] < 0 || repeats(g, t, c))
                    continue;
                if (entries)
                    entries[cursor[vertex]] = (entry){t, k, c};
                cursor[vertex]++;
            }
    }
}

static pl_status list_around(const pl_model *m, around *out)
{
    const int64_t n = m->vertices;
    int64_t *cursor = calloc((size_t)n + 1, sizeof *cursor), total = 0;
    out->start = calloc((size_t)n + 1, sizeof *out->start);
    if (cursor && out->start) {
        walk(m, out->start, NULL);
        for (int64_t v = 0; v <= n; v++) {
            const int64_t here = out->start[v];
            out->start[v] = cursor[v] = total;
            total += here;
        }
        out->entry = malloc((size_t)(total + 1) * sizeof *out->entry);
    }
    if (out->entry)
        walk(m, cursor, out->entry);
    free(cursor);
    return out->entry ? PL_OK : PL_NO_MEMORY;
}

static int64_t count_around(const around *a, int64_t vertex)
{
    return a->start[vertex + 1] - a->start[vertex];
}

/* ---- colours ---- */

/* The least colour that no vertex with a common term has. `taken` [colour] = vertex: a neighbour has it. */
static int32_t free_colour(const pl_model *m, const around *a, int64_t vertex,
                           const int16_t *colour_of, int64_t *taken)
{
    for (int64_t e = a->start[vertex]; e < a->start[vertex + 1]; e++) {
        const pl_group *g = &m->groups[a->entry[e].group];
        for (int32_t c = 0; c < g->ops->corners; c++) {
            const int32_t other = corner_of(g, a->entry[e].term, c);
            if (colour_of[other] >= 0)
                taken[colour_of[other]] = vertex;
        }
    }
    int32_t colour = 0;
    while (taken[colour] == vertex)
        colour++;
    return colour;
}

/* Colours of the vertices that move; returns their number, or -1: out of memory, or more than an int16_t counts. */
static int32_t choose_colours(const pl_model *m, const around *a, int16_t *colour_of)
{
    enum { MOST = INT16_MAX - 1 };
    int64_t *taken = malloc(((size_t)MOST + 1) * sizeof *taken);
    int32_t count = taken ? 0 : -1;
    for (int64_t k = 0; taken && k <= MOST; k++)
        taken[k] = -1;
    for (int64_t v = 0; v < m->vertices; v++)
        colour_of[v] = -1;
    for (int64_t v = 0; v < m->vertices && count >= 0; v++) {
        if (m->free_row[v] < 0)
            continue;
        const int32_t colour = free_colour(m, a, v, colour_of, taken);
        colour_of[v] = (int16_t)colour;
        count = colour >= MOST - 1 ? -1 : colour >= count ? colour + 1 : count;
    }
    free(taken);
    return count;
}

/* ---- packs ---- */

typedef struct ranked {
    int32_t colour, vertex;
    int64_t terms;
} ranked;

static int by_colour(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->colour != q->colour)
        return p->colour < q->colour ? -1 : 1;
    if (p->terms != q->terms)
        return p->terms > q->terms ? -1 : 1;
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static pl_status make_packs(const pl_model *m, const around *a, pl_sweep *s)
{
    int64_t count = 0;
    ranked *list = malloc((size_t)(m->free_vertices + 1) * sizeof *list);
    const int64_t most = m->free_vertices / PL_BLOCK + s->colours + 1;
    s->colour = calloc((size_t)s->colours + 1, sizeof *s->colour);
    s->vertex = malloc((size_t)most * PL_BLOCK * sizeof *s->vertex);
    s->used = calloc((size_t)most, sizeof *s->used);
    if (!list || !s->colour || !s->vertex || !s->used) {
        free(list);
        return PL_NO_MEMORY;
    }
    for (int64_t v = 0; v < m->vertices; v++)
        if (s->colour_of[v] >= 0)
            list[count++] = (ranked){s->colour_of[v], (int32_t)v, count_around(a, v)};
    qsort(list, (size_t)count, sizeof *list, by_colour);
    int64_t next = 0;
    for (int32_t k = 0; k < s->colours; k++) {
        s->colour[k] = s->packs;
        while (next < count && list[next].colour == k) {
            const int64_t first = next;
            for (int l = 0; l < PL_BLOCK; l++) {
                const bool used = next < count && list[next].colour == k;
                s->vertex[s->packs * PL_BLOCK + l] = list[used ? next : first].vertex;
                next += used;
            }
            s->used[s->packs++] = (int32_t)(next - first);
        }
    }
    s->colour[s->colours] = s->packs;
    free(list);
    return PL_OK;
}

/* Masses, diagonals and held coordinates by packs. Unused lanes have those of the lane that they repeat. */
static pl_status copy_vertices(const pl_model *m, pl_sweep *s)
{
    s->mass = pl_block_alloc(s->packs * PL_BLOCK, sizeof *s->mass);
    s->diagonal = pl_block_alloc(s->packs * PL_BLOCK, sizeof *s->diagonal);
    s->held = pl_block_alloc(s->packs * 3 * PL_BLOCK, sizeof *s->held);
    if (!s->mass || !s->diagonal || !s->held)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < s->packs * PL_BLOCK; i++) {
        const int32_t v = s->vertex[i];
        s->mass[i] = m->mass[v];
        s->diagonal[i] = pl_model_diagonal(m, m->free_row[v]);
        for (int k = 0; k < 3; k++)
            s->held[(i / PL_BLOCK * 3 + k) * PL_BLOCK + i % PL_BLOCK] = pl_model_holds(m, v, k);
    }
    return PL_OK;
}

/* ---- the groups' copies ---- */

/* A vertex's terms of one group. */
static int64_t terms_of(const around *a, int64_t vertex, int32_t group, const entry **first)
{
    int64_t e = a->start[vertex], count = 0;
    while (e < a->start[vertex + 1] && a->entry[e].group < group)
        e++;
    *first = a->entry + e;
    while (e + count < a->start[vertex + 1] && a->entry[e + count].group == group)
        count++;
    return count;
}

/* Fills a pack's blocks. Padding copies the lane's first term or, without one, that of another lane. */
static void place_pack(const around *a, const pl_sweep *s, int64_t pack, int32_t group,
                       pl_sweep_group *out)
{
    const int32_t *vertex = s->vertex + pack * PL_BLOCK;
    const int64_t b0 = out->first[pack], b1 = out->first[pack + 1];
    const entry *first[PL_BLOCK], *any = NULL;
    int64_t count[PL_BLOCK];
    for (int l = 0; l < PL_BLOCK; l++) {
        count[l] = l < s->used[pack] ? terms_of(a, vertex[l], group, &first[l]) : 0;
        any = !any && count[l] > 0 ? first[l] : any;
    }
    for (int64_t b = b0; b < b1; b++)
        for (int l = 0; l < PL_BLOCK; l++) {
            const bool padding = b - b0 >= count[l];
            const entry *e = !padding ? &first[l][b - b0] : count[l] > 0 ? first[l] : any;
            out->places.term[b * PL_BLOCK + l] = padding ? ~e->term : e->term;
            out->places.own[b * PL_BLOCK + l] = e->corner;
        }
}

static pl_status copy_group(const pl_model *m, const around *a, const pl_sweep *s, int32_t group,
                            pl_sweep_group *out)
{
    out->of = &m->groups[group];
    out->ops = out->of->ops->local;
    out->first = calloc((size_t)s->packs + 1, sizeof *out->first);
    if (!out->first)
        return PL_NO_MEMORY;
    for (int64_t p = 0; p < s->packs; p++) {
        int64_t most = 0;
        for (int l = 0; l < s->used[p]; l++) {
            const entry *first;
            const int64_t count = terms_of(a, s->vertex[p * PL_BLOCK + l], group, &first);
            most = count > most ? count : most;
        }
        out->first[p + 1] = out->first[p] + most;
    }
    out->places.blocks = out->first[s->packs];
    out->places.term = calloc((size_t)out->places.blocks * PL_BLOCK + 1, sizeof(int64_t));
    out->places.own = pl_block_alloc(out->places.blocks * PL_BLOCK, sizeof *out->places.own);
    if (!out->places.term || !out->places.own)
        return PL_NO_MEMORY;
    for (int64_t p = 0; p < s->packs; p++)
        place_pack(a, s, p, group, out);
    return out->ops->copy(out->of, &out->places, &out->copy);
}

static pl_status copy_groups(const pl_model *m, const around *a, pl_sweep *s)
{
    pl_status status = PL_OK;
    s->group = calloc((size_t)m->group_count + 1, sizeof *s->group);
    if (!s->group)
        return PL_NO_MEMORY;
    for (int32_t k = 0; k < m->group_count && status == PL_OK; k++) {
        if (m->groups[k].terms == 0)
            continue;
        assert(m->groups[k].ops->local); /* carries.c rejects the others */
        status = copy_group(m, a, s, k, &s->group[s->group_count++]);
    }
    return status;
}

void pl_sweep_destroy(pl_sweep *s)
{
    for (int32_t k = 0; k < s->group_count; k++) {
        pl_sweep_group *g = &s->group[k];
        if (g->copy.ops)
            g->ops->release(&g->copy);
        free(g->places.term);
        free(g->places.own);
        free(g->first);
    }
    free(s->group);
    free(s->colour);
    free(s->vertex);
    free(s->used);
    free(s->mass);
    free(s->diagonal);
    free(s->held);
    free(s->colour_of);
    *s = (pl_sweep){0};
}

pl_status pl_sweep_create(const pl_model *m, pl_sweep *out)
{
    pl_sweep s = {0};
    around a = {0};
    pl_status status = list_around(m, &a);
    s.colour_of = malloc((size_t)(m->vertices + 1) * sizeof *s.colour_of);
    if (status == PL_OK && s.colour_of)
        s.colours = choose_colours(m, &a, s.colour_of);
    if (!s.colour_of || s.colours < 0)
        status = PL_NO_MEMORY;
    if (status == PL_OK)
        status = make_packs(m, &a, &s);
    if (status == PL_OK)
        status = copy_vertices(m, &s);
    if (status == PL_OK)
        status = copy_groups(m, &a, &s);
    free(a.start);
    free(a.entry);
    if (status != PL_OK) {
        s.colours = 0;
        pl_sweep_destroy(&s);
        return status;
    }
    *out = s;
    return PL_OK;
}
