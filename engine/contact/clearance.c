#include "engine/contact/clearance.h"

#include "engine/contact/ccd.h"
#include "engine/contact/search.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the mean edge: a search extends this far beyond the reach, so that it also covers later moves. */
static const double BEYOND = 0.15;
/* Maximum number of bodies whose pairs are examined one by one. */
enum { BODIES = 256 };
/* A bound of a displacement's rounding error, relative. */
static const double ROUNDED = 1 + 0x1p-40;
/* A margin on proofs for later moves, so that a new search there also proves them. */
static const double ROOM = 1 + 0x1p-20;

pl_status pl_clearance_init(pl_clearance *c, const pl_contact_bodies *bodies)
{
    const size_t vertices = (size_t)bodies->surface->scene_vertices, count = (size_t)bodies->count;
    *c = (pl_clearance){.x = malloc((3 * vertices + 1) * sizeof *c->x),
                        .box = malloc((6 * count + 1) * sizeof *c->box),
                        .drift = malloc((8 * count + 1) * sizeof *c->drift),
                        .vertices = calloc(count + 1, sizeof *c->vertices)};
    if (!c->x || !c->box || !c->drift || !c->vertices)
        return PL_NO_MEMORY;
    for (int32_t i = 0; i < bodies->surface->vertices; i++)
        c->vertices[bodies->surface->vertex_body[i]]++;
    return PL_OK;
}

void pl_clearance_clear(pl_clearance *c)
{
    free(c->x);
    free(c->box);
    free(c->drift);
    free(c->vertices);
    *c = (pl_clearance){0};
}

/* ---- search ---- */

