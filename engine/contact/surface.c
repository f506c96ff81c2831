#include "engine/contact/surface.h"

#include "engine/contact/radix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 28 };

void pl_contact_surface_destroy(pl_contact_surface *s)
{
    if (!s)
        return;
    int32_t *arrays[] = {s->vertex,        s->vertex_body,   s->place,     s->vertex_first,
                         s->vertex_edge,   s->edge,          s->edge_body, s->edge_first,
                         s->edge_triangle, s->edge_opposite, s->triangle,  s->triangle_edge,
                         s->triangle_body, s->rope};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        free(arrays[k]);
    free(s->turned);
    free(s->solid);
    free(s);
}

/* ---- checks ---- */

static bool is_feature(const pl_contact_source *source, const int32_t *corner, int corners)
{
    for (int k = 0; k < corners; k++) {
        if (corner[k] < 0 || corner[k] >= source->vertices)
            return false;
        for (int j = 0; j < k; j++)
            if (corner[j] == corner[k])
                return false;
        if (source->body[corner[k]] < 0 || source->body[corner[k]] != source->body[corner[0]])
            return false;
    }
    return true;
}

static bool is_valid(const pl_contact_source *source)
{
    if (source->vertices < 0 || source->triangles < 0 || source->triangles > MOST ||
        source->segments < 0 || source->segments > MOST)
        return false;
    for (int64_t t = 0; t < source->triangles; t++)
        if (!is_feature(source, source->triangle + 3 * t, 3))
            return false;
    for (int64_t e = 0; e < source->segments; e++)
        if (!is_feature(source, source->segment + 2 * e, 2))
            return false;
    return true;
}

/* ---- triangles ---- */

static int32_t *integers(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(int32_t));
}

/* True if sorting the corners took an odd number of swaps. */
static bool sort_corners(int32_t *corner)
{
    bool odd = false;
    for (int k = 0; k < 3; k++) {
        int i = k % 2;
        if (corner[i] > corner[i + 1]) {
            int32_t low = corner[i + 1];
            corner[i + 1] = corner[i];
            corner[i] = low;
            odd = !odd;
        }
    }
    return odd;
}

static bool set_triangles(const pl_contact_source *source, pl_contact_surface *s)
{
    s->triangles = source->triangles;
    s->triangle = integers(3 * (int64_t)s->triangles);
    s->triangle_edge = integers(3 * (int64_t)s->triangles);
    s->triangle_body = integers(s->triangles);
    s->turned = calloc((size_t)s->triangles + 1, 1);
    if (!s->triangle || !s->triangle_edge || !s->triangle_body || !s->turned)
        return false;
    for (int64_t t = 0; t < s->triangles; t++) {
        memcpy(s->triangle + 3 * t, source->triangle + 3 * t, 3 * sizeof *s->triangle);
        s->turned[t] = sort_corners(s->triangle + 3 * t);
        s->triangle_body[t] = source->body[s->triangle[3 * t]];
    }
    return true;
}

/* ---- edges ---- */

/* The sides of all triangles, then the segments, sorted by their two vertices. Value 3 t + k is side k of triangle
 * t, 3 triangles + i is segment i; the stable sort keeps these ascending. */
typedef struct sides {
    int64_t count;
    int bits; /* of a vertex's index */
    pl_radix_items items, scratch;
} sides;

static void sides_clear(sides *h)
{
    free(h->items.key);
    free(h->items.value);
    free(h->scratch.key);
    free(h->scratch.value);
}

static uint64_t key_of(const sides *h, int32_t a, int32_t b)
{
    return a < b ? (uint64_t)a << h->bits | (uint64_t)b : (uint64_t)b << h->bits | (uint64_t)a;
}

static bool sides_create(const pl_contact_source *source, const pl_contact_surface *s, sides *h)
{
    h->count = 3 * (int64_t)s->triangles + source->segments;
    h->bits = pl_radix_bits(source->vertices);
    size_t n = (size_t)h->count + 1;
    h->items.key = malloc(n * sizeof(uint64_t));
    h->scratch.key = malloc(n * sizeof(uint64_t));
    h->items.value = malloc(n * sizeof(int32_t));
    h->scratch.value = malloc(n * sizeof(int32_t));
    if (!h->items.key || !h->scratch.key || !h->items.value || !h->scratch.value)
        return false;
    for (int64_t i = 0; i < h->count; i++) {
        const int64_t segment = i - 3 * (int64_t)s->triangles;
        const int *side = pl_contact_side[i % 3];
        const int32_t *of = segment < 0 ? s->triangle + i / 3 * 3 : source->segment + 2 * segment;
        h->items.key[i] = segment < 0 ? key_of(h, of[side[0]], of[side[1]])
                                      : key_of(h, of[0], of[1]);
        h->items.value[i] = (int32_t)i;
    }
    return pl_radix_sort(h->count, 2 * h->bits, &h->items, &h->scratch, 1);
}

static int32_t count_distinct(const sides *h)
{
    int32_t count = 0;
    for (int64_t i = 0; i < h->count; i++)
        count += i == 0 || h->items.key[i] != h->items.key[i - 1];
    return count;
}

static bool allocate_edges(pl_contact_surface *s, int32_t edges)
{
    s->edges = edges;
    s->edge = integers(2 * (int64_t)edges);
    s->edge_body = integers(edges);
    s->edge_first = integers((int64_t)edges + 1);
    s->edge_triangle = integers(3 * (int64_t)s->triangles);
    s->edge_opposite = integers(3 * (int64_t)s->triangles);
    return s->edge && s->edge_body && s->edge_first && s->edge_triangle && s->edge_opposite;
}

