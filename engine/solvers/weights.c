#include "engine/solvers/weights.h"

#include "engine/model/groups/touching.h"
#include "engine/model/reweigh.h"

#include <stdlib.h>
#include <string.h>

/* Relative to the concavity: weights below the first are raised to the second. */
static const double TOO_LOW = 2, ENOUGH = 4;
/* Number of iterations between two checks; maximum number of changes of weights per solve. */
enum { LOOK = 10, RENEWALS = 3 };
/* The weight of a level, relative to that at rest. */
enum { LEVELS = 11 };
static const double RAISED[LEVELS] = {1,  1.4142135623730951, 2, 2.8284271247461903,
                                      4,  5.656854249492381,  8, 11.313708498984761,
                                      16, 22.627416997969522, 32};

struct pl_weights {
    const pl_model *rest;
    pl_backend *backend;
    pl_model *heavier;     /* that of the levels, in use by the backend; NULL: all are 0 */
    unsigned char **level; /* [group][block][L], for groups with a concavity; else NULL */
    double **number;       /* the same for the weights in use */
    int32_t renewals;      /* number in this solve */
    bool restored;         /* the levels differ from those of `heavier` */
    int32_t apart;         /* the group `touching`, or -1 */
    bool touching;         /* it has weights */
};

static int64_t terms_of(const pl_weights *w, int32_t g)
{
    return w->level[g] ? w->rest->groups[g].blocks * PL_BLOCK : 0;
}

static void return_to_rest_model(pl_weights *w)
{
    if (!w->heavier)
        return;
    (void)w->backend->ops->matrix->use_model(w->backend, w->rest);
    pl_model_reweighed_destroy(w->heavier, w->rest);
    w->heavier = NULL;
}

void pl_weights_destroy(pl_weights *w)
{
    if (!w)
        return;
    return_to_rest_model(w);
    for (int32_t g = 0; g < w->rest->group_count; g++) {
        if (w->level)
            free(w->level[g]);
        if (w->number)
            free(w->number[g]);
    }
    free(w->level);
    free(w->number);
    free(w);
}

pl_status pl_weights_create(const pl_model *model, pl_backend *backend, bool follow,
                            pl_weights **out)
{
    const size_t groups = (size_t)model->group_count;
    pl_weights *w = calloc(1, sizeof *w);
    if (!w)
        return PL_NO_MEMORY;
    w->rest = model;
    w->backend = backend;
    w->apart = pl_touching_find(model->groups, model->group_count);
    w->level = calloc(groups + 1, sizeof *w->level);
    w->number = calloc(groups + 1, sizeof *w->number);
    bool good = w->level && w->number;
    for (size_t g = 0; good && g < groups; g++) {
        if (!follow || !model->groups[g].ops->concavity)
            continue;
        const int64_t count = model->groups[g].blocks * PL_BLOCK;
        w->level[g] = pl_block_alloc(count, 1);
        w->number[g] = pl_block_alloc(count, sizeof *w->number[g]);
        good = w->level[g] && w->number[g];
    }
    if (!good) {
        pl_weights_destroy(w);
        return PL_NO_MEMORY;
    }
    *out = w;
    return PL_OK;
}

/* Replaces `number` by the concavities at z. */
static void look(pl_weights *w, pl_array *const *z)
{
    for (int32_t g = 0; g < w->rest->group_count; g++)
        if (w->level[g])
            w->backend->ops->splitting->concavity(w->backend, g, z[g], w->number[g]);
}

static bool some_too_low(const pl_weights *w)
{
    for (int32_t g = 0; g < w->rest->group_count; g++) {
        const double *rest = w->rest->groups[g].weight;
        for (int64_t i = 0; i < terms_of(w, g); i++)
            if (rest[i] * RAISED[w->level[g][i]] < TOO_LOW * w->number[g][i])
                return true;
    }
    return false;
}

/* The least level that is enough for a concavity; NaN needs none. */
static int level_for(double weight, double concavity)
{
    int level = 0;
    while (level + 1 < LEVELS && weight * RAISED[level] < ENOUGH * concavity)
        level++;
    return level;
}

static bool some_outside(const pl_weights *w)
{
    for (int32_t g = 0; g < w->rest->group_count; g++)
        for (int64_t i = 0; i < w->rest->groups[g].terms && w->level[g]; i++)
            if (w->number[g][i] < 0)
                return true;
    return false;
}

static bool some_need_more(const pl_weights *w)
{
    for (int32_t g = 0; g < w->rest->group_count; g++)
        for (int64_t i = 0; i < terms_of(w, g); i++)
            if (level_for(w->rest->groups[g].weight[i], w->number[g][i]) > 0)
                return true;
    return false;
}

