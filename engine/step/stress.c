/* Stress, from the forces that the elements exert.
 *
 * A linear element's gradient at its corners is g_c = V0 P b_c, with the columns b_c of the shape functions'
 * gradients. So sum_c g_c x_c^T = V0 P F^T = v sigma: its current volume times Cauchy stress, whatever the material
 * and its factors (the virial). Divided by its volume, it is the element's stress. A vertex has the sum of its
 * tetrahedra's virials over the sum of their volumes, the mean weighted by volume. For a triangle, v is its current
 * area times its thickness at rest: its thinning is unknown here.
 */
#include "engine/model/damping/damping.h"
#include "engine/model/groups/terms.h"
#include "engine/model/groups/tets.h"
#include "engine/step/state.h"
#include "engine/vectors.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The virial, (xx, yy, zz, xy, xz, yz), and the volume. */
enum { ENTRIES = 7 };

/* The accumulated sums. */
typedef struct sums {
    const pl_model *model;
    int32_t threads;
    const double *x;
    double *contributions;
    double *vertex;  /* [vertices][ENTRIES], of tetrahedra; or NULL */
    double *element; /* [tetrahedra, then triangles][ENTRIES]; or NULL */
} sums;

static bool is_membrane(const pl_group *g)
{
    return g->ops == pl_terms_ops(PL_TERMS_TRIANGLES);
}

static bool is_solid(const pl_group *g)
{
    const pl_group_ops *ops = g->ops;
    return ops->corners == 4 && ops->rows == 9 && !ops->hard && ops->gradient && ops->measure;
}

/* Six times the volume of a tetrahedron, twice the area of a triangle. */
static double measure(int corners, const double *const x[])
{
    double e[3][3], n[3];
    for (int c = 1; c < corners; c++)
        pl_vector_subtract(x[c], x[0], e[c - 1]);
    pl_vector_cross(e[0], e[1], n);
    return corners == 3 ? sqrt(pl_vector_dot(n, n)) : fabs(pl_vector_dot(n, e[2]));
}

/* The virial of a term, whose contributions begin at f; the volume is left to the caller. */
static void add_virial(int corners, const double *const at[], const double *f, double own[ENTRIES])
{
    static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        for (int c = 1; c < corners;
             c++) { /* the gradients add up to zero: x counts from the first */
            const double *g = f + (int64_t)c * 3 * PL_BLOCK;
            int i = row[k], j = column[k];
            own[k] += 0.5 * (g[i * PL_BLOCK] * (at[c][j] - at[0][j]) +
                             g[j * PL_BLOCK] * (at[c][i] - at[0][i]));
        }
}

static void add_term(const sums *s, const pl_group *g, int64_t t)
{
    int64_t b = t / PL_BLOCK, lane = t % PL_BLOCK;
    int corners = g->ops->corners;
    const int32_t *corner = g->corner + b * corners * PL_BLOCK + lane;
    const double *at[4];
    double own[ENTRIES] = {0};
    for (int c = 0; c < corners; c++)
        at[c] = s->x + 3 * (int64_t)corner[c * PL_BLOCK];
    add_virial(corners, at, s->contributions + g->contribution + b * 3 * corners * PL_BLOCK + lane,
               own);
    const bool of_terms = is_membrane(g) || g->ops->dissipate; /* merged terms are terms, too */
    int64_t element = of_terms ? pl_terms_of(g)->element[t] : pl_tets_of(g)->element[t];
    own[6] = measure(corners, at) / 6;
    if (is_membrane(g)) {
        own[6] *= 3 * s->model->thickness[element];
        element += s->model->tets;
    }
    for (int k = 0; s->element && k < ENTRIES; k++)
        s->element[ENTRIES * element + k] += own[k];
    for (int c = 0; s->vertex && corners == 4 && c < 4; c++)
        for (int k = 0; k < ENTRIES; k++)
            s->vertex[ENTRIES * (int64_t)corner[c * PL_BLOCK] + k] += own[k];
}

static void add_group(const sums *s, const pl_group *g)
{
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t b = 0; b < g->blocks; b++)
        g->ops->gradient(g, s->x, s->contributions, b, b + 1);
    for (int64_t t = 0; t < g->terms; t++)
        add_term(s, g, t);
}

/* A number that does not fit a float is stored as 0: an element outside its material's domain. */
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

static pl_status add_groups(const sums *s)
{
    const pl_model *m = s->model;
    pl_status status = PL_OK;
    for (int32_t k = 0; status == PL_OK && k < m->group_count; k++) {
        pl_group still, *g = &m->groups[k];
        if (!is_solid(g) && !(is_membrane(g) && s->element))
            continue;
        if (g->ops->dissipate) /* merged with its energy: only that remains without motion */
            status = pl_damping_at_rest(g, m->vertices, s->x, &still);
        if (status == PL_OK)
            add_group(s, g->ops->dissipate ? &still : g);
        if (g->ops->dissipate)
            pl_damping_at_rest_clear(&still);
    }
    return status;
}

pl_status pl_state_stress(const pl_state *state, double *vertices, double *elements)
{
    const pl_model *m = state->model;
    int64_t cells = pl_model_element_count(m);
    sums s = {.model = m, .threads = state->threads, .x = pl_state_positions(state)};
    s.contributions = pl_block_alloc(m->contributions, sizeof *s.contributions);
    s.vertex = vertices ? calloc((size_t)m->vertices * ENTRIES + 1, sizeof *s.vertex) : NULL;
    s.element = elements ? calloc((size_t)cells * ENTRIES + 1, sizeof *s.element) : NULL;
    bool good = s.contributions && (s.vertex || !vertices) && (s.element || !elements);
    pl_status status = good ? add_groups(&s) : PL_NO_MEMORY;
    for (int64_t i = 0; status == PL_OK && vertices && i < m->vertices; i++)
        invariants(s.vertex + ENTRIES * i, vertices + 3 * i);
    for (int64_t i = 0; status == PL_OK && elements && i < cells; i++)
        invariants(s.element + ENTRIES * i, elements + 3 * i);
    free(s.contributions);
    free(s.vertex);
    free(s.element);
    return status;
}
