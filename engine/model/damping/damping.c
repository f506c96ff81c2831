#include "engine/model/damping/damping.h"

#include "engine/model/hash.h"
#include "engine/model/groups/terms.h"

#include <stdlib.h>

const pl_group_ops *pl_damping_ops(const pl_damping *d, int32_t corners)
{
    if (corners < 4)
        return pl_terms_ops(corners == 3 ? PL_TERMS_DAMPING_TRIANGLES : PL_TERMS_DAMPING_EDGES);
    if (d->merged)
        return pl_terms_ops(PL_TERMS_DAMPED_TETS);
    return pl_terms_ops(d->model == PL_DAMPING_PRINCIPAL_STRAIN ? PL_TERMS_DAMPING_CREASED
                                                                : PL_TERMS_DAMPING_TETS);
}

/* Number of frozen rows of a function. */
static int32_t frozen_rows_of(const pl_damping *d)
{
    if (pl_damping_is_strain(d))
        return d->model == PL_DAMPING_STRAIN_RATE ? PL_FROZEN_OWN : PL_FROZEN_STRAIN_END;
    switch (d->model) {
    case PL_DAMPING_VISCOUS:
    case PL_DAMPING_STRAIN_RATE:
        return PL_FROZEN_OWN;
    case PL_DAMPING_RAYLEIGH:
    case PL_DAMPING_RAYLEIGH_LAGGED:
        return PL_FROZEN_STIFFNESS_END;
    case PL_DAMPING_PRINCIPAL_STRAIN:
        return PL_FROZEN_PRINCIPAL_END;
    case PL_DAMPING_POWER_LAW:
    case PL_DAMPING_RATE_SPLINE:
        break;
    }
    return PL_FROZEN_STRETCH_END;
}

pl_status pl_damping_attach(pl_group *g, const pl_damping *damping)
{
    pl_terms *t = g->data;
    pl_damping *own = malloc(sizeof *own);
    t->damping = own;
    t->frozen_rows = frozen_rows_of(damping);
    t->frozen = pl_block_alloc(g->blocks * t->frozen_rows * PL_BLOCK, sizeof *t->frozen);
    if (!own || !t->frozen) {
        pl_terms_destroy(g);
        return PL_NO_MEMORY;
    }
    *own = *damping;
    return PL_OK;
}

pl_status pl_damping_at_rest(const pl_group *g, int64_t vertices, const double *x, pl_group *out)
{
    const pl_terms *from = g->data;
    pl_terms *t = malloc(sizeof *t);
    double *v = calloc(3 * (size_t)vertices + 1, sizeof *v);
    *out = *g;
    out->data = t;
    if (t) {
        *t = *from;
        t->frozen = pl_block_alloc(g->blocks * t->frozen_rows * PL_BLOCK, sizeof *t->frozen);
    }
    const bool good = t && v && t->frozen;
    const pl_stage stage = {
        .scalars = {.a = 1, .h = 1, .span = 1}, .x_start = x, .v_start = v, .xp = x};
    if (good)
        g->ops->freeze(out, &stage, 0, g->blocks);
    free(v);
    return good ? PL_OK : PL_NO_MEMORY;
}

void pl_damping_at_rest_clear(pl_group *still)
{
    pl_terms *t = still->data;
    if (t)
        free(t->frozen);
    free(t);
}

pl_dissipation pl_damping_by(const pl_group *group)
{
    return ((const pl_terms *)group->data)->damping->by;
}

static uint64_t hash_spline(uint64_t hash, const pl_damping_spline *f)
{
    const int64_t count = f->count;
    hash = pl_hash(hash, &count, sizeof count);
    hash = pl_hash(hash, f->at, (size_t)f->count * sizeof *f->at);
    return pl_hash(hash, f->value, (size_t)f->count * sizeof *f->value);
}

static uint64_t hash_function(uint64_t hash, const pl_damping *d)
{
    const int64_t words[] = {d->model, d->momentum, d->second_order};
    const double numbers[] = {d->shear, d->bulk, d->beta, d->power, d->coefficient, d->smoothing};
    hash = pl_hash(hash, words, sizeof words);
    hash = pl_hash(hash, numbers, sizeof numbers);
    if (d->merged) /* an unmerged function hashes as before the option existed */
        hash = pl_hash(hash, "merged", 6);
    if (d->bends)
        hash = pl_hash(hash, "bends", 5);
    return hash_spline(hash_spline(hash, &d->strain), &d->rate);
}

uint64_t pl_damping_hash(const pl_group *g, uint64_t hash)
{
    const pl_terms *t = g->data;
    hash = hash_function(pl_terms_hash_numbers(g, hash), t->damping);
    return pl_terms_hash_material(g, hash);
}