/* Computes the levels for the concavities, and replaces these by the divisors of the weights. */
static void set_levels(pl_weights *w, bool only_up)
{
    for (int32_t g = 0; g < w->rest->group_count; g++)
        for (int64_t i = 0; i < terms_of(w, g); i++) {
            int old = w->level[g][i];
            int level = level_for(w->rest->groups[g].weight[i], w->number[g][i]);
            if (only_up && level < old)
                level = old;
            w->level[g][i] = (unsigned char)level;
            w->number[g][i] = RAISED[old] / RAISED[level];
        }
}

static bool all_at_rest(const pl_weights *w)
{
    for (int32_t g = 0; g < w->rest->group_count; g++)
        for (int64_t i = 0; i < terms_of(w, g); i++)
            if (w->level[g][i] > 0)
                return false;
    return true;
}

static void rest_all(pl_weights *w)
{
    for (int32_t g = 0; g < w->rest->group_count; g++)
        if (w->level[g])
            memset(w->level[g], 0, (size_t)terms_of(w, g));
}

/* Gives the backend a model of the levels. */
static pl_status use_levels(pl_weights *w)
{
    w->restored = false;
    return_to_rest_model(w);
    if (all_at_rest(w) && !w->touching)
        return PL_OK;
    for (int32_t g = 0; g < w->rest->group_count; g++)
        for (int64_t i = 0; i < terms_of(w, g); i++)
            w->number[g][i] = w->rest->groups[g].weight[i] * RAISED[w->level[g][i]];
    if (w->touching) /* only for the next call */
        w->number[w->apart] = ((const pl_touching *)w->rest->groups[w->apart].data)->weight;
    pl_model *heavier = NULL;
    pl_status status = pl_model_reweigh(w->rest, (const double *const *)w->number, &heavier);
    if (w->touching)
        w->number[w->apart] = NULL;
    if (status == PL_OK)
        status = w->backend->ops->matrix->use_model(w->backend, heavier);
    if (status != PL_OK) {
        pl_model_reweighed_destroy(heavier, w->rest);
        w->restored = true; /* the levels, for use when next needed */
        return status;
    }
    w->heavier = heavier;
    return PL_OK;
}

pl_status pl_weights_begin(pl_weights *w, const pl_backend_stage *stage, pl_array *const *z,
                           bool touching)
{
    const bool newly = touching && w->apart >= 0 && !w->touching;
    w->touching = w->touching || newly;
    w->renewals = 0;
    w->backend->ops->splitting->reduce(w->backend, stage->x_start, z);
    look(w, z);
    bool outside = some_outside(w), low = !outside && some_too_low(w);
    if (outside)
        w->renewals = RENEWALS;
    if (low)
        set_levels(w, false);
    else if ((outside || !some_need_more(w)) && !all_at_rest(w))
        rest_all(w);
    else if (!w->restored && !newly)
        return PL_OK;
    return use_levels(w);
}

pl_status pl_weights_renew(pl_weights *w, int64_t k, pl_array *const *z, pl_array *const *u,
                           bool *renewed)
{
    *renewed = false;
    if (k % LOOK != 0 || w->renewals == RENEWALS)
        return PL_OK;
    look(w, z);
    if (!some_too_low(w))
        return PL_OK;
    w->renewals++;
    set_levels(w, true);
    for (int32_t g = 0; g < w->rest->group_count; g++)
        if (w->level[g])
            w->backend->ops->splitting->scale_terms(w->backend, g, w->number[g], u[g]);
    *renewed = true;
    return use_levels(w);
}

static int64_t level_bytes(const pl_weights *w)
{
    int64_t sum = 0;
    for (int32_t g = 0; g < w->rest->group_count; g++)
        sum += terms_of(w, g);
    return sum + (w->apart >= 0);
}

void pl_weights_save(const pl_weights *w, pl_bytes_out *out)
{
    pl_bytes_put_i64(out, level_bytes(w));
    for (int32_t g = 0; g < w->rest->group_count; g++)
        if (w->level[g])
            pl_bytes_put(out, w->level[g], (size_t)terms_of(w, g));
    const unsigned char touching = w->touching;
    if (w->apart >= 0)
        pl_bytes_put(out, &touching, 1);
}

bool pl_weights_restore(pl_weights *w, pl_bytes_in *in)
{
    const int64_t count = level_bytes(w);
    if (pl_bytes_get_i64(in) != count || in->failed || in->left != (size_t)count)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (in->at[i] >= LEVELS)
            return false;
    for (int32_t g = 0; g < w->rest->group_count; g++) {
        const size_t terms = (size_t)terms_of(w, g);
        if (terms == 0)
            continue;
        const unsigned char *levels = pl_bytes_take(in, terms);
        w->restored = w->restored || memcmp(w->level[g], levels, terms) != 0;
        memcpy(w->level[g], levels, terms);
    }
    if (w->apart >= 0) {
        const bool touching = *(const unsigned char *)pl_bytes_take(in, 1);
        w->restored = w->restored || w->touching != touching;
        w->touching = touching;
    }
    return true;
}
