#include "engine/model/groups/neo_hookean_around.h"

#include "engine/model/groups/tets.h"

#include <stdlib.h>

void pl_neo_hookean_around_release(pl_group *copy)
{
    free(copy->corner);
    free(copy->data);
    *copy = (pl_group){0};
}

static double dot3(const double a[3], const double c[3])
{
    return a[0] * c[0] + a[1] * c[1] + a[2] * c[2];
}

/* 1 / 6V = det B^-1. */
static double inverse_volume(const double g[4][3])
{
    return g[1][0] * (g[2][1] * g[3][2] - g[2][2] * g[3][1]) +
           g[1][1] * (g[2][2] * g[3][0] - g[2][0] * g[3][2]) +
           g[1][2] * (g[2][0] * g[3][1] - g[2][1] * g[3][0]);
}

/* Place i. Exchanging two pairs of corners keeps the orientation: corner c of the copy is own ^ c of the original. */
static void fill(const pl_group *from, const pl_places *places, int64_t i, pl_group *to)
{
    const pl_tets *t = from->data;
    const bool padding = places->term[i] < 0;
    const int64_t term = padding ? ~places->term[i] : places->term[i];
    const int64_t b = term / PL_BLOCK, lane = term % PL_BLOCK;
    const int own = (int)places->own[i];
    double g[4][3] = {{0}},
           *row = (double *)to->data + i / PL_BLOCK * PL_AROUND_ROWS * PL_BLOCK + i % PL_BLOCK;
    for (int c = 1; c < 4; c++)
        for (int j = 0; j < 3; j++) {
            g[c][j] = t->shape[(b * 9 + c - 1 + 3 * j) * PL_BLOCK + lane];
            g[0][j] -= g[c][j];
        }
    const double volume = padding ? 0 : t->volume[term];
    const double mu = volume * t->constants[b * 2 * PL_BLOCK + lane];
    for (int c = 0; c < 4; c++)
        to->corner[(i / PL_BLOCK * 4 + c) * PL_BLOCK + i % PL_BLOCK] =
            from->corner[(b * 4 + (own ^ c)) * PL_BLOCK + lane];
    for (int c = 1; c < 4; c++)
        row[(PL_AROUND_PULL + c - 1) * PL_BLOCK] = mu * dot3(g[own], g[own ^ c]);
    row[PL_AROUND_SCALE * PL_BLOCK] = inverse_volume(g);
    row[PL_AROUND_MU * PL_BLOCK] = mu;
    row[PL_AROUND_LAMBDA * PL_BLOCK] = volume * t->constants[(b * 2 + 1) * PL_BLOCK + lane];
}

pl_status pl_neo_hookean_around_copy(const pl_group *g, const pl_places *places, pl_group *out)
{
    pl_group copy = {.ops = g->ops, .blocks = places->blocks};
    copy.corner = pl_block_alloc(places->blocks * 4 * PL_BLOCK, sizeof *copy.corner);
    copy.data = pl_block_alloc(places->blocks * PL_AROUND_ROWS * PL_BLOCK, sizeof(double));
    if (!copy.corner || !copy.data) {
        pl_neo_hookean_around_release(&copy);
        return PL_NO_MEMORY;
    }
    for (int64_t i = 0; i < places->blocks * PL_BLOCK; i++)
        fill(g, places, i, &copy);
    *out = copy;
    return PL_OK;
}
