#include "engine/contact/crossings.h"

#include "engine/contact/keys.h"
#include "engine/contact/visit.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>

/* Relative to a triangle's height, or to an edge's length across it: a crossing below this is a touch. */
static const double GRAZES = 1e-9;

typedef struct finder {
    const pl_contact_trees *trees;
    const pl_contact_filter *filter;
    const double *x, *x_others;
    pl_contact_keys *out;
} finder;

/* Six times the volume of a, b, c, d. */
static double volume(const double *a, const double *b, const double *c, const double *d)
{
    double e[3], f[3], g[3], n[3];
    pl_vector_subtract(b, a, e);
    pl_vector_subtract(c, a, f);
    pl_vector_subtract(d, a, g);
    pl_vector_cross(e, f, n);
    return pl_vector_dot(n, g);
}

static bool crosses(const double *p, const double *q, const double *const t[3])
{
    double up = volume(t[0], t[1], t[2], p), down = volume(t[0], t[1], t[2], q);
    if (!(up * down < 0) || !(fmin(fabs(up), fabs(down)) > GRAZES * fmax(fabs(up), fabs(down))))
        return false;
    double part[3], sum = 0;
    for (int k = 0; k < 3; k++)
        sum += part[k] = volume(p, q, t[k], t[(k + 1) % 3]);
    for (int k = 0; k < 3; k++)
        if (!(part[k] / sum > GRAZES))
            return false;
    return true;
}

static void take(void *context, int32_t edge, int32_t triangle)
{
    const finder *f = context;
    const pl_contact_surface *s = f->trees->surface;
    const int32_t *end = s->edge + 2 * (int64_t)edge, *corner = s->triangle + 3 * (int64_t)triangle;
    const double *t[3];
    for (int k = 0; k < 3; k++) {
        if (corner[k] == end[0] || corner[k] == end[1])
            return;
        t[k] = f->x + 3 * (int64_t)corner[k];
    }
    const double *x = s->edge_body[edge] == s->triangle_body[triangle] ? f->x : f->x_others;
    if (pl_contact_allows(f->filter, s->edge_body[edge], s->triangle_body[triangle]) &&
        crosses(x + 3 * (int64_t)end[0], x + 3 * (int64_t)end[1], t))
        pl_contact_keys_add(f->out, 0, edge, triangle);
}

static pl_status find_keys(const finder *whole, int threads, pl_contact_keys *out)
{
    const pl_bvh *edges = &whole->trees->edges;
    pl_contact_keys *part = calloc((size_t)threads, sizeof *part);
    *out = (pl_contact_keys){.bits = pl_contact_keys_bits(whole->trees->surface)};
    if (!part)
        return PL_NO_MEMORY;
    for (int p = 0; p < threads; p++)
        part[p].bits = out->bits;
    int32_t leaves = edges->levels ? edges->nodes[0] : 0;
    int next = 0;
#pragma omp parallel num_threads(threads)
    {
        finder f = *whole;
        int own;
#pragma omp atomic capture
        own = next++;
        f.out = &part[own];
#pragma omp for schedule(dynamic, 32)
        for (int32_t i = 0; i < leaves; i++)
            pl_bvh_visit(edges, i, &whole->trees->triangles, take, &f);
    }
    pl_status status = pl_contact_keys_gather(part, threads, threads, out);
    free(part);
    return status;
}

void pl_contact_crossings_clear(pl_contact_crossings *crossings)
{
    free(crossings->crossing);
    *crossings = (pl_contact_crossings){0};
}

pl_status pl_contact_crossings_find(const pl_contact_trees *trees, const double *x,
                                    const double *x_others, const pl_contact_filter *filter,
                                    int threads, pl_contact_crossings *out)
{
    const finder f = {trees, filter, x, x_others, NULL};
    pl_contact_keys keys;
    *out = (pl_contact_crossings){0};
    pl_status status = find_keys(&f, threads, &keys);
    if (status != PL_OK)
        return status;
    out->crossing = malloc(((size_t)keys.count + 1) * sizeof *out->crossing);
    for (int64_t i = 0; out->crossing && i < keys.count; i++)
        out->crossing[out->count++] =
            (pl_contact_crossing){pl_contact_key_feature(&keys, keys.key[i], 0),
                                  pl_contact_key_feature(&keys, keys.key[i], 1)};
    pl_contact_keys_clear(&keys);
    return out->crossing ? PL_OK : PL_NO_MEMORY;
}
