/* search.h - candidates: pairs of features that may touch and whose boxes overlap; private to engine/contact. */
#ifndef PLIANT_ENGINE_CONTACT_SEARCH_H
#define PLIANT_ENGINE_CONTACT_SEARCH_H

#include "engine/contact/filter.h"
#include "engine/contact/keys.h"
#include "engine/contact/trees.h"
#include "engine/isa.h"

#include <stdatomic.h>

/* Judges a candidate and adds the pairs that it stands for. Several threads call it at once, in any order, exactly
 * once for each candidate. Vertices, edges and triangles are the surface's. */
typedef void pl_contact_judge(const void *context, pl_contact_kind kind, int32_t a, int32_t b,
                              pl_contact_keys *out);

/* Bounds the time and the memory of a search, which ends early, with some of its keys, once it has too much work. A
 * candidate counts as one, and `judge` adds to keys->work what it takes besides. Whether it is too much does not depend
 * on threads. */
typedef struct pl_contact_work {
    int64_t most; /* maximum */
    _Atomic int64_t done;
} pl_contact_work;

typedef struct pl_contact_search {
    const pl_contact_trees *trees;
    const pl_contact_filter *filter; /* NULL: everything may touch everything */
    pl_contact_judge *judge;
    const void *context;
    bool ropes;            /* also vertices against ropes' edges */
    pl_contact_work *work; /* NULL: unbounded */
} pl_contact_search;

/* A bound that only extreme moves reach: 1000 for each edge and vertex, at least a million. A sweep of sheets in eight
 * layers takes 50. */
static inline int64_t pl_contact_most_work(const pl_contact_surface *s)
{
    const int64_t most = 1000 * ((int64_t)s->edges + s->vertices);
    return most > 1000000 ? most : 1000000;
}

/* The work of one thread of a team: collects the keys of its leaves. */
typedef void pl_contact_search_part(const pl_contact_search *search, pl_contact_keys *out);
PL_ISA_DECLARE(pl_contact_search_part, pl_contact_search_part);

/* Judges every pair of a vertex and a triangle, of two edges and, with `ropes`, of a vertex and a rope's edge, if
 * their boxes overlap, they have no common vertex, and the filter allows them. The keys are sorted. PL_OK or
 * PL_NO_MEMORY. */
pl_status pl_contact_search_run(const pl_contact_search *search, int threads, pl_contact_keys *out);

#endif