/* A minimum that threads lower. Positive doubles are ordered like their bits. */
typedef _Atomic uint64_t least;

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double value_of(const least *l)
{
    const uint64_t bits = atomic_load_explicit(l, memory_order_relaxed);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void lower(least *l, double value)
{
    const uint64_t bits = bits_of(fmax(value, 0));
    uint64_t now = atomic_load_explicit(l, memory_order_relaxed);
    while (bits < now && !atomic_compare_exchange_weak_explicit(l, &now, bits, memory_order_relaxed,
                                                                memory_order_relaxed))
        ;
}

typedef struct looker {
    const pl_contact_surface *s;
    const double *x0, *x1;
    double reach;
    least *self, *others;
} looker;

static void judge(const void *context, pl_contact_kind kind, int32_t a, int32_t b,
                  pl_contact_keys *out)
{
    (void)out;
    const looker *k = context;
    const pl_contact_surface *s = k->s;
    if (value_of(k->self) <= k->reach || value_of(k->others) <= k->reach)
        return;
    int32_t vertex[4];
    const double *x0[4], *x1[4];
    const int all = pl_contact_surface_corners(s, kind, a, b, vertex),
              first = pl_contact_corners[kind][0];
    for (int i = 0; i < all; i++) {
        x0[i] = k->x0 + 3 * (int64_t)vertex[i];
        x1[i] = k->x1 + 3 * (int64_t)vertex[i];
    }
    const bool own = s->vertex_body[s->place[vertex[0]]] == s->vertex_body[s->place[vertex[first]]];
    lower(own ? k->self : k->others, pl_ccd_apart(kind, x0, x1));
}

pl_status pl_clearance_find(pl_clearance *c, const pl_contact_bodies *bodies,
                            pl_contact_trees *trees, const double *x0, const double *x1,
                            double reach, int threads)
{
    const double far = reach + BEYOND * bodies->edge;
    const pl_contact_filter filter = {bodies->count, bodies->ignore};
    least self = bits_of(far), others = bits_of(far);
    const looker k = {bodies->surface, x0, x1, reach, &self, &others};
    pl_contact_work work = {.most = pl_contact_most_work(bodies->surface)};
    const pl_contact_search search = {trees, &filter, judge, &k, true, &work};
    pl_contact_keys keys = {0};
    c->known = false;
    pl_status status = pl_contact_trees_update(trees, x0, x1, far, threads);
    if (status == PL_OK)
        status = pl_contact_search_run(&search, threads, &keys);
    pl_contact_keys_clear(&keys);
    if (status != PL_OK)
        return status;
    c->self = value_of(&self);
    c->others = value_of(&others);
    c->known = c->self > reach && c->others > reach && work.done <= work.most;
    if (c->known)
        memcpy(c->x, x1, 3 * (size_t)bodies->surface->scene_vertices * sizeof *c->x);
    return PL_OK;
}

/* ---- proofs ---- */

/* The mean displacement of each body's surface between two positions, and the largest deviation from it. */
static void find_drift(const pl_clearance *c, const pl_contact_bodies *bodies, const double *from,
                       const double *x, int end)
{
    const pl_contact_surface *s = bodies->surface;
    for (int32_t b = 0; b < bodies->count; b++)
        memset(c->drift + 8 * (int64_t)b + 4 * end, 0, 4 * sizeof *c->drift);
    for (int32_t i = 0; i < s->vertices; i++) {
        double *drift = c->drift + 8 * (int64_t)s->vertex_body[i] + 4 * end;
        const int64_t at = 3 * (int64_t)s->vertex[i];
        for (int k = 0; k < 3; k++)
            drift[k] += (x[at + k] - from[at + k]) / c->vertices[s->vertex_body[i]];
    }
    for (int32_t i = 0; i < s->vertices; i++) {
        double *drift = c->drift + 8 * (int64_t)s->vertex_body[i] + 4 * end, off[3];
        const int64_t at = 3 * (int64_t)s->vertex[i];
        for (int k = 0; k < 3; k++)
            off[k] = x[at + k] - from[at + k] - drift[k];
        const double square = pl_vector_dot(off, off);
        if (!(square <= drift[3])) /* NaN stays: all of the body's are */
            drift[3] = square;
    }
    for (int32_t b = 0; b < bodies->count; b++)
        c->drift[8 * (int64_t)b + 4 * end + 3] = sqrt(c->drift[8 * (int64_t)b + 4 * end + 3]) *
                                                 ROUNDED;
}

static void find_boxes(const pl_clearance *c, const pl_contact_bodies *bodies, const double *x0,
                       const double *x1)
{
    const pl_contact_surface *s = bodies->surface;
    for (int64_t i = 0; i < 6 * (int64_t)bodies->count; i++)
        c->box[i] = i % 6 < 3 ? INFINITY : -INFINITY;
    for (int32_t i = 0; i < s->vertices; i++) {
        double *box = c->box + 6 * (int64_t)s->vertex_body[i];
        for (int k = 0; k < 3; k++) {
            const double p = x0[3 * (int64_t)s->vertex[i] + k],
                         q = x1[3 * (int64_t)s->vertex[i] + k];
            box[k] = fmin(box[k], fmin(p, q));
            box[3 + k] = fmax(box[3 + k], fmax(p, q));
        }
    }
}

/* A lower bound of the distance of two bodies' boxes. */
static double between(const double *a, const double *b)
{
    double most = 0;
    for (int k = 0; k < 3; k++)
        most = fmax(most, fmax(a[k] - b[3 + k], b[k] - a[3 + k]));
    return most;
}

/* An upper bound of the approach of two bodies' features at an end of the move. */
static double approach(const double *a, const double *b)
{
    double between_means[3];
    pl_vector_subtract(a, b, between_means);
    return sqrt(pl_vector_dot(between_means, between_means)) * ROUNDED + a[3] + b[3];
}

static bool others_stay(const pl_clearance *c, const pl_contact_bodies *bodies, double reach)
{
    for (int32_t a = 0; a < bodies->count; a++)
        for (int32_t b = a + 1; b < bodies->count; b++) {
            if (bodies->ignore[pl_contact_bodies_at(bodies, a, b)] ||
                between(c->box + 6 * (int64_t)a, c->box + 6 * (int64_t)b) > reach)
                continue;
            const double *p = c->drift + 8 * (int64_t)a, *q = c->drift + 8 * (int64_t)b;
            if (!(c->others - fmax(approach(p, q), approach(p + 4, q + 4)) > reach))
                return false;
        }
    return true;
}

bool pl_clearance_covers(pl_clearance *c, const pl_contact_bodies *bodies, const double *x0,
                         const double *x1, double reach)
{
    if (!c->known || bodies->count > BODIES)
        return false;
    reach *= ROOM;
    find_drift(c, bodies, c->x, x0, 0);
    find_drift(c, bodies, c->x, x1, 1);
    for (int32_t b = 0; b < bodies->count; b++) {
        const double *drift = c->drift + 8 * (int64_t)b, most = fmax(drift[3], drift[7]);
        if (!isfinite(drift[3] + drift[7]))
            return false;
        if (!bodies->ignore[pl_contact_bodies_at(bodies, b, b)] && !(c->self - 2 * most > reach))
            return false;
    }
    if (bodies->count == 1)
        return true;
    find_boxes(c, bodies, x0, x1);
    return others_stay(c, bodies, reach);
}
