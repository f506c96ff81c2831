/* Bodies that start nearer to each other than contact keeps them: preflight's report, without a model's matrix and
 * factor. */
#include "engine/contact/pairs.h"
#include "engine/model/build/build.h"
#include "engine/step/pliant.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the distance that contact keeps: gaps that fall short by no more than this are wide enough, as in a
 * step; and the extra distance of a move. */
static const double FITS = 0.05, SPARE = 1.05;

typedef struct search {
    pl_build build;
    pl_model model; /* bodies, their start and their contacts; nothing else */
    pl_contact_trees *trees;
    double *moved; /* [vertices][3] */
    pl_contact_pairs pairs;
} search;

static void clear(search *s)
{
    pl_model *m = &s->model;
    void *const arrays[] = {m->first_vertex, m->first_tet, m->first_triangle, m->thickness, m->mass,
                            m->x0,           m->v0,        s->moved};
    pl_contact_pairs_clear(&s->pairs);
    pl_contact_trees_destroy(s->trees);
    pl_contact_bodies_destroy(m->touching);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    pl_layout_destroy(&s->build.layout);
}

static pl_status open_search(search *s)
{
    pl_model *m = &s->model;
    pl_faults faults = {0};
    pl_status status = pl_layout_create(s->build.scene, s->build.meshes, &s->build.layout, &faults);
    pl_faults_clear(&faults);
    if (status != PL_OK)
        return status;
    m->vertices = s->build.layout.vertices;
    m->body_count = s->build.scene->body_count;
    s->build.model = m;
    s->build.tets = s->build.layout.elements[PL_ELEMENT_TET].corner;
    s->moved = malloc(3 * (size_t)m->vertices * sizeof *s->moved);
    status = s->moved ? pl_build_bodies(&s->build) : PL_NO_MEMORY;
    if (status == PL_OK)
        status = pl_build_touching(&s->build);
    return status == PL_OK && m->touching ? pl_contact_trees_create(m->touching->surface, &s->trees)
                                          : status;
}

/* The pairs within the distance that contact keeps, at x; none if positions are not finite. */
static pl_status find_near(search *s, const double *x)
{
    const pl_contact_bodies *t = s->model.touching;
    const pl_contact_filter filter = {t->count, t->ignore};
    const pl_contact_rules rules = {.reach = t->most, .widen = 1, .filter = &filter};
    pl_contact_pairs_clear(&s->pairs);
    pl_status status = pl_contact_trees_update(s->trees, x, x, t->most, 1);
    if (status == PL_OK)
        status = pl_contact_pairs_find(s->trees, x, &rules, 1, &s->pairs);
    return status == PL_FAILED ? PL_OK : status;
}

/* True if a pair is of two bodies that are too near; writes them, the lower first. */
static bool too_near(const search *s, const pl_contact_pair *pair, int32_t body[2], double *kept)
{
    const pl_contact_bodies *t = s->model.touching;
    pl_contact_bodies_of(t, pair, body);
    if (body[1] < body[0]) {
        const int32_t lower = body[1];
        body[1] = body[0];
        body[0] = lower;
    }
    *kept = t->distance[pl_contact_bodies_at(t, body[0], body[1])];
    return body[0] != body[1] && pair->gap < (1 - FITS) * *kept;
}

static int by_bodies(const void *one, const void *other)
{
    const pl_close_start *a = one, *b = other;
    for (int k = 0; k < 2; k++)
        if (a->body[k] != b->body[k])
            return a->body[k] < b->body[k] ? -1 : 1;
    return (a->gap > b->gap) - (a->gap < b->gap);
}

/* Corners of a pair, in each body's mesh order; writes the normal out of the first body into the second to move. */
static void describe(const search *s, const pl_contact_pair *pair, pl_close_start *out)
{
    int32_t body[2], last = 3;
    pl_contact_bodies_of(s->model.touching, pair, body);
    while (pair->vertex[last] < 0)
        last--;
    const int32_t corner[] = {pair->vertex[0], pair->vertex[last]};
    const bool turned = body[0] != out->body[0];
    for (int k = 0; k < 2; k++) {
        const int64_t first = s->model.first_vertex[out->body[k]];
        out->vertex[k] = (int32_t)(corner[turned ? 1 - k : k] - first);
    }
    for (int c = 0; c < 3; c++)
        out->move[c] = turned ? pair->normal[c] : -pair->normal[c];
    out->gap = pair->gap;
}

