#include "engine/model/groups/contacts.h"

#include "engine/model/hash.h"

#include <math.h>
#include <stdlib.h>

static void contacts_reduce(const pl_group *g, const double *x, double *Dx, int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        for (int c = 0; c < 3; c++)
            Dx[(b * 3 + c) * PL_BLOCK + l] = x[3 * (int64_t)g->corner[i] + c];
    }
}

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
    double alpha = local->relaxation, beta = local->beta, beta_next = local->beta_next;
    for (int64_t b = b0; b < b1; b++)
        local->sums[b] = (pl_block_sums){0, 0, 0};
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        const double *x = local->x + 3 * (int64_t)g->corner[i];
        double w2 = g->weight[i], v[3], z[3], z_hat[3];
        for (int c = 0; c < 3; c++) {
            int64_t e = (b * 3 + c) * PL_BLOCK + l;
            double u_hat = local->u[e] + beta * (local->u[e] - local->u_old[e]);
            z_hat[c] = local->z[e] + beta * (local->z[e] - local->z_old[e]);
            v[c] = u_hat + alpha * x[c] + (1 - alpha) * z_hat[c];
        }
        prox_one(g, stage, &path, i, v, z);
        for (int c = 0; c < 3; c++) {
            int64_t e = (b * 3 + c) * PL_BLOCK + l;
            double s = z[c] - z_hat[c], r = x[c] - z[c], u = v[c] - z[c];
            double momentum = (z[c] - local->z[e]) - (u - local->u[e]);
            local->sums[b].primal += w2 * r * r;
            local->sums[b].change += w2 * s * s;
            local->sums[b].size += w2 * z[c] * z[c];
            local->to_global[g->contribution + e] = w2 * (z[c] - u + beta_next * momentum);
            if (local->dual)
                local->dual[g->contribution + e] = w2 * s;
            local->u_old[e] = u;
            local->z_old[e] = z[c];
        }
    }
}

static void contacts_admm_contribute(const pl_group *g, const double *u, const double *z,
                                     double *contributions, int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        for (int c = 0; c < 3; c++) {
            int64_t e = (b * 3 + c) * PL_BLOCK + l;
            contributions[g->contribution + e] = g->weight[i] * (z[e] - u[e]);
        }
    }
}

static void contacts_transpose(const pl_group *g, const double *q, double *contributions,
                               int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        for (int c = 0; c < 3; c++) {
            int64_t e = (b * 3 + c) * PL_BLOCK + l;
            contributions[g->contribution + e] = g->weight[i] * q[e];
        }
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

static void contacts_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K)
{
    K[0] = g->weight[block * PL_BLOCK + lane];
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
    .reduce = contacts_reduce,
    .prox = contacts_prox,
    .admm_local = contacts_admm_local,
    .admm_contribute = contacts_admm_contribute,
    .transpose = contacts_transpose,
    .depth = contacts_depth,
    .touch = contacts_touch,
    .stiffness = contacts_stiffness,
    .hash = contacts_hash,
    .destroy = contacts_destroy,
};

pl_status pl_contacts_create(const pl_obstacle *obstacle, const int32_t *vertex,
                             const double *weight, int64_t count, pl_group *out)
{
    int64_t blocks = (count + PL_BLOCK - 1) / PL_BLOCK;
    pl_group g = {.ops = &CONTACTS, .terms = count, .blocks = blocks};
    pl_contacts *k = calloc(1, sizeof *k);
    g.data = k;
    g.corner = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.corner);
    g.weight = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.weight);
    if (k)
        k->begins = pl_block_alloc(blocks * PL_BLOCK, sizeof *k->begins);
    if (!k || !k->begins || !g.corner || !g.weight ||
        pl_shape_create(obstacle, &k->shape) != PL_OK) {
        contacts_destroy(&g);
        return PL_NO_MEMORY;
    }
    k->motion = pl_obstacle_motion(obstacle, k->shape);
    k->friction = obstacle->friction;
    k->restitution = obstacle->restitution;
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++) {
        g.corner[i] = vertex[i < count ? i : i - i % PL_BLOCK];
        g.weight[i] = i < count ? weight[i] : 0;
    }
    *out = g;
    return PL_OK;
}
