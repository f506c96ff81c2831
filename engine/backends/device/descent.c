/* Arithmetic on rows, and phases of descent methods other than trials. */
#include "engine/backends/device/device_backend.h"

#include <math.h>

#define device_of pl_device_of
#define numbers   pl_device_numbers
#define add_up    PL_NAMED(pl_device_add_up)
#define column_of pl_device_column

static void exchange(pl_backend *b, const pl_array *rows, const pl_array *x, bool to_rows)
{
    pl_exchange_arguments a = {.vertices = device_of(b)->model.vertices,
                               .to_rows = to_rows,
                               .rows = numbers(rows),
                               .x = numbers(x)};
    PL_NAMED(pl_device_exchange)(device_of(b)->queue, &a, b->model->free_vertices);
}
static void device_set_free(pl_backend *b, const pl_array *rows, pl_array *x)
{
    exchange(b, rows, x, false);
}
static void device_get_free(pl_backend *b, const pl_array *x, pl_array *rows)
{
    exchange(b, rows, x, true);
}

static pl_summing dot_of(const pl_backend *b, const pl_array *p, const pl_array *q)
{
    return (pl_summing){PL_SUM_DOT, 3 * b->model->free_vertices, numbers(p), numbers(q), NULL,
                        NULL};
}

static double device_dot(pl_backend *b, const pl_array *p, const pl_array *q)
{
    const pl_summing sum = dot_of(b, p, q);
    double total;
    add_up(device_of(b), &sum, 1, &total);
    return total;
}

static double device_dot_change(pl_backend *b, const pl_array *a1, const pl_array *a0,
                                const pl_array *b1, const pl_array *b0)
{
    const pl_summing sum = {PL_SUM_CHANGE_DOT, 3 * b->model->free_vertices,
                            numbers(a1),       numbers(b1),
                            numbers(a0),       numbers(b0)};
    double total;
    add_up(device_of(b), &sum, 1, &total);
    return total;
}

static void times(pl_backend *b, const pl_array *p, const pl_array *q, pl_array *out, bool divide)
{
    pl_scale_arguments a = {
        .divide = divide, .a = numbers(p), .b = numbers(q), .out = numbers(out)};
    PL_NAMED(pl_device_scale)(device_of(b)->queue, &a, 3 * b->model->free_vertices);
}
static double device_scale(pl_backend *b, const pl_array *inverse, const pl_array *g, pl_array *out)
{
    times(b, inverse, g, out, false);
    return device_dot(b, g, out);
}
static void device_unscale(pl_backend *b, const pl_array *inverse, const pl_array *p, pl_array *out)
{
    times(b, p, inverse, out, true);
}

/* Sums of the two columns over free vertices, one over the other. */
static double quotient(pl_device *d)
{
    int64_t n = d->base.model->free_vertices;
    const pl_summing sums[] = {column_of(d, 0, n), column_of(d, 1, n)};
    double total[2];
    add_up(d, sums, 2, total);
    return total[1] > 0 ? total[0] / total[1] : 0;
}

static double device_jacobi(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                            pl_array *inverse)
{
    pl_device *d = device_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_device_group *on = &d->model.groups[g];
        pl_term_arguments a = on->arguments;
        a.x = numbers(x);
        a.contributions = d->model.contributions;
        on->kernels->hessian_diagonal(d->queue, &a, on->threads);
    }
    pl_jacobi_arguments a = {.vertices = d->model.vertices,
                             .inertia = stage->scalars.inertia,
                             .least = PL_JACOBI_LEAST,
                             .contributions = d->model.contributions,
                             .contact = PL_NAMED(pl_device_between_diagonal)(d, numbers(x)),
                             .inverse = numbers(inverse),
                             .columns = d->columns};
    PL_NAMED(pl_device_jacobi)(d->queue, &a, b->model->free_vertices);
    return quotient(d);
}

static double device_jacobi_constant(pl_backend *b, const pl_backend_stage *stage, bool flat,
                                     pl_array *inverse)
{
    pl_device *d = device_of(b);
    const pl_model *m = b->model;
    double most = 0;
    for (int64_t i = 0; flat && i < m->free_vertices; i++)
        most = fmax(most, m->diagonal[i]);
    pl_jacobi_constant_arguments a = {.vertices = d->model.vertices,
                                      .inertia = stage->scalars.inertia,
                                      .flat = most,
                                      .inverse = numbers(inverse),
                                      .columns = d->columns};
    PL_NAMED(pl_device_jacobi_constant)(d->queue, &a, m->free_vertices);
    return quotient(d);
}

static void device_combine(pl_backend *b, const pl_array *const *list, const double *coefficient,
                           int32_t count, pl_array *out)
{
    pl_combine_arguments a = {.count = count, .out = numbers(out)};
    for (int32_t k = 0; k < count; k++) {
        a.coefficient[k] = coefficient[k];
        a.list[k] = numbers(list[k]);
    }
    PL_NAMED(pl_device_combine)(device_of(b)->queue, &a, 3 * b->model->free_vertices);
}

static double device_pair(pl_backend *b, const pl_history_pair *pair)
{
    pl_device *d = device_of(b);
    int64_t rows = 3 * b->model->free_vertices;
    pl_summing sums[4 * (PL_WINDOW_MAX + 1) + 1];
    double total[4 * (PL_WINDOW_MAX + 1) + 1];
    if (pair->count > 0) {
        pl_pair_arguments a = {.alpha = pair->alpha,
                               .p = numbers(pair->p),
                               .p_old = numbers(pair->p_old),
                               .s = numbers(pair->s[pair->count - 1]),
                               .w = numbers(pair->w[pair->count - 1])};
        PL_NAMED(pl_device_pair)(d->queue, &a, rows);
    }
    for (int32_t k = 0; k < pair->count; k++) {
        const pl_array *const of[] = {pair->s[k], pair->w[k]};
        for (int j = 0; j < 2; j++) {
            sums[4 * k + 2 * j] = dot_of(b, of[j], pair->g);
            sums[4 * k + 2 * j + 1] = (pl_summing){PL_SUM_DOT_CHANGE, rows, numbers(of[j]),
                                                   numbers(pair->g),  NULL, numbers(pair->g_old)};
        }
    }
    sums[4 * pair->count] = dot_of(b, pair->p, pair->g);
    add_up(d, sums, 4 * pair->count + 1, total);
    for (int32_t k = 0; k < pair->count; k++) {
        pair->sg[k] = total[4 * k];
        pair->st[k] = total[4 * k + 1];
        pair->wg[k] = total[4 * k + 2];
        pair->wt[k] = total[4 * k + 3];
    }
    return total[4 * pair->count];
}

static pl_status device_trial_prepare(pl_backend *b)
{
    return PL_OK;
}

const pl_rows_ops PL_NAMED(pl_device_rows_ops) = {
    .set_free = device_set_free,
    .get_free = device_get_free,
    .dot_change = device_dot_change,
    .scale = device_scale,
    .dot = device_dot,
    .unscale = device_unscale,
    .combine = device_combine,
};

const pl_descent_ops PL_NAMED(pl_device_descent_ops) = {
    .prepare = device_trial_prepare,
    .trial = PL_NAMED(pl_device_trial),
    .pair = device_pair,
    .jacobi = device_jacobi,
    .jacobi_constant = device_jacobi_constant,
    .chebyshev = PL_NAMED(pl_device_step),
};
