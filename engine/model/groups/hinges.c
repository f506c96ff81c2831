#include "engine/model/groups/hinges.h"

#include "engine/model/hash.h"
#include "engine/model/groups/hinge_law.h"
#include "engine/model/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void load(const double *x, const int32_t *corner, int64_t stride, pl_dual p[4][3])
{
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++)
            p[c][r] = (pl_dual){x[3 * (int64_t)corner[c * stride] + r], 0};
}

double pl_dihedral(const double *x, const int32_t corner[4], double gradient[12])
{
    pl_dual p[4][3], g[4][3];
    load(x, corner, 1, p);
    double theta = pl_hinge_angle(p, g);
    for (int i = 0; i < 12; i++)
        gradient[i] = g[i / 3][i % 3].v;
    return theta;
}

/* The cotangent of the angle at corner a of the triangle a, b, c, with twice its area. */
static double cotangent(const double *a, const double *b, const double *c, double *twice)
{
    double u[3], v[3], n[3], dot_uv = 0;
    for (int r = 0; r < 3; r++) {
        u[r] = b[r] - a[r];
        v[r] = c[r] - a[r];
        dot_uv += u[r] * v[r];
    }
    for (int r = 0; r < 3; r++)
        n[r] = u[(r + 1) % 3] * v[(r + 2) % 3] - u[(r + 2) % 3] * v[(r + 1) % 3];
    *twice = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    return dot_uv / *twice;
}

double pl_quadratic_bend(const double *rest, const int32_t corner[4], double stiffness, double K[4])
{
    const double *x[4];
    for (int c = 0; c < 4; c++)
        x[c] = rest + 3 * (int64_t)corner[c];
    double left, right;
    double c02 = cotangent(x[0], x[1], x[2], &left), c12 = cotangent(x[1], x[0], x[2], &left);
    double c03 = cotangent(x[0], x[1], x[3], &right), c13 = cotangent(x[1], x[0], x[3], &right);
    K[0] = c12 + c13;
    K[1] = c02 + c03;
    K[2] = -(c02 + c12);
    K[3] = -(c03 + c13);
    return 2 * stiffness / (left + right);
}

static double term_angle(const pl_group *g, int64_t i, const double *x, pl_dual gradient[4][3])
{
    pl_dual p[4][3];
    int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
    load(x, g->corner + b * 4 * PL_BLOCK + l, PL_BLOCK, p);
    return pl_hinge_angle(p, gradient);
}

static void hinges_energy_gradient(const pl_group *g, const double *x, double *energy,
                                   double *contributions, int64_t b0, int64_t b1)
{
    const pl_hinges *h = g->data;
    for (int64_t b = b0; b < b1; b++) {
        double sum = 0;
        for (int64_t i = b * PL_BLOCK; i < (b + 1) * PL_BLOCK; i++) {
            pl_dual gradient[4][3];
            double d = pl_hinge_opened(term_angle(g, i, x, gradient), h->angle[i]);
            sum += h->stiffness[i] * d * d / 2;
            for (int k = 0; contributions && k < 12; k++)
                contributions[g->contribution + (b * 12 + k) * PL_BLOCK + i % PL_BLOCK] =
                    h->stiffness[i] * d * gradient[k / 3][k % 3].v;
        }
        if (energy)
            energy[b] = sum;
    }
}

PL_ENERGY_AND_GRADIENT(hinges)

/* k (grad theta grad theta^T + (theta - theta0) d2 theta / dx2), one column at a time. */
static void hinges_hessian(const pl_group *g, const double *x, double *H, int64_t b0, int64_t b1)
{
    const pl_hinges *h = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        pl_dual p[4][3], gradient[4][3];
        load(x, g->corner + b * 4 * PL_BLOCK + l, PL_BLOCK, p);
        for (int j = 0; j < 12; j++) {
            p[j / 3][j % 3].d = 1;
            double d = pl_hinge_opened(pl_hinge_angle(p, gradient), h->angle[i]),
                   mine = gradient[j / 3][j % 3].v;
            p[j / 3][j % 3].d = 0;
            for (int k = j; k < 12; k++) {
                pl_dual other = gradient[k / 3][k % 3];
                H[(b * 78 + k * (k + 1) / 2 + j) * PL_BLOCK + l] = h->stiffness[i] *
                                                                   (other.v * mine + d * other.d);
            }
        }
    }
}

static void hinges_measure(const pl_group *g, const double *x, pl_block_measure *out, int64_t b0,
                           int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        out[b] = (pl_block_measure){0};
        hinges_energy(g, x, &out[b].energy - b, b, b + 1);
    }
}

static void hinges_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K)
{
    const pl_hinges *h = g->data;
    double w2 = g->weight[block * PL_BLOCK + lane];
    for (int c = 0; c < 4; c++)
        for (int d = 0; d < 4; d++)
            K[4 * c + d] = w2 * h->shape[(block * 4 + c) * PL_BLOCK + lane] *
                           h->shape[(block * 4 + d) * PL_BLOCK + lane];
}

static uint64_t hinges_hash(const pl_group *g, uint64_t hash)
{
    const pl_hinges *h = g->data;
    size_t lanes = (size_t)g->blocks * PL_BLOCK;
    hash = pl_hash(hash, g->corner, 4 * lanes * sizeof *g->corner);
    hash = pl_hash(hash, h->stiffness, lanes * sizeof *h->stiffness);
    return pl_hash(hash, h->angle, lanes * sizeof *h->angle);
}

