/* Links of two corners whose length is a constraint, lo <= |q| <= hi, for methods that descend on an energy: the
 * augmented Lagrangian of Hestenes, Powell and Rockafellar. With the multiplier f, the force along the link, and
 * the penalty k, the group's weight,
 *
 *     U(q) = k/2 dist(|q| + f / k, [lo, hi])^2
 *
 * is a link (link_law.h) whose range is shifted by -f / k. At a minimum, the force of that link is the next f; the
 * constraint then holds up to the remaining change of f. A multiplier along the link, rather than a vector, rotates
 * with it: no solve changes the angular momentum.
 *
 * k does not grow from round to round: with a large k, a tangential step stretches the link by its square, and
 * Newton's steps become short. If k is too small, the second order of multipliers compensates (cpu_augmented.c).
 * build_sheets.c has the experiments with k. */
#include "engine/model/groups/terms.h"

#include <math.h>

typedef struct held_link {
    const double *constant,
        *bounds; /* of link_law.h, PL_BLOCK apart: shifted, and as they were made */
    double q[3], length;
} held_link;

static const double *row_of(const pl_number *constants, int64_t i)
{
    return constants + i / PL_BLOCK * PL_LINK_CONSTANTS * PL_BLOCK + i % PL_BLOCK;
}

static void difference(const pl_group *g, int64_t i, const double *x, double out[3])
{
    const int32_t *corner = g->corner + i / PL_BLOCK * 2 * PL_BLOCK + i % PL_BLOCK;
    for (int c = 0; c < 3; c++)
        out[c] = x[3 * (int64_t)corner[PL_BLOCK] + c] - x[3 * (int64_t)corner[0] + c];
}

static held_link link_at(const pl_group *g, int64_t i, const double *x)
{
    const pl_held_terms *t = g->data;
    held_link link = {.constant = row_of(t->terms.constant, i)};
    difference(g, i, x, link.q);
    link.length = sqrt(link.q[0] * link.q[0] + link.q[1] * link.q[1] + link.q[2] * link.q[2]);
    return link;
}

static int64_t first_of(const pl_group *g)
{
    return ((const pl_held_terms *)g->data)->multiplier;
}

static void held_place(pl_group *g, int64_t first)
{
    ((pl_held_terms *)g->data)->multiplier = first;
}

static void held_hold(const pl_group *g, const double *multipliers, int64_t b0, int64_t b1)
{
    const pl_held_terms *t = g->data;
    const double *f = multipliers ? multipliers + t->multiplier : NULL;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const double k = g->weight[i], shift = f && k > 0 ? f[i] / k : 0;
        const double *bounds = row_of(t->bounds, i);
        double *constant = (double *)row_of(t->terms.constant, i);
        constant[PL_LINK_K * PL_BLOCK] = k;
        constant[PL_LINK_LO * PL_BLOCK] = bounds[PL_LINK_LO * PL_BLOCK] - shift;
        constant[PL_LINK_HI * PL_BLOCK] = bounds[PL_LINK_HI * PL_BLOCK] - shift;
    }
}

static void held_renew(const pl_group *g, const double *x, double *multipliers, double *change,
                       int64_t b0, int64_t b1)
{
    const int64_t first = first_of(g);
    double *f = multipliers + first, *by = change + first;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const held_link link = link_at(g, i, x);
        const double lo = link.constant[PL_LINK_LO * PL_BLOCK],
                     hi = link.constant[PL_LINK_HI * PL_BLOCK];
        const double force = g->weight[i] * (link.length - fmin(fmax(link.length, lo), hi));
        by[i] = force - f[i];
        f[i] = force;
    }
}

static void held_along(const pl_group *g, const double *x, const double *multipliers,
                       const double *d, double *along, int64_t b0, int64_t b1)
{
    const int64_t first = first_of(g);
    const double *f = multipliers + first;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const held_link link = link_at(g, i, x);
        double by[3];
        difference(g, i, d, by);
        const double sum = by[0] * link.q[0] + by[1] * link.q[1] + by[2] * link.q[2];
        along[first + i] = f[i] != 0 && link.length > 0 ? sum / link.length : 0;
    }
}

static void held_pull(const pl_group *g, const double *x, const double *multipliers,
                      const double *f, double *contributions, int64_t b0, int64_t b1)
{
    const int64_t first = first_of(g);
    const double *held = multipliers + first, *force = f + first;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const held_link link = link_at(g, i, x);
        const double by = held[i] != 0 && link.length > 0 ? force[i] / link.length : 0;
        double *out = contributions + g->contribution + i / PL_BLOCK * 6 * PL_BLOCK + i % PL_BLOCK;
        for (int c = 0; c < 3; c++) {
            out[c * PL_BLOCK] = -by * link.q[c];
            out[(3 + c) * PL_BLOCK] = by * link.q[c];
        }
    }
}

static void held_correct(const pl_group *g, const double *change, double *multipliers, int64_t b0,
                         int64_t b1)
{
    const pl_held_terms *t = g->data;
    double *f = multipliers + t->multiplier;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const double *bounds = row_of(t->bounds, i);
        const bool rod = bounds[PL_LINK_LO * PL_BLOCK] == bounds[PL_LINK_HI * PL_BLOCK];
        const double force = f[i] + change[t->multiplier + i];
        const bool crosses = (force > 0) != (f[i] > 0);
        f[i] = f[i] == 0 ? 0 : crosses && !rod ? 0 : force;
    }
}

const pl_held_ops pl_held_links = {
    .place = held_place,
    .hold = held_hold,
    .renew = held_renew,
    .along = held_along,
    .pull = held_pull,
    .correct = held_correct,
};
