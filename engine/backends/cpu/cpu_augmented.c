/* Multipliers of held groups. The first order of an augmented Lagrangian is the force that its terms exert at the
 * minimiser x. It converges by 1 / (1 + k c) per round, where k is a penalty and c the compliance of its
 * constraint. c is small where a light rope carries a heavy body: that takes 20 rounds and more.
 *
 * The second order (Bertsekas 1982, section 2.3) is Newton's method on the multipliers. H is the Hessian at x,
 * including the penalties; C the rows of the active constraints, f their multipliers, and e the residual of each at
 * x. A step of x that eliminates e, with forces in balance, is
 *
 *     d = -H^-1 C^T m,   C d = -e,   so that S m = e with S = C H^-1 C^T,   f <- f + m
 *
 * where the first order has m = k e. S is never formed: conjugate gradients on it, preconditioned by k, start at
 * the first order and take two solves with the existing factor of H per iteration. */
#include "engine/backends/cpu/cpu_internal.h"

#include <stdlib.h>
#include <string.h>

/* Conjugate gradients end when the residual is this fraction of e, or after this many iterations. */
static const double ENOUGH = 1e-3;
enum { MOST_GRADIENTS = 50 };

typedef struct augmented {
    double *change, *m, *r, *z, *p, *Sp; /* lists of multipliers */
    double *rows;                        /* [3][free_vertices] */
    double *d;                           /* [vertices][3]; 0 where held */
} augmented;

void pl_cpu_augmented_release(cpu *c)
{
    augmented *s = c->augmented;
    if (!s)
        return;
    free(s->change);
    free(s->rows);
    free(s->d);
    free(s);
    c->augmented = NULL;
}

pl_status pl_cpu_augmented_create(cpu *c)
{
    const pl_model *m = c->base.model;
    if (m->multipliers == 0)
        return PL_OK;
    augmented *s = c->augmented = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    s->change = pl_block_alloc(6 * m->multipliers, sizeof *s->change);
    s->rows = pl_block_alloc(3 * m->free_vertices, sizeof *s->rows);
    s->d = pl_block_alloc(3 * m->vertices, sizeof *s->d);
    if (!s->change || !s->rows || !s->d)
        return PL_NO_MEMORY; /* the backend releases what was created */
    double **lists[] = {&s->m, &s->r, &s->z, &s->p, &s->Sp};
    for (int i = 0; i < 5; i++)
        *lists[i] = s->change + (i + 1) * m->multipliers;
    return PL_OK;
}

#define EACH_HELD(m, g)                                                                            \
    for (const pl_group *g = (m)->groups; g < (m)->groups + (m)->group_count; g++)                 \
        if (g->ops->held)

void pl_cpu_hold(pl_backend *b, const double *multipliers)
{
    EACH_HELD(b->model, g)
        g->ops->held->hold(g, multipliers, 0, g->blocks);
}

/* rows = C^T f, without other groups. */
static void pull(cpu *c, const double *x, const double *f, const double *multipliers, double *rows)
{
    const pl_model *m = c->base.model;
    memset(c->to_global, 0, (size_t)m->contributions * sizeof *c->to_global);
    EACH_HELD(m, g)
        g->ops->held->pull(g, x, multipliers, f, c->to_global, 0, g->blocks);
    for (int64_t i = 0; i < m->free_vertices; i++) {
        double sum[3];
        pl_gather_vertex(&m->gather, c->to_global, m->free_vertex[i], sum);
        clear_held(m, m->free_vertex[i], sum);
        for (int k = 0; k < 3; k++)
            rows[k * m->free_vertices + i] = sum[k];
    }
}

/* out = S f */
static pl_status multiply(cpu *c, const double *x, const double *multipliers, const double *f,
                          double *out)
{
    augmented *s = c->augmented;
    const pl_model *m = c->base.model;
    pull(c, x, f, multipliers, s->rows);
    pl_status status = pl_cpu_hessian_solve(&c->base, s->rows, s->rows);
    pl_cpu_set_free(&c->base, s->rows, s->d);
    EACH_HELD(m, g)
        g->ops->held->along(g, x, multipliers, s->d, out, 0, g->blocks);
    return status;
}

/* z = k r; returns r.z. */
static double precondition(const pl_model *m, const double *r, double *z)
{
    int64_t at = 0; /* multipliers lie in the order of their groups */
    double sum = 0;
    EACH_HELD(m, g)
        for (int64_t i = 0; i < g->blocks * PL_BLOCK; i++, at++) {
            z[at] = g->weight[i] * r[at];
            sum += r[at] * z[at];
        }
    return sum;
}

static double dot(const pl_model *m, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < m->multipliers; i++)
        sum += a[i] * b[i];
    return sum;
}

/* r = e, which is change / k where the constraint is active. Returns e.ke. */
static double begin(cpu *c, const double *multipliers)
{
    augmented *s = c->augmented;
    const pl_model *m = c->base.model;
    int64_t at = 0; /* multipliers lie in the order of their groups */
    double sum = 0;
    EACH_HELD(m, g)
        for (int64_t i = 0; i < g->blocks * PL_BLOCK; i++, at++) {
            const bool holds = multipliers[at] != 0 && g->weight[i] > 0;
            s->r[at] = holds ? s->change[at] / g->weight[i] : 0;
            s->m[at] = holds ? s->change[at] : 0;
            sum += s->r[at] * s->m[at];
        }
    return sum;
}

/* m, the solution of S m = e. */
static pl_status solve(cpu *c, const double *x, const double *multipliers)
{
    augmented *s = c->augmented;
    const pl_model *m = c->base.model;
    const double bound = ENOUGH * ENOUGH * begin(c, multipliers);
    pl_status status = multiply(c, x, multipliers, s->m, s->Sp);
    for (int64_t i = 0; i < m->multipliers; i++)
        s->r[i] -= s->Sp[i];
    double rz = precondition(m, s->r, s->z);
    memcpy(s->p, s->z, (size_t)m->multipliers * sizeof *s->p);
    for (int k = 0; status == PL_OK && k < MOST_GRADIENTS && rz > bound; k++) {
        status = multiply(c, x, multipliers, s->p, s->Sp);
        const double curvature = dot(m, s->p, s->Sp);
        if (!(curvature > 0))
            break;
        const double a = rz / curvature;
        for (int64_t i = 0; i < m->multipliers; i++) {
            s->m[i] += a * s->p[i];
            s->r[i] -= a * s->Sp[i];
        }
        const double next = precondition(m, s->r, s->z);
        for (int64_t i = 0; i < m->multipliers; i++)
            s->p[i] = s->z[i] + next / rz * s->p[i];
        rz = next;
    }
    return status;
}

void pl_cpu_renew(pl_backend *b, const double *x, double *multipliers)
{
    cpu *c = cpu_of(b);
    augmented *s = c->augmented;
    EACH_HELD(b->model, g)
        g->ops->held->renew(g, x, multipliers, s->change, 0, g->blocks);
    if (!pl_cpu_hessian_take_factor(c) || solve(c, x, multipliers) != PL_OK)
        return;
    for (int64_t i = 0; i < b->model->multipliers; i++)
        s->change[i] = s->m[i] - s->change[i];
    EACH_HELD(b->model, g)
        g->ops->held->correct(g, s->change, multipliers, 0, g->blocks);
}
