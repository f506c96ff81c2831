#include "engine/model/groups/contact_springs.h"

#include "engine/model/groups/contacts.h"
#include "engine/model/hash.h"
#include "engine/model/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double *point(const pl_group *g, int64_t i, const double *x)
{
    return x + 3 * (int64_t)g->corner[i];
}

static void springs_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    pl_contact_springs *s = g->data;
    pl_contact_law law = s->law;
    law.start = pl_motion_pose(&s->motion, stage->scalars.time_start);
    law.end = pl_motion_pose(&s->motion, pl_stage_touch_time(&stage->scalars));
    law.extrapolation = stage->scalars.extrapolation > 1 ? stage->scalars.extrapolation : 1;
    if (b0 == 0) { /* not read before the phase is over */
        s->law.start = law.start;
        s->law.end = law.end;
        s->law.extrapolation = law.extrapolation;
    }
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++)
        pl_contact_freeze(&law, i, point(g, i, stage->x_start), point(g, i, stage->x_pred),
                          pl_contact_has_stationary(stage) ? point(g, i, stage->stationary) : NULL,
                          stage->x_grip ? point(g, i, stage->x_grip) : NULL,
                          stage->scalars.carry_fraction);
}

static void springs_energy_gradient(const pl_group *g, const double *x, double *energy,
                                    double *contributions, int64_t b0, int64_t b1)
{
    const pl_contact_springs *s = g->data;
    for (int64_t b = b0; b < b1; b++) {
        double sum = 0;
        for (int64_t l = 0; l < PL_BLOCK; l++) {
            int64_t i = b * PL_BLOCK + l;
            double gradient[3];
            sum += pl_contact_energy(&s->law, i, point(g, i, x), gradient);
            for (int c = 0; contributions && c < 3; c++)
                contributions[g->contribution + (b * 3 + c) * PL_BLOCK + l] = gradient[c];
        }
        if (energy)
            energy[b] = sum;
    }
}

PL_ENERGY_AND_GRADIENT(springs)

static void add_friction(const pl_contact_law *s, const pl_contact_anchor *a, int64_t i,
                         const double *x, double K[3][3])
{
    double slip[3], length = pl_contact_slip(a, x, slip), k = s->stiffness[i];
    bool sticks = k * length <= a->grip;
    double across = sticks ? k : a->grip / length;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            K[r][c] += across * ((r == c) - a->normal[r] * a->normal[c]);
            if (!sticks)
                K[r][c] -= across * slip[r] * slip[c] / (length * length);
        }
}

/* K = d2U/dx2 of term i, for its vertex at x. */
static void curvature(const pl_contact_law *law, int64_t i, const double x[3], double K[3][3])
{
    double n[3], bend[9], y[3];
    memset(K, 0, 9 * sizeof K[0][0]);
    pl_contact_met(law, i, x, y);
    double distance = pl_contact_is_clear(law, i, y) ? 0 : pl_contact_distance(law, i, y, n, bend);
    if (distance < 0)
        pl_contact_add_normal(law, i, distance, n, bend, K);
    if (law->anchors[i].grip > 0)
        add_friction(law, &law->anchors[i], i, y, K);
}

static void springs_hessian(const pl_group *g, const double *x, double *H, int64_t b0, int64_t b1)
{
    const pl_contact_law *law = &((const pl_contact_springs *)g->data)->law;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        double K[3][3];
        curvature(law, i, point(g, i, x), K);
        for (int r = 0, e = 0; r < 3; r++)
            for (int c = 0; c <= r; c++, e++)
                H[(b * 6 + e) * PL_BLOCK + l] = K[r][c];
    }
}

static void springs_hessian_diagonal(const pl_group *g, const double *x, double *contributions,
                                     int64_t b0, int64_t b1)
{
    const pl_contact_springs *s = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        double diagonal[3];
        pl_contact_diagonal(&s->law, i, point(g, i, x), diagonal);
        for (int c = 0; c < 3; c++)
            contributions[g->contribution + (i / PL_BLOCK * 3 + c) * PL_BLOCK + i % PL_BLOCK] =
                diagonal[c];
    }
}

