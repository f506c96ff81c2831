#include "engine/solvers/history.h"

#include <stdlib.h>

/* Least curvature s.t / (t.w) of a pair. */
static const double LEAST_CURVATURE = 1e-10;

void pl_history_destroy(pl_history *h, pl_backend *backend)
{
    if (!h)
        return;
    for (int32_t i = 0; i <= PL_WINDOW_MAX; i++) {
        backend->ops->memory->release(backend, h->s[i]);
        backend->ops->memory->release(backend, h->w[i]);
    }
    free(h->st);
    free(h->wt);
    free(h);
}

pl_status pl_history_create(pl_backend *backend, int32_t window, pl_history **out)
{
    pl_history *h = calloc(1, sizeof *h);
    if (!h)
        return PL_NO_MEMORY;
    int64_t rows = 3 * backend->model->free_vertices;
    bool good = true;
    h->window = window;
    for (int32_t i = 0; i <= window; i++) {
        h->s[i] = backend->ops->memory->alloc(backend, rows);
        h->w[i] = backend->ops->memory->alloc(backend, rows);
        good = good && h->s[i] && h->w[i];
    }
    h->st = calloc(PL_WINDOW_MAX + 1, sizeof *h->st);
    h->wt = calloc(PL_WINDOW_MAX + 1, sizeof *h->wt);
    if (!good || !h->st || !h->wt) {
        pl_history_destroy(h, backend);
        return PL_NO_MEMORY;
    }
    *out = h;
    return PL_OK;
}

void pl_history_forget(pl_history *h)
{
    h->count = 0;
    h->gamma = 1;
    for (int32_t i = 0; i <= h->window; i++)
        h->order[i] = i;
}

/* Keeps the pair in order[count], to which the inner products belong, if its curvature is positive. */
static void remember(pl_history *h)
{
    int32_t slot = h->order[h->count];
    double rho = h->st[slot][slot], size = h->wt[slot][slot];
    if (h->window == 0 || !(rho > LEAST_CURVATURE * size) || !(size > 0))
        return;
    h->gamma = rho / size;
    if (h->count < h->window) {
        h->count++;
        return;
    }
    int32_t oldest = h->order[0];
    for (int32_t i = 0; i < h->window; i++)
        h->order[i] = h->order[i + 1];
    h->order[h->window] = oldest;
}

/* The inner products with a gradient that no step led to, because the objective has changed. */
static void meet(pl_history *h, pl_backend *backend, const pl_array *g)
{
    for (int32_t i = 0; i < h->count; i++) {
        int32_t slot = h->order[i];
        h->sg[slot] = backend->ops->rows->dot(backend, h->s[slot], g);
        h->wg[slot] = backend->ops->rows->dot(backend, h->w[slot], g);
    }
}

double pl_history_take(pl_history *h, pl_backend *backend, const pl_history_point *at, bool stepped,
                       double alpha)
{
    pl_array *slots_s[PL_WINDOW_MAX + 1], *slots_w[PL_WINDOW_MAX + 1];
    double sg[PL_WINDOW_MAX + 1], wg[PL_WINDOW_MAX + 1], st[PL_WINDOW_MAX + 1],
        wt[PL_WINDOW_MAX + 1];
    pl_history_pair pair = {.s = slots_s,
                            .w = slots_w,
                            .count = stepped ? h->count + 1 : 0,
                            .alpha = alpha,
                            .g = at->g,
                            .g_old = at->g_old,
                            .p = at->p,
                            .p_old = at->p_old,
                            .sg = sg,
                            .wg = wg,
                            .st = st,
                            .wt = wt};
    for (int32_t i = 0; i < pair.count; i++) {
        slots_s[i] = h->s[h->order[i]];
        slots_w[i] = h->w[h->order[i]];
    }
    double gp = backend->ops->descent->pair(backend, &pair);
    for (int32_t i = 0; i < pair.count; i++) {
        int32_t slot = h->order[i], newest = h->order[h->count];
        h->sg[slot] = sg[i];
        h->wg[slot] = wg[i];
        h->st[slot][newest] = st[i];
        h->wt[slot][newest] = wt[i];
    }
    if (stepped)
        remember(h);
    else
        meet(h, backend, at->g);
    return gp;
}

void pl_history_rescale(pl_history *h, pl_backend *backend, const pl_array *inverse_old,
                        const pl_array *inverse)
{
    const pl_backend_ops *ops = backend->ops;
    pl_array *t = h->w[h->order[h->count]]; /* the free slot's is unused before the next pair */
    for (int32_t j = 0; j < h->count; j++) {
        int32_t newer = h->order[j];
        ops->rows->unscale(backend, inverse_old, h->w[newer], t);
        ops->rows->scale(backend, inverse, t, h->w[newer]);
        for (int32_t i = 0; i <= j; i++)
            h->wt[h->order[i]][newer] = ops->rows->dot(backend, h->w[h->order[i]], t);
    }
    if (h->count > 0) {
        int32_t newest = h->order[h->count - 1];
        h->gamma = h->st[newest][newest] / h->wt[newest][newest];
    }
}

const pl_array *pl_history_direction(pl_history *h, pl_backend *backend, const pl_array *p,
                                     double gp, double *slope)
{
    double zeta[PL_WINDOW_MAX], coefficient[2 * PL_WINDOW_MAX + 1];
    const pl_array *list[2 * PL_WINDOW_MAX + 1];
    int32_t m = h->count, used = 0;
    for (int32_t i = m - 1; i >= 0; i--) {
        int32_t slot = h->order[i];
        double dot = -h->sg[slot];
        for (int32_t j = i + 1; j < m; j++)
            dot -= zeta[j] * h->st[slot][h->order[j]];
        zeta[i] = dot / h->st[slot][slot];
    }
    list[used] = p;
    coefficient[used++] = -h->gamma;
    *slope = -h->gamma * gp;
    for (int32_t i = 0; i < m; i++) {
        int32_t slot = h->order[i];
        list[used] = h->w[slot];
        coefficient[used++] = -h->gamma * zeta[i];
        *slope -= h->gamma * zeta[i] * h->wg[slot];
    }
    for (int32_t i = 0; i < m; i++) {
        int32_t slot = h->order[i];
        double dot = -h->gamma * h->wg[slot]; /* t_i . r */
        for (int32_t j = 0; j < m; j++) {
            int32_t other = h->order[j];
            dot -= h->gamma * zeta[j] * (i < j ? h->wt[slot][other] : h->wt[other][slot]);
            if (j < i)
                dot += coefficient[m + 1 + j] * h->st[other][slot];
        }
        list[used] = h->s[slot];
        coefficient[used++] = zeta[i] - dot / h->st[slot][slot];
        *slope += coefficient[m + 1 + i] * h->sg[slot];
    }
    pl_array *out = h->s[h->order[m]];
    backend->ops->rows->combine(backend, list, coefficient, used, out);
    return out;
}
