/* One thread's part of a search; compiled once per instruction set, because it compares eight boxes at a time.
 * Comparisons have the same results on all of them. */
#include "engine/contact/search.h"
#include "engine/contact/visit.h"

#define PART__(isa) pl_contact_search_part_##isa
#define PART_(isa)  PART__(isa)

/* Number of leaves that a thread takes at once. */
enum { CHUNK = 32 };

typedef struct worker {
    const pl_contact_search *search;
    const pl_contact_surface *s;
    pl_contact_keys *out;
    int64_t reported; /* of the work in `out` */
} worker;

static inline void judge(worker *w, pl_contact_kind kind, int32_t a, int32_t b)
{
    w->out->work++;
    w->search->judge(w->search->context, kind, a, b, w->out);
}

/* Reports the work since the last report; false if it is too much. */
static bool may_go_on(worker *w)
{
    pl_contact_work *work = w->search->work;
    if (!work)
        return true;
    const int64_t more = w->out->work - w->reported;
    const int64_t before = atomic_fetch_add_explicit(&work->done, more, memory_order_relaxed);
    w->reported = w->out->work;
    return before + more <= work->most;
}

static void take_triangle(void *context, int32_t vertex, int32_t triangle)
{
    worker *w = context;
    const int32_t *corner = w->s->triangle + 3 * (int64_t)triangle, v = w->s->vertex[vertex];
    if (v != corner[0] && v != corner[1] && v != corner[2] &&
        pl_contact_allows(w->search->filter, w->s->vertex_body[vertex],
                          w->s->triangle_body[triangle]))
        judge(w, PL_CONTACT_VERTEX_TRIANGLE, vertex, triangle);
}

static void take_edge(void *context, int32_t one, int32_t other)
{
    worker *w = context;
    const int32_t *a = w->s->edge + 2 * (int64_t)one, *b = w->s->edge + 2 * (int64_t)other;
    if (a[0] != b[0] && a[0] != b[1] && a[1] != b[0] && a[1] != b[1] &&
        pl_contact_allows(w->search->filter, w->s->edge_body[one], w->s->edge_body[other]))
        judge(w, PL_CONTACT_EDGE_EDGE, one < other ? one : other, one < other ? other : one);
}

static void take_rope(void *context, int32_t vertex, int32_t rope)
{
    worker *w = context;
    int32_t edge = w->s->rope[rope], v = w->s->vertex[vertex];
    const int32_t *end = w->s->edge + 2 * (int64_t)edge;
    if (v != end[0] && v != end[1] &&
        pl_contact_allows(w->search->filter, w->s->vertex_body[vertex], w->s->edge_body[edge]))
        judge(w, PL_CONTACT_VERTEX_EDGE, vertex, edge);
}

void PART_(PL_ISA)(const pl_contact_search *search, pl_contact_keys *out)
{
    const pl_contact_trees *t = search->trees;
    worker w = {search, t->surface, out, out->work};
    int32_t vertex_leaves = t->vertices.levels ? t->vertices.nodes[0] : 0;
    int32_t edge_leaves = t->edges.levels ? t->edges.nodes[0] : 0;
#pragma omp for schedule(dynamic, CHUNK) nowait
    for (int32_t i = 0; i < edge_leaves; i++)
        if (may_go_on(&w))
            pl_bvh_visit(&t->edges, i, &t->edges, take_edge, &w);
#pragma omp for schedule(dynamic, CHUNK) nowait
    for (int32_t i = 0; i < vertex_leaves; i++) {
        if (!may_go_on(&w))
            continue;
        pl_bvh_visit(&t->vertices, i, &t->triangles, take_triangle, &w);
        if (search->ropes)
            pl_bvh_visit(&t->vertices, i, &t->ropes, take_rope, &w);
    }
    may_go_on(&w);
}