static int64_t springs_push(const pl_group *g, const double *x, double force[3])
{
    const pl_contact_springs *s = g->data;
    int64_t active = 0;
    for (int c = 0; c < 3; c++)
        force[c] = 0;
    for (int64_t i = 0; i < g->terms; i++) {
        double gradient[3];
        pl_contact_energy(&s->law, i, point(g, i, x), gradient);
        for (int c = 0; c < 3; c++)
            force[c] -= gradient[c];
        active += gradient[0] != 0 || gradient[1] != 0 || gradient[2] != 0;
    }
    return active;
}

static double springs_depth(const pl_group *g, double time, const double *x, int64_t b0, int64_t b1)
{
    const pl_contact_springs *s = g->data;
    pl_pose pose = pl_motion_pose(&s->motion, time);
    return pl_contacts_depth(g, s->law.shape, &pose, x, b0, b1);
}

static bool springs_touch(const pl_group *g, const pl_stage *stage, const double *u,
                          const double *x, int64_t i, pl_touch *out)
{
    const pl_contact_springs *s = g->data;
    pl_contact_path path = pl_contact_path_of(&stage->scalars, s->law.start, s->law.end);
    return pl_contact_touch(&s->law, &path, i, point(g, i, stage->x_start), point(g, i, x),
                            s->restitution, out);
}

/* They are not part of the matrix. */
static void springs_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K)
{
    K[0] = 0;
}

static uint64_t springs_hash(const pl_group *g, uint64_t hash)
{
    const pl_contact_springs *s = g->data;
    const double *share = s->law.share;
    return share ? pl_hash(hash, share, (size_t)g->terms * sizeof *share) : hash;
}

pl_status pl_contact_springs_scale_friction(pl_group *g, const double *factor, int64_t count)
{
    pl_contact_springs *s = g->data;
    double *share = pl_contacts_copy_shares(g, factor, count);
    if (!share)
        return PL_NO_MEMORY;
    free(s->law.share);
    s->law.share = share;
    return PL_OK;
}

static void springs_destroy(pl_group *g)
{
    pl_contact_springs *s = g->data;
    if (s) {
        pl_shape_destroy(s->law.shape);
        free(s->law.stiffness);
        free(s->law.anchors);
        free(s->law.share);
    }
    free(s);
    free(g->corner);
    free(g->weight);
    *g = (pl_group){0};
}

/* ---- around vertices (local.h) ---- */

static void springs_local_release(pl_group *copy)
{
    pl_contact_springs *s = copy->data;
    if (s) {
        free(s->law.stiffness);
        free(s->law.anchors);
    }
    free(s);
    free(copy->corner);
    *copy = (pl_group){0};
}

/* The factors on friction are in the anchors' grips. */
static pl_status springs_local_copy(const pl_group *g, const pl_places *places, pl_group *out)
{
    const pl_contact_springs *from = g->data;
    pl_group copy = {.ops = g->ops, .blocks = places->blocks};
    pl_contact_springs *s = copy.data = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->law.shape = from->law.shape;
    copy.corner = pl_local_copy_corners(g->corner, 1, places);
    s->law.stiffness = pl_local_copy_rows(from->law.stiffness, 1, places);
    s->law.anchors = pl_block_alloc(places->blocks * PL_BLOCK, sizeof *s->law.anchors);
    if (!copy.corner || !s->law.stiffness || !s->law.anchors) {
        springs_local_release(&copy);
        return PL_NO_MEMORY;
    }
    pl_local_clear_padding(places, 1, s->law.stiffness);
    *out = copy;
    return PL_OK;
}

