/* Stress at the vertices, from the forces that the elements themselves say they exert.
 *
 * A linear tetrahedron's gradient at its corners is g_c = V0 P b_c, with the columns b_c of the shape
 * functions' gradients, so that sum_c g_c x_c^T = V0 P F^T = v sigma: its current volume times Cauchy's
 * stress, whatever the material, fibres and factors on it (the virial). At a vertex stand the sums of its
 * tetrahedra's virials over the sum of their volumes, the mean weighted by volume.
 */
#include "engine/model/damping.h"
#include "engine/state.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The virial, (xx, yy, zz, xy, xz, yz), and the volume. */
enum { ENTRIES = 7 };

static bool is_elastic(const pl_group *g)
{
    const pl_group_ops *ops = g->ops;
    return ops->corners == 4 && ops->rows == 9 && !ops->hard && ops->gradient && ops->measure;
}

/* Six times the volume of a tetrahedron. */
static double six_volumes(const double *const x[4])
{
    double e[3][3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            e[k][i] = x[k + 1][i] - x[0][i];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
           e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Term `lane` of a block, whose contributions begin at f, to its corners' sums. */
static void add_term(const int32_t *corner, const double *f, const double *x, double *sums)
{
    static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
    const double *at[4];
    double own[ENTRIES] = {0};
    for (int c = 0; c < 4; c++)
        at[c] = x + 3 * (int64_t)corner[c * PL_BLOCK];
    own[6] = fabs(six_volumes(at)) / 6;
    for (int k = 0; k < 6; k++)
        for (int c = 1; c < 4; c++) { /* the gradients add up to zero: x counts from the first */
            const double *g = f + (int64_t)c * 3 * PL_BLOCK;
            int i = row[k], j = column[k];
            own[k] += 0.5 * (g[i * PL_BLOCK] * (at[c][j] - at[0][j]) +
                             g[j * PL_BLOCK] * (at[c][i] - at[0][i]));
        }
    for (int c = 0; c < 4; c++)
        for (int k = 0; k < ENTRIES; k++)
            sums[ENTRIES * (int64_t)corner[c * PL_BLOCK] + k] += own[k];
}

static void add_group(const pl_group *g, int32_t threads, const double *x, double *contributions,
                      double *sums)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t b = 0; b < g->blocks; b++)
        g->ops->gradient(g, x, contributions, b, b + 1);
    for (int64_t t = 0; t < g->terms; t++) {
        int64_t b = t / PL_BLOCK, lane = t % PL_BLOCK;
        add_term(g->corner + b * 4 * PL_BLOCK + lane,
                 contributions + g->contribution + b * 12 * PL_BLOCK + lane, x, sums);
    }
}

/* What is no number of a float is none that is stored: an element outside of its material's domain. */
static double bounded(double value)
{
    return fabs(value) <= (double)FLT_MAX ? value : 0;
}

/* Von Mises' stress, the greatest principal stress and the mean one. */
static void invariants(const double *sum, double out[3])
{
    double v = sum[6], s[6], mean = (sum[0] + sum[1] + sum[2]) / 3;
    for (int k = 0; k < 6; k++)
        s[k] = (sum[k] - (k < 3 ? mean : 0)) / v; /* the deviator */
    double j2 = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) / 2 + s[3] * s[3] + s[4] * s[4] +
                s[5] * s[5];
    double j3 = s[0] * (s[1] * s[2] - s[5] * s[5]) - s[3] * (s[3] * s[2] - s[5] * s[4]) +
                s[4] * (s[3] * s[5] - s[1] * s[4]);
    /* The deviator's eigenvalues are 2 sqrt(J2/3) cos(..) (Smith 1961). */
    double radius = 2 * sqrt(j2 / 3), cosine = radius > 0 ? 4 * j3 / (radius * radius * radius) : 0;
    cosine = cosine < -1 ? -1 : cosine > 1 ? 1 : cosine;
    out[0] = v > 0 ? bounded(sqrt(3 * j2)) : 0;
    out[1] = v > 0 ? bounded(mean / v + radius * cos(acos(cosine) / 3)) : 0;
    out[2] = v > 0 ? bounded(mean / v) : 0;
}

pl_status pl_state_stress(const pl_state *s, double *out)
{
    const pl_model *m = s->model;
    const double *x = pl_state_positions(s);
    double *contributions = pl_block_alloc(m->contributions, sizeof *contributions);
    double *sums = calloc((size_t)m->vertices * ENTRIES + 1, sizeof *sums);
    pl_status status = contributions && sums ? PL_OK : PL_NO_MEMORY;
    for (int32_t k = 0; status == PL_OK && k < m->group_count; k++) {
        pl_group still, *g = &m->groups[k];
        if (!is_elastic(g))
            continue;
        if (g->ops->dissipate) /* merged with its energy: that alone is left where nothing moves */
            status = pl_damping_still(g, m->vertices, x, &still);
        if (status == PL_OK)
            add_group(g->ops->dissipate ? &still : g, s->threads, x, contributions, sums);
        if (g->ops->dissipate)
            pl_damping_still_clear(&still);
    }
    for (int64_t i = 0; status == PL_OK && i < m->vertices; i++)
        invariants(sums + ENTRIES * i, out + 3 * i);
    free(contributions);
    free(sums);
    return status;
}
