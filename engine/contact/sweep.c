#include "engine/contact/sweep.h"

#include "engine/contact/measure.h"
#include "engine/contact/search.h"

#include <stdlib.h>

typedef struct sweeper {
    const pl_contact_surface *s;
    const double *x0, *x1;
    const pl_ccd_limits *limits;
} sweeper;

static pl_ccd_impact impact_of(const sweeper *w, pl_contact_kind kind, int32_t a, int32_t b)
{
    int32_t vertex[4];
    const double *x0[4], *x1[4];
    const int all = pl_contact_surface_corners(w->s, kind, a, b, vertex);
    for (int k = 0; k < all; k++) {
        x0[k] = w->x0 + 3 * (int64_t)vertex[k];
        x1[k] = w->x1 + 3 * (int64_t)vertex[k];
    }
    pl_ccd_impact out = pl_ccd_find(kind, x0, x1, w->limits);
    if (!out.hit || out.capped || out.time > 0)
        return out;
    double facing[3];
    pl_contact_outward(w->s, w->x0, kind, a, b, facing);
    return pl_ccd_find_close(kind, x0, x1, w->limits, facing);
}

/* Work of a hit, which becomes a row, beside its iterations. */
enum { OF_A_HIT = 10 };

static void judge(const void *context, pl_contact_kind kind, int32_t a, int32_t b,
                  pl_contact_keys *out)
{
    const pl_ccd_impact impact = impact_of(context, kind, a, b);
    out->work += impact.iterations;
    if (!impact.hit)
        return;
    out->work += OF_A_HIT;
    pl_contact_keys_add(out, kind, a, b);
}

void pl_contact_impacts_clear(pl_contact_impacts *impacts)
{
    free(impacts->impact);
    *impacts = (pl_contact_impacts){.earliest = -1};
}

static void make_impacts(const sweeper *w, const pl_contact_keys *keys, pl_contact_impacts *out)
{
    out->count = keys->count;
    for (int64_t i = 0; i < keys->count; i++) {
        pl_contact_impact *to = &out->impact[i];
        *to = (pl_contact_impact){.kind = pl_contact_key_kind(keys, keys->key[i])};
        for (int k = 0; k < 2; k++)
            to->feature[k] = pl_contact_key_feature(keys, keys->key[i], k);
        pl_ccd_impact p = impact_of(w, to->kind, to->feature[0], to->feature[1]);
        to->capped = p.capped;
        to->time = p.time;
        if (out->earliest < 0 || to->time < out->impact[out->earliest].time)
            out->earliest = i;
    }
}

pl_status pl_contact_sweep(pl_contact_trees *trees, const double *x0, const double *x1,
                           const pl_ccd_limits *limits, const pl_contact_filter *filter,
                           int threads, pl_contact_impacts *out)
{
    *out = (pl_contact_impacts){.earliest = -1};
    pl_status status = pl_contact_trees_update(trees, x0, x1, limits->least + limits->slack,
                                               threads);
    if (status != PL_OK)
        return status;
    const sweeper w = {trees->surface, x0, x1, limits};
    pl_contact_work work = {.most = limits->work > 0 ? limits->work : INT64_MAX};
    const pl_contact_search search = {trees, filter, judge, &w, false, &work};
    pl_contact_keys keys;
    status = pl_contact_search_run(&search, threads, &keys);
    if (status != PL_OK)
        return status;
    out->work = work.done;
    out->crowded = work.done > work.most;
    if (out->crowded) {
        pl_contact_keys_clear(&keys);
        return PL_OK;
    }
    out->impact = malloc(((size_t)keys.count + 1) * sizeof *out->impact);
    if (out->impact)
        make_impacts(&w, &keys, out);
    pl_contact_keys_clear(&keys);
    return out->impact ? PL_OK : PL_NO_MEMORY;
}
