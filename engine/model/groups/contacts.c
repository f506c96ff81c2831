#include "engine/model/groups/contacts.h"

#include "engine/model/groups/vertex_terms.h"
#include "engine/model/hash.h"

#include <math.h>
#include <stdlib.h>

static pl_contact_path path_of(const pl_contacts *k, const pl_stage *stage)
{
    return pl_contact_path_of(&stage->scalars,
                              pl_motion_pose(&k->motion, stage->scalars.time_start),
                              pl_motion_pose(&k->motion, pl_stage_touch_time(&stage->scalars)));
}

static void prox_one(const pl_group *g, const pl_stage *stage, const pl_contact_path *path,
                     int64_t i, const double v[3], double z[3])
{
    const pl_contacts *k = g->data;
    int64_t at = 3 * (int64_t)g->corner[i];
    pl_contact_hold(k->shape, k->share ? k->friction * k->share[i] : k->friction, path,
                    &k->begins[i], stage->x_start + at, v, z);
}

static void contacts_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    const pl_contacts *k = g->data;
    const pl_contact_path path = path_of(k, stage);
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const int64_t at = 3 * (int64_t)g->corner[i];
        k->begins[i] = pl_contact_begin_at(k->shape, &path, stage->x_start + at,
                                           pl_contact_has_stationary(stage) ? stage->stationary + at
                                                                            : NULL);
    }
}

static void contacts_prox(const pl_group *g, const pl_stage *stage, const double *v, double *z,
                          int64_t b0, int64_t b1)
{
    pl_contact_path path = path_of(g->data, stage);
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        double vi[3], zi[3];
        for (int c = 0; c < 3; c++)
            vi[c] = v[(b * 3 + c) * PL_BLOCK + l];
        prox_one(g, stage, &path, i, vi, zi);
        for (int c = 0; c < 3; c++)
            z[(b * 3 + c) * PL_BLOCK + l] = zi[c];
    }
}

static void contacts_admm_local(const pl_group *g, const pl_stage *stage,
                                const pl_admm_local *local, int64_t b0, int64_t b1)
{
    pl_contact_path path = path_of(g->data, stage);
    for (int64_t b = b0; b < b1; b++)
        local->sums[b] = (pl_block_sums){0, 0, 0};
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        double v[3], z_hat[3], z[3];
        pl_vertex_term_point(g, local, i, v, z_hat);
        prox_one(g, stage, &path, i, v, z);
        pl_vertex_term_end(g, local, i, v, z_hat, z);
    }
}

double pl_contacts_depth(const pl_group *g, const pl_shape *shape, const pl_pose *pose,
                         const double *x, int64_t b0, int64_t b1)
{
    double deepest = 0;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        double own[3], n[3];
        pl_pose_invert(pose, x + 3 * (int64_t)g->corner[i], own);
        deepest = fmax(deepest, -pl_shape_distance(shape, own, n));
    }
    return deepest;
}

static double contacts_depth(const pl_group *g, double time, const double *x, int64_t b0,
                             int64_t b1)
{
    const pl_contacts *k = g->data;
    pl_pose pose = pl_motion_pose(&k->motion, time);
    return pl_contacts_depth(g, k->shape, &pose, x, b0, b1);
}

static bool contacts_touch(const pl_group *g, const pl_stage *stage, const double *u,
                           const double *x, int64_t i, pl_touch *out)
{
    const pl_contacts *k = g->data;
    bool any = false;
    for (int c = 0; u && c < 3; c++) {
        double q = u[(i / PL_BLOCK * 3 + c) * PL_BLOCK + i % PL_BLOCK];
        out->force[c] = -g->weight[i] * q;
        any = any || q != 0;
    }
    if (!any)
        return false;
    int64_t at = 3 * (int64_t)g->corner[i];
    pl_contact_path path = path_of(k, stage);
    pl_contact_meet(k->shape, &path, stage->x_start + at, x + at, out);
    out->restitution = k->restitution;
    return true;
}

static uint64_t contacts_hash(const pl_group *g, uint64_t hash)
{
    const pl_contacts *k = g->data;
    return k->share ? pl_hash(hash, k->share, (size_t)g->terms * sizeof *k->share) : hash;
}

double *pl_contacts_copy_shares(const pl_group *g, const double *factor, int64_t count)
{
    double *share = pl_block_alloc(g->blocks * PL_BLOCK, sizeof *share);
    for (int64_t i = 0; share && i < g->blocks * PL_BLOCK; i++)
        share[i] = factor[i < count ? i : i - i % PL_BLOCK];
    return share;
}

pl_status pl_contacts_scale_friction(pl_group *g, const double *factor, int64_t count)
{
    pl_contacts *k = g->data;
    double *share = pl_contacts_copy_shares(g, factor, count);
    if (!share)
        return PL_NO_MEMORY;
    free(k->share);
    k->share = share;
    return PL_OK;
}

static void contacts_destroy(pl_group *g)
{
    pl_contacts *k = g->data;
    if (k) {
        pl_shape_destroy(k->shape);
        free(k->share);
        free(k->begins);
    }
    free(k);
    free(g->corner);
    free(g->weight);
    *g = (pl_group){0};
}

static const pl_group_ops CONTACTS = {
    .name = "contacts",
    .corners = 1,
    .rows = 3,
    .hard = true,
    .freeze = contacts_freeze,
    .reduce = pl_vertex_terms_reduce,
    .prox = contacts_prox,
    .admm_local = contacts_admm_local,
    .admm_contribute = pl_vertex_terms_contribute,
    .transpose = pl_vertex_terms_transpose,
    .depth = contacts_depth,
    .touch = contacts_touch,
    .stiffness = pl_vertex_terms_stiffness,
    .hash = contacts_hash,
    .destroy = contacts_destroy,
};

pl_status pl_contacts_create(const pl_obstacle *obstacle, const int32_t *vertex,
                             const double *weight, int64_t count, pl_group *out)
{
    pl_group g = {.ops = &CONTACTS};
    pl_contacts *k = calloc(1, sizeof *k);
    g.data = k;
    bool good = pl_vertex_terms_alloc(&g, vertex, weight, count) && k;
    if (good)
        k->begins = pl_block_alloc(g.blocks * PL_BLOCK, sizeof *k->begins);
    if (!good || !k->begins || pl_shape_create(obstacle, &k->shape) != PL_OK) {
        contacts_destroy(&g);
        return PL_NO_MEMORY;
    }
    k->motion = pl_obstacle_motion(obstacle, k->shape);
    k->friction = obstacle->friction;
    k->restitution = obstacle->restitution;
    *out = g;
    return PL_OK;
}