static void fill_edges(const pl_contact_source *source, const sides *h, pl_contact_surface *s)
{
    int32_t e = -1, used = 0;
    for (int64_t i = 0; i < h->count; i++) {
        uint64_t key = h->items.key[i];
        if (i == 0 || key != h->items.key[i - 1]) {
            e++;
            s->edge[2 * (int64_t)e] = (int32_t)(key >> h->bits);
            s->edge[2 * (int64_t)e + 1] = (int32_t)(key & (((uint64_t)1 << h->bits) - 1));
            s->edge_body[e] = source->body[s->edge[2 * (int64_t)e]];
        }
        int32_t side = h->items.value[i];
        if (side < 3 * (int64_t)s->triangles) {
            s->triangle_edge[side] = e;
            s->edge_triangle[used] = side / 3;
            s->edge_opposite[used++] = s->triangle[side / 3 * 3 + pl_contact_side[side % 3][2]];
        }
        s->edge_first[e + 1] = used;
    }
}

static bool set_edges(const pl_contact_source *source, pl_contact_surface *s)
{
    sides h = {0};
    bool done = sides_create(source, s, &h) && allocate_edges(s, count_distinct(&h));
    if (done)
        fill_edges(source, &h, s);
    sides_clear(&h);
    return done;
}

static bool set_ropes(pl_contact_surface *s)
{
    for (int32_t e = 0; e < s->edges; e++)
        s->ropes += s->edge_first[e] == s->edge_first[e + 1];
    s->rope = integers(s->ropes);
    if (!s->rope)
        return false;
    int32_t *to = s->rope;
    for (int32_t e = 0; e < s->edges; e++)
        if (s->edge_first[e] == s->edge_first[e + 1])
            *to++ = e;
    return true;
}

/* ---- vertices ---- */

static bool number_vertices(const pl_contact_source *source, pl_contact_surface *s)
{
    s->scene_vertices = source->vertices;
    s->place = integers(source->vertices);
    if (!s->place)
        return false;
    for (int64_t i = 0; i < 2 * (int64_t)s->edges; i++)
        s->place[s->edge[i]] = 1;
    for (int32_t v = 0; v < source->vertices; v++)
        s->place[v] = s->place[v] ? s->vertices++ : -1;
    s->vertex = integers(s->vertices);
    s->vertex_body = integers(s->vertices);
    if (!s->vertex || !s->vertex_body)
        return false;
    for (int32_t v = 0; v < source->vertices; v++)
        if (s->place[v] >= 0) {
            s->vertex[s->place[v]] = v;
            s->vertex_body[s->place[v]] = source->body[v];
            s->bodies = source->body[v] >= s->bodies ? source->body[v] + 1 : s->bodies;
        }
    s->solid = calloc((size_t)s->bodies + 1, sizeof *s->solid);
    if (s->solid && source->solid)
        memcpy(s->solid, source->solid, (size_t)s->bodies * sizeof *s->solid);
    return s->solid;
}

/* Edges come in ascending order, so every vertex receives them in that order. */
static bool join_vertices(pl_contact_surface *s)
{
    s->vertex_first = integers((int64_t)s->vertices + 1);
    s->vertex_edge = integers(2 * (int64_t)s->edges);
    int32_t *next = integers(s->vertices);
    bool done = s->vertex_first && s->vertex_edge && next;
    if (done) {
        for (int64_t i = 0; i < 2 * (int64_t)s->edges; i++)
            s->vertex_first[s->place[s->edge[i]] + 1]++;
        for (int32_t v = 0; v < s->vertices; v++) {
            s->vertex_first[v + 1] += s->vertex_first[v];
            next[v] = s->vertex_first[v];
        }
        for (int64_t i = 0; i < 2 * (int64_t)s->edges; i++)
            s->vertex_edge[next[s->place[s->edge[i]]]++] = (int32_t)(i / 2);
    }
    free(next);
    return done;
}

pl_status pl_contact_surface_create(const pl_contact_source *source, pl_contact_surface **out)
{
    *out = NULL;
    if (!is_valid(source))
        return PL_INVALID;
    pl_contact_surface *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    if (!set_triangles(source, s) || !set_edges(source, s) || !set_ropes(s) ||
        !number_vertices(source, s) || !join_vertices(s)) {
        pl_contact_surface_destroy(s);
        return PL_NO_MEMORY;
    }
    *out = s;
    return PL_OK;
}

/* The corners of a vertex, edge or triangle, which has 1, 2 or 3 of them. */
static const int32_t *corners_of(const pl_contact_surface *s, int count, int32_t feature)
{
    return count == 1   ? s->vertex + feature
           : count == 2 ? s->edge + 2 * (int64_t)feature
                        : s->triangle + 3 * (int64_t)feature;
}

int pl_contact_surface_corners(const pl_contact_surface *s, pl_contact_kind kind, int32_t first,
                               int32_t second, int32_t vertex[4])
{
    const int own = pl_contact_corners[kind][0], all = own + pl_contact_corners[kind][1];
    for (int k = 0; k < 4; k++)
        vertex[k] = k < own   ? corners_of(s, own, first)[k]
                    : k < all ? corners_of(s, all - own, second)[k - own]
                              : -1;
    return all;
}