static void springs_local_refreeze(const pl_group *g, const pl_places *places, pl_group *copy,
                                   int64_t b0, int64_t b1)
{
    const pl_contact_springs *from = g->data;
    pl_contact_springs *s = copy->data;
    if (b0 == 0) { /* not read before the phase is over */
        s->law.start = from->law.start;
        s->law.end = from->law.end;
        s->law.extrapolation = from->law.extrapolation;
    }
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const bool padding = places->term[i] < 0;
        s->law.anchors[i] = from->law.anchors[padding ? ~places->term[i] : places->term[i]];
        if (padding)
            s->law.anchors[i].grip = 0;
    }
}

static void springs_local_energy(const pl_group *g, const double *x, double *energy, int64_t b0,
                                 int64_t b1)
{
    const pl_contact_springs *s = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        double gradient[3];
        energy[i % PL_BLOCK] += pl_contact_energy(&s->law, i, point(g, i, x), gradient);
    }
}

static void springs_local_expand(const pl_group *g, const double *x, const double *own,
                                 double *sums, int64_t b0, int64_t b1)
{
    const pl_contact_springs *s = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        double gradient[3], K[3][3], *sum = sums + i % PL_BLOCK;
        sum[PL_LOCAL_ENERGY * PL_BLOCK] += pl_contact_energy(&s->law, i, point(g, i, x), gradient);
        curvature(&s->law, i, point(g, i, x), K);
        for (int r = 0, e = PL_LOCAL_HESSIAN; r < 3; r++) {
            sum[(PL_LOCAL_GRADIENT + r) * PL_BLOCK] += gradient[r];
            for (int c = 0; c <= r; c++, e++)
                sum[e * PL_BLOCK] += K[r][c];
        }
    }
}

static const pl_local_ops LOCAL = {
    .copy = springs_local_copy,
    .refreeze = springs_local_refreeze,
    .release = springs_local_release,
    .energy = springs_local_energy,
    .expand = springs_local_expand,
};

static const pl_group_ops SPRINGS = {
    .name = "contact_springs",
    .corners = 1,
    .rows = 3,
    .local = &LOCAL,
    .freeze = springs_freeze,
    .energy = springs_energy,
    .gradient = springs_gradient,
    .energy_gradient = springs_energy_gradient,
    .hessian = springs_hessian,
    .hessian_diagonal = springs_hessian_diagonal,
    .push = springs_push,
    .depth = springs_depth,
    .touch = springs_touch,
    .stiffness = springs_stiffness,
    .hash = springs_hash,
    .destroy = springs_destroy,
};

pl_status pl_contact_springs_create(const pl_obstacle *obstacle, const int32_t *vertex,
                                    const double *stiffness, int64_t count, pl_group *out)
{
    int64_t blocks = (count + PL_BLOCK - 1) / PL_BLOCK;
    pl_group g = {.ops = &SPRINGS, .terms = count, .blocks = blocks};
    pl_contact_springs *s = calloc(1, sizeof *s);
    g.data = s;
    g.corner = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.corner);
    g.weight = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.weight);
    if (s) {
        s->law.stiffness = pl_block_alloc(blocks * PL_BLOCK, sizeof *s->law.stiffness);
        s->law.anchors = pl_block_alloc(blocks * PL_BLOCK, sizeof *s->law.anchors);
    }
    if (!s || !g.corner || !g.weight || !s->law.stiffness || !s->law.anchors ||
        pl_shape_create(obstacle, &s->law.shape) != PL_OK) {
        springs_destroy(&g);
        return PL_NO_MEMORY;
    }
    s->motion = pl_obstacle_motion(obstacle, s->law.shape);
    s->law.friction = obstacle->friction;
    s->restitution = obstacle->restitution;
    s->law.extrapolation = 1;
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++) {
        g.corner[i] = vertex[i < count ? i : i - i % PL_BLOCK];
        s->law.stiffness[i] = i < count ? stiffness[i] : 0;
    }
    *out = g;
    return PL_OK;
}
