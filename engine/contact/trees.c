#include "engine/contact/trees.h"

#include <stdlib.h>
#include <string.h>

/* Refits are faster until neighbours in the order have moved apart: a build costs about three refits. */
#define GROWTH 1.5

void pl_contact_trees_destroy(pl_contact_trees *t)
{
    if (!t)
        return;
    pl_bvh_clear(&t->vertices);
    pl_bvh_clear(&t->edges);
    pl_bvh_clear(&t->triangles);
    pl_bvh_clear(&t->ropes);
    free(t->rope_corner);
    free(t);
}

static bool create_ropes(const pl_contact_surface *s, pl_contact_trees *t)
{
    t->rope_corner = malloc(((size_t)s->ropes + 1) * 2 * sizeof *t->rope_corner);
    if (!t->rope_corner)
        return false;
    for (int64_t i = 0; i < s->ropes; i++)
        memcpy(t->rope_corner + 2 * i, s->edge + 2 * (int64_t)s->rope[i], 2 * sizeof(int32_t));
    return pl_bvh_create(s->ropes, 2, t->rope_corner, &t->ropes) == PL_OK;
}

pl_status pl_contact_trees_create(const pl_contact_surface *s, pl_contact_trees **out)
{
    *out = NULL;
    pl_contact_trees *t = calloc(1, sizeof *t);
    if (!t)
        return PL_NO_MEMORY;
    t->surface = s;
    if (pl_bvh_create(s->vertices, 1, s->vertex, &t->vertices) != PL_OK ||
        pl_bvh_create(s->edges, 2, s->edge, &t->edges) != PL_OK ||
        pl_bvh_create(s->triangles, 3, s->triangle, &t->triangles) != PL_OK ||
        !create_ropes(s, t)) {
        pl_contact_trees_destroy(t);
        return PL_NO_MEMORY;
    }
    *out = t;
    return PL_OK;
}

static bool has_grown(const pl_bvh *b)
{
    return b->girth > GROWTH * b->girth_built;
}

static bool refit(pl_contact_trees *t, const pl_contact_move *move, int threads)
{
    pl_bvh *each[] = {&t->vertices, &t->edges, &t->triangles, &t->ropes};
    bool grown = false;
    for (int k = 0; k < 4; k++) {
        pl_bvh_refit(each[k], move, threads);
        grown = grown || has_grown(each[k]);
    }
    t->refits++;
    return !grown;
}

static pl_status build(pl_contact_trees *t, const pl_contact_move *move, int threads)
{
    pl_bvh *each[] = {&t->vertices, &t->edges, &t->triangles, &t->ropes};
    for (int k = 0; k < 4; k++)
        if (pl_bvh_build(each[k], move, threads) != PL_OK)
            return PL_NO_MEMORY;
    t->builds++;
    t->built = true;
    return PL_OK;
}

pl_status pl_contact_trees_update(pl_contact_trees *t, const double *x0, const double *x1,
                                  double reach, int threads)
{
    pl_contact_move move = {.x0 = x0, .x1 = x1, .reach = reach};
    if (pl_contact_move_bound(&move, t->surface->vertex, t->surface->vertices, threads) != PL_OK)
        return PL_FAILED;
    if (t->built && refit(t, &move, threads))
        return PL_OK;
    t->built = false;
    return build(t, &move, threads);
}