static void hinges_destroy(pl_group *g)
{
    pl_hinges *h = g->data;
    if (h) {
        free(h->stiffness);
        free(h->angle);
        free(h->shape);
        free(h);
    }
    free(g->corner);
    free(g->weight);
    *g = (pl_group){0};
}

/* ---- around vertices (local.h) ---- */

static pl_status hinges_local_copy(const pl_group *g, const pl_places *places, pl_group *out)
{
    const pl_hinges *from = g->data;
    pl_group copy = {.ops = g->ops, .blocks = places->blocks};
    pl_hinges *h = copy.data = calloc(1, sizeof *h);
    if (!h)
        return PL_NO_MEMORY;
    copy.corner = pl_local_copy_corners(g->corner, 4, places);
    h->stiffness = pl_local_copy_rows(from->stiffness, 1, places);
    h->angle = pl_local_copy_rows(from->angle, 1, places);
    if (!copy.corner || !h->stiffness || !h->angle) {
        hinges_destroy(&copy);
        return PL_NO_MEMORY;
    }
    pl_local_clear_padding(places, 1, h->stiffness);
    *out = copy;
    return PL_OK;
}

static void hinges_local_energy(const pl_group *g, const double *x, double *energy, int64_t b0,
                                int64_t b1)
{
    const pl_hinges *h = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        pl_dual gradient[4][3];
        double d = pl_hinge_opened(term_angle(g, i, x, gradient), h->angle[i]);
        energy[i % PL_BLOCK] += h->stiffness[i] * d * d / 2;
    }
}

static void hinges_local_expand(const pl_group *g, const double *x, const double *own, double *sums,
                                int64_t b0, int64_t b1)
{
    const pl_hinges *h = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        const int c = (int)own[i];
        double d = 0, *sum = sums + l;
        pl_dual p[4][3], gradient[4][3];
        load(x, g->corner + b * 4 * PL_BLOCK + l, PL_BLOCK, p);
        for (int s = 0; s < 3; s++) {
            p[c][s].d = 1;
            d = pl_hinge_opened(pl_hinge_angle(p, gradient), h->angle[i]);
            p[c][s].d = 0;
            for (int r = s; r < 3; r++)
                sum[(PL_LOCAL_HESSIAN + r * (r + 1) / 2 + s) * PL_BLOCK] +=
                    h->stiffness[i] * (gradient[c][r].v * gradient[c][s].v + d * gradient[c][r].d);
        }
        sum[PL_LOCAL_ENERGY * PL_BLOCK] += h->stiffness[i] * d * d / 2;
        for (int r = 0; r < 3; r++)
            sum[(PL_LOCAL_GRADIENT + r) * PL_BLOCK] += h->stiffness[i] * d * gradient[c][r].v;
    }
}

static const pl_local_ops LOCAL = {
    .copy = hinges_local_copy,
    .release = hinges_destroy,
    .energy = hinges_local_energy,
    .expand = hinges_local_expand,
};

static const pl_group_ops HINGES = {
    .name = "hinges",
    .corners = 4,
    .rows = 0,
    .local = &LOCAL,
    .energy = hinges_energy,
    .gradient = hinges_gradient,
    .energy_gradient = hinges_energy_gradient,
    .hessian = hinges_hessian,
    .measure = hinges_measure,
    .stiffness = hinges_stiffness,
    .hash = hinges_hash,
    .destroy = hinges_destroy,
};

pl_status pl_hinges_create(const double *rest, const pl_hinge *list, int64_t count, double weight,
                           pl_group *out)
{
    int64_t blocks = (count + PL_BLOCK - 1) / PL_BLOCK;
    pl_group g = {.ops = &HINGES, .terms = count, .blocks = blocks};
    pl_hinges *h = g.data = calloc(1, sizeof *h);
    if (!h)
        return PL_NO_MEMORY;
    g.corner = pl_block_alloc(blocks * 4 * PL_BLOCK, sizeof *g.corner);
    g.weight = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.weight);
    h->stiffness = pl_block_alloc(blocks * PL_BLOCK, sizeof *h->stiffness);
    h->angle = pl_block_alloc(blocks * PL_BLOCK, sizeof *h->angle);
    h->shape = pl_block_alloc(blocks * 4 * PL_BLOCK, sizeof *h->shape);
    if (!g.corner || !g.weight || !h->stiffness || !h->angle || !h->shape) {
        hinges_destroy(&g);
        return PL_NO_MEMORY;
    }
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        const pl_hinge *hinge = &list[i < count ? i : b * PL_BLOCK];
        double K[4], gradient[12], square = 0;
        double k = pl_quadratic_bend(rest, hinge->corner, hinge->stiffness, K);
        for (int c = 0; c < 4; c++) {
            g.corner[(b * 4 + c) * PL_BLOCK + l] = hinge->corner[c];
            h->shape[(b * 4 + c) * PL_BLOCK + l] = K[c];
        }
        for (int r = 0; r < 3; r++) {
            double e = rest[3 * (int64_t)hinge->corner[1] + r] -
                       rest[3 * (int64_t)hinge->corner[0] + r];
            square += e * e;
        }
        h->angle[i] = pl_dihedral(rest, hinge->corner, gradient);
        h->stiffness[i] = i < count ? k * square : 0;
        g.weight[i] = i < count ? weight * k : 0;
    }
    *out = g;
    return PL_OK;
}