/* One entry per pair of bodies, with the least gap. */
static pl_status list_pairs(const search *s, pl_close_start **out, int64_t *count)
{
    pl_close_start *list = calloc((size_t)s->pairs.count + 1, sizeof *list);
    int64_t all = 0, n = 0;
    if (!list)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < s->pairs.count; i++) {
        pl_close_start *to = &list[all];
        if (too_near(s, &s->pairs.pair[i], to->body, &to->kept)) {
            describe(s, &s->pairs.pair[i], to);
            all++;
        }
    }
    qsort(list, (size_t)all, sizeof *list, by_bodies);
    for (int64_t i = 0; i < all; i++)
        if (n == 0 || memcmp(list[i].body, list[n - 1].body, sizeof list[i].body) != 0)
            list[n++] = list[i];
    *out = list;
    *count = n;
    return PL_OK;
}

/* ---- suggested moves ---- */

static bool is_pinned(const pl_scene *scene, int32_t body)
{
    bool pinned = false;
    for (int32_t k = 0; k < scene->pin_count; k++)
        pinned = pinned || scene->pins[k].body == body;
    return pinned;
}

/* True if nothing is too near to a body after its move. */
static pl_status clears(search *s, int32_t body, const double move[3], bool *good)
{
    const pl_model *m = &s->model;
    memcpy(s->moved, m->x0, 3 * (size_t)m->vertices * sizeof *s->moved);
    for (int64_t i = m->first_vertex[body]; i < m->first_vertex[body + 1]; i++)
        for (int c = 0; c < 3; c++)
            s->moved[3 * i + c] += move[c];
    pl_status status = find_near(s, s->moved);
    *good = true;
    for (int64_t i = 0; status == PL_OK && i < s->pairs.count; i++) {
        int32_t pair[2];
        double kept;
        if (too_near(s, &s->pairs.pair[i], pair, &kept) && (pair[0] == body || pair[1] == body))
            *good = false;
    }
    return status;
}

/* Along the direction in which the two are nearest. It moves the one that no pin holds and that, over obstacles,
 * moves upwards. */
static pl_status find_move(search *s, pl_close_start *pair)
{
    const pl_scene *scene = s->build.scene;
    const double way = SPARE * pair->kept - pair->gap;
    const bool sinks = scene->obstacle_count > 0 && pl_vector_dot(pair->move, scene->gravity) > 0;
    const bool held[] = {is_pinned(scene, pair->body[0]), is_pinned(scene, pair->body[1])};
    int first = held[1] && !held[0] ? 0 : held[0] && !held[1] ? 1 : !sinks;
    double normal[3];
    memcpy(normal, pair->move, sizeof normal);
    pair->moved = -1;
    for (int k = 0; k < 2; k++) {
        const int which = k ? 1 - first : first;
        bool good;
        for (int c = 0; c < 3; c++)
            pair->move[c] = fabs(normal[c]) < 1e-6 ? 0 : (which ? way : -way) * normal[c];
        pl_status status = clears(s, pair->body[which], pair->move, &good);
        if (status != PL_OK)
            return status;
        if (good) {
            pair->moved = pair->body[which];
            return PL_OK;
        }
    }
    return PL_OK;
}

pl_status pl_scene_close_starts(const pl_scene *scene, const pl_mesh *meshes, pl_close_start **out,
                                int64_t *count)
{
    search s = {.build = {.scene = scene, .meshes = meshes}};
    *out = NULL;
    *count = 0;
    if (!scene->contact.enabled || scene->body_count < 2)
        return PL_OK;
    pl_status status = open_search(&s);
    if (status == PL_OK && s.model.touching)
        status = find_near(&s, s.model.x0);
    if (status == PL_OK && s.model.touching)
        status = list_pairs(&s, out, count);
    for (int64_t i = 0; status == PL_OK && i < *count; i++)
        status = find_move(&s, &(*out)[i]);
    clear(&s);
    if (status != PL_OK) {
        free(*out);
        *out = NULL;
        *count = 0;
    }
    return status == PL_INVALID ? PL_OK : status;
}
