/* The phases of a device's backend: launches of kernels, and sums brought to the host. */
#include "engine/backends/device/phases.h"

#include "engine/backends/device/device_backend.h"
#include "engine/backends/look.h"
#include "engine/model/groups/contact_springs.h"
#include "engine/model/groups/contacts.h"
#include "engine/scene/motion.h"
#include "engine/model/load_forces.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef pl_device device;
enum { COLUMNS = PL_DEVICE_COLUMNS };
#define device_of pl_device_of
#define numbers   pl_device_numbers
#define add_up    PL_NAMED(pl_device_add_up)
#define column_of pl_device_column

/* ---- memory ---- */

static void device_destroy(pl_backend *b)
{
    device *d = device_of(b);
    PL_NAMED(pl_device_splitting_destroy)(d);
    PL_NAMED(pl_device_runs_destroy)(d);
    PL_NAMED(pl_device_model_destroy)(&d->model);
    pl_device_release(d->queue, d->columns);
    pl_device_release(d->queue, d->partial);
    pl_device_release(d->queue, d->last);
    pl_device_release(d->queue, d->scratch);
    if (!d->beside)
        pl_device_queue_destroy(d->queue);
    free(d->host_x);
    free(d->host_v);
    free(d->host_out);
    free(d);
}

static pl_status device_create(const pl_model *model, int32_t threads, pl_backend *beside,
                               pl_backend **out)
{
    if (PL_NAMED(pl_device_refuses)(model))
        return PL_UNSUPPORTED;
    device *d = calloc(1, sizeof *d);
    if (!d)
        return PL_NO_MEMORY;
    d->base = (pl_backend){&PL_NAMED(pl_backend_device), model};
    d->threads = threads;
    d->beside = beside;
    /* Several at a time are compiled in single precision alone (device.h). */
    d->queue = beside ? device_of(beside)->queue
                      : pl_device_queue_create(sizeof(pl_number) == sizeof(float));
    if (!d->queue) {
        free(d);
        return PL_NO_MEMORY;
    }
    size_t n = (size_t)model->vertices;
    pl_status status = PL_NAMED(pl_device_model_create)(d->queue, model, &d->model);
    d->first = model;
    if (status == PL_OK)
        status = PL_NAMED(pl_device_splitting_create)(d);
    d->columns = pl_device_alloc(d->queue, COLUMNS * n * sizeof *d->columns);
    d->partial = pl_device_alloc(d->queue, PL_SUMS_MAX * PL_SUM_WIDTH * sizeof *d->partial);
    d->last = pl_device_alloc(d->queue, PL_SUMS_MAX * PL_SUM_LAST * sizeof *d->last);
    d->scratch = pl_device_alloc(d->queue, 3 * n * sizeof *d->scratch);
    d->weights = pl_device_alloc(d->queue, 2 * PL_DEVICE_RUN_MAX * sizeof *d->weights);
    d->host_x = malloc(3 * n * sizeof *d->host_x);
    d->host_v = malloc(3 * n * sizeof *d->host_v);
    d->host_out = malloc(3 * n * sizeof *d->host_out);
    if (status == PL_OK && (!d->columns || !d->partial || !d->last || !d->scratch || !d->weights ||
                            !d->host_x || !d->host_v || !d->host_out))
        status = PL_NO_MEMORY;
    if (status != PL_OK) {
        device_destroy(&d->base);
        return status;
    }
    *out = &d->base;
    return PL_OK;
}

static double *device_alloc(pl_backend *b, int64_t count)
{
    return pl_device_alloc(device_of(b)->queue,
                           (size_t)(count > 0 ? count : 1) * sizeof(pl_number));
}
static void device_release(pl_backend *b, double *array)
{
    pl_device_release(device_of(b)->queue, array);
}
static void device_upload(pl_backend *b, double *to, const double *from, int64_t count)
{
    PL_NAMED(pl_device_put_numbers)(device_of(b)->queue, numbers(to), from, count);
}
static void device_download(pl_backend *b, double *to, const double *from, int64_t count)
{
    PL_NAMED(pl_device_get_numbers)(device_of(b)->queue, to, numbers(from), count);
}
static void device_copy(pl_backend *b, double *to, const double *from, int64_t count)
{
    pl_device_copy(device_of(b)->queue, to, from, (size_t)count * sizeof(pl_number));
}
static void device_clear(pl_backend *b, double *array, int64_t count)
{
    pl_device_clear(device_of(b)->queue, array, (size_t)count * sizeof(pl_number));
}

static const char *device_fault(const pl_backend *b, bool *launching)
{
    const char *what = pl_device_fault();
    *launching = what && pl_device_launching(((const device *)b)->queue);
    return what;
}

/* Positions where the host can read them. */
static const double *shown(device *d, const double *x, double *to)
{
    PL_NAMED(pl_device_get_numbers)(d->queue, to, numbers(x), 3 * d->base.model->vertices);
    return to;
}

/* ---- sums ---- */

void PL_NAMED(pl_device_add_up)(pl_device *d, const pl_summing *sum, int32_t count, double *out)
{
    double last[PL_SUMS_MAX * PL_SUM_LAST];
    for (int32_t first = 0; first < count; first += PL_SUMS_MAX) {
        int32_t some = count - first < PL_SUMS_MAX ? count - first : PL_SUMS_MAX;
        pl_sums_arguments a = {.vertices = d->model.vertices, .partial = d->partial};
        pl_sums_last_arguments b = {.partial = d->partial, .out = d->last};
        for (int32_t k = 0; k < some; k++) {
            a.sum[k] = sum[first + k];
            b.largest |= (uint64_t)(a.sum[k].kind == PL_SUM_LARGEST) << k;
        }
        PL_NAMED(pl_device_sums)(d->queue, &a, (int64_t)some * PL_SUM_WIDTH);
        PL_NAMED(pl_device_sums_last)(d->queue, &b, (int64_t)some * PL_SUM_LAST);
        if (d->meanwhile)
            d->meanwhile(d->meanwhile_context);
        pl_device_get(d->queue, last, d->last, (size_t)some * PL_SUM_LAST * sizeof *last);
        for (int32_t k = 0; k < some; k++) {
            double total = 0;
            for (int i = 0; i < PL_SUM_LAST; i++) {
                double one = last[k * PL_SUM_LAST + i];
                total = b.largest >> k & 1 ? fmax(total, one) : total + one;
            }
            out[first + k] = pl_device_fault() ? NAN : total;
        }
    }
}

/* ---- around a step ---- */

static void device_drift(pl_backend *b, double h, const double gravity[3], const double *x,
                         const double *v, double *out)
{
    pl_drift_arguments a = {.h = h, .x = numbers(x), .v = numbers(v), .out = numbers(out)};
    memcpy(a.gravity, gravity, sizeof a.gravity);
    PL_NAMED(pl_device_drift)(device_of(b)->queue, &a, 3 * b->model->vertices);
}

static void device_blend(pl_backend *b, const double *base, double d, const double *v, double e,
                         const double *v_old, double *out)
{
    pl_blend_arguments a = {.d = d,
                            .e = e,
                            .base = numbers(base),
                            .v = numbers(v),
                            .v_old = numbers(v_old),
                            .out = numbers(out)};
    PL_NAMED(pl_device_blend)(device_of(b)->queue, &a, 3 * b->model->vertices);
}

static void device_velocity(pl_backend *b, double h, const double *x, const double *x_new,
                            double *out)
{
    pl_velocity_arguments a = {
        .h = h, .x = numbers(x), .x_new = numbers(x_new), .out = numbers(out)};
    PL_NAMED(pl_device_velocity)(device_of(b)->queue, &a, 3 * b->model->vertices);
}

static void device_place_pins(pl_backend *b, double time, double *x)
{
    device *d = device_of(b);
    for (int32_t p = 0; p < b->model->pin_count; p++) {
        const pl_pin_model *pin = &b->model->pins[p];
        pl_pose pose = pl_motion_pose(&pin->motion, time);
        pl_place_pin_arguments a = {.axes = pin->axes,
                                    .moved = pl_motion_moves(&pin->motion),
                                    .vertex = d->model.pin_vertex[p],
                                    .x0 = d->model.x0,
                                    .x = numbers(x)};
        memcpy(a.R, pose.R, sizeof a.R);
        memcpy(a.origin, pose.origin, sizeof a.origin);
        for (int c = 0; c < 3; c++)
            a.to[c] = pose.origin[c] + pose.shift[c];
        PL_NAMED(pl_device_place_pin)(d->queue, &a, pin->count);
    }
}

static void device_pin_force(pl_backend *b, int32_t pin, const double *gradient, double force[3])
{
    device *d = device_of(b);
    const pl_pin_model *p = &b->model->pins[pin];
    pl_pin_force_arguments a = {.count = p->count,
                                .axes = p->axes,
                                .vertex = d->model.pin_vertex[pin],
                                .gradient = numbers(gradient),
                                .columns = d->columns};
    PL_NAMED(pl_device_pin_force)(d->queue, &a, p->count);
    pl_summing sums[3];
    for (int c = 0; c < 3; c++)
        sums[c] = column_of(d, c, p->count);
    add_up(d, sums, 3, force);
}

static void device_evaluate_loads(pl_backend *b, double time, const double *x, const double *v,
                                  double *load, pl_force *total)
{
    device *d = device_of(b);
    pl_loads_evaluate(b->model, time, shown(d, x, d->host_x), shown(d, v, d->host_v), d->threads,
                      d->host_out, total);
    device_upload(b, load, d->host_out, 3 * b->model->vertices);
}

static double device_farthest(pl_backend *b, const double *a, const double *c, int64_t *vertex)
{
    device *d = device_of(b);
    return pl_look_farthest(b->model->vertices, shown(d, a, d->host_x), shown(d, c, d->host_v),
                            vertex);
}

/* ---- energies and gradients ---- */

void PL_NAMED(pl_device_differentiate)(pl_device *d, const pl_number *x, double *const *u,
                                       bool energies)
{
    for (int32_t g = 0; g < d->base.model->group_count; g++) {
        const pl_device_group *on = &d->model.groups[g];
        pl_term_arguments a = on->arguments;
        a.x = x;
        a.energy = energies ? d->model.energy + on->first : NULL;
        a.contributions = d->model.contributions;
        if (on->kernels->energy_gradient) {
            on->kernels->energy_gradient(d->queue, &a, on->threads);
            continue;
        }
        if (a.energy)
            pl_device_clear(d->queue, a.energy, (size_t)on->threads * sizeof *a.energy);
        if (u) {
            a.u = numbers(u[g]);
            on->kernels->transpose(d->queue, &a, on->threads);
        } else {
            pl_device_clear(d->queue, a.contributions + a.group.contribution / 3,
                            (size_t)(on->threads * on->kernels->corners) * sizeof *a.contributions);
        }
    }
}

static void gather(device *d, const pl_stage *stage, const pl_number *x, const pl_number *direction,
                   pl_number *gradient, pl_number *g, bool sums)
{
    pl_gradient_arguments a = {.vertices = d->model.vertices,
                               .inertia = stage->inertia,
                               .contributions = d->model.contributions,
                               .x = x,
                               .x_pred = numbers(stage->x_pred),
                               .load = numbers(stage->load),
                               .d = direction,
                               .gradient = gradient,
                               .g = g,
                               .columns = sums ? d->columns : NULL};
    PL_NAMED(pl_device_gradient)(d->queue, &a, d->base.model->vertices);
}

static pl_trial_sums sums_of(device *d)
{
    pl_summing sums[COLUMNS + 1];
    double total[COLUMNS + 1];
    for (int k = 0; k < COLUMNS; k++)
        sums[k] = column_of(d, k, d->base.model->vertices);
    sums[COLUMNS] =
        (pl_summing){.kind = PL_SUM_NUMBERS, .count = d->model.threads, .a = d->model.energy};
    add_up(d, sums, COLUMNS + 1, total);
    return (pl_trial_sums){.objective = total[0] + total[COLUMNS],
                           .slope = total[1],
                           .norm = sqrt(total[2]),
                           .decrement = sqrt(total[3])};
}

static pl_trial_sums device_trial(pl_backend *b, const pl_stage *stage, const pl_trial *trial)
{
    device *d = device_of(b);
    if (trial->d) {
        pl_move_arguments a = {.vertices = d->model.vertices,
                               .x = numbers(trial->x),
                               .d = numbers(trial->d),
                               .alpha = trial->alpha,
                               .x_new = numbers(trial->x_new)};
        PL_NAMED(pl_device_move)(d->queue, &a, b->model->free_vertices);
    }
    const pl_number *x = numbers(trial->x_new);
    PL_NAMED(pl_device_differentiate)(d, x, NULL, true);
    gather(d, stage, x, numbers(trial->d), numbers(trial->gradient), numbers(trial->g), true);
    return sums_of(d);
}

static pl_status device_trial_prepare(pl_backend *b)
{
    return PL_OK;
}

static double device_objective(pl_backend *b, const pl_stage *stage, const double *x)
{
    device *d = device_of(b);
    PL_NAMED(pl_device_differentiate)(d, numbers(x), NULL, true);
    gather(d, stage, numbers(x), NULL, d->scratch, NULL, true);
    return sums_of(d).objective;
}

static double device_gradient(pl_backend *b, const pl_stage *stage, const double *x,
                              double *const *u, double *gradient)
{
    device *d = device_of(b);
    PL_NAMED(pl_device_differentiate)(d, numbers(x), u, true);
    gather(d, stage, numbers(x), NULL, numbers(gradient), NULL, true);
    return sums_of(d).norm;
}

static int64_t device_soft_force(pl_backend *b, int32_t group, const double *x, double force[3])
{
    device *d = device_of(b);
    const pl_device_group *on = &d->model.groups[group];
    int64_t terms = b->model->groups[group].terms;
    pl_term_arguments a = on->arguments;
    a.x = numbers(x);
    a.columns = d->columns;
    on->kernels->push(d->queue, &a, terms);
    pl_summing sums[4];
    double total[4];
    for (int k = 0; k < 4; k++)
        sums[k] = column_of(d, k, terms);
    add_up(d, sums, 4, total);
    memcpy(force, total, 3 * sizeof *force);
    return isfinite(total[3]) ? (int64_t)total[3] : 0;
}

/* On the host: it is of what is written, once a frame. */
static double device_depth(pl_backend *b, int32_t group, double time, const double *x)
{
    device *d = device_of(b);
    const pl_group *g = &b->model->groups[group];
    return g->ops->depth(g, time, shown(d, x, d->host_x), 0, g->blocks);
}

static pl_measures device_measure(pl_backend *b, const double *x)
{
    device *d = device_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_device_group *on = &d->model.groups[g];
        pl_term_arguments a = on->arguments;
        a.x = numbers(x);
        a.energy = d->model.energy + on->first;
        a.stretch_out = d->model.stretch + on->first;
        a.inverted_out = d->model.inverted + on->first;
        on->kernels->measure(d->queue, &a, on->threads);
    }
    const pl_summing sums[] = {
        {PL_SUM_NUMBERS, d->model.threads, d->model.energy, NULL, NULL, NULL},
        {PL_SUM_NUMBERS, d->model.threads, d->model.inverted, NULL, NULL, NULL},
        {PL_SUM_LARGEST, d->model.threads, d->model.stretch, NULL, NULL, NULL}};
    double total[3];
    add_up(d, sums, 3, total);
    return (pl_measures){
        .elastic = total[0], .inverted = (int64_t)total[1], .max_stretch = total[2]};
}

static pl_motion_sums device_motion(pl_backend *b, const double *x, const double *v)
{
    device *d = device_of(b);
    double total[2 * COLUMNS];
    pl_motion_arguments a = {.count = b->model->vertices,
                             .mass = d->model.vertices.mass,
                             .x = numbers(x),
                             .v = numbers(v),
                             .columns = d->columns};
    memcpy(a.gravity, b->model->gravity, sizeof a.gravity);
    for (a.part = 0; a.part < 2; a.part++) {
        pl_summing sums[COLUMNS];
        PL_NAMED(pl_device_motion)(d->queue, &a, a.count);
        for (int k = 0; k < COLUMNS; k++)
            sums[k] = column_of(d, k, a.count);
        add_up(d, sums, COLUMNS, total + a.part * COLUMNS);
    }
    pl_motion_sums out = {.kinetic = total[0], .gravity = total[1]};
    memcpy(out.linear, total + 2, sizeof out.linear);
    memcpy(out.angular, total + 5, sizeof out.angular);
    return out;
}

static double device_magnitude(pl_backend *b, const double *x)
{
    device *d = device_of(b);
    const pl_summing sum = {
        PL_SUM_MAGNITUDE, b->model->free_vertices, numbers(x), NULL, NULL, NULL};
    double total;
    add_up(d, &sum, 1, &total);
    return total;
}

/* ---- rows ---- */

static void exchange(pl_backend *b, const double *rows, const double *x, bool to_rows)
{
    pl_exchange_arguments a = {.vertices = device_of(b)->model.vertices,
                               .to_rows = to_rows,
                               .rows = numbers(rows),
                               .x = numbers(x)};
    PL_NAMED(pl_device_exchange)(device_of(b)->queue, &a, b->model->free_vertices);
}
static void device_set_free(pl_backend *b, const double *rows, double *x)
{
    exchange(b, rows, x, false);
}
static void device_get_free(pl_backend *b, const double *x, double *rows)
{
    exchange(b, rows, x, true);
}

static pl_summing dot_of(const pl_backend *b, const double *p, const double *q)
{
    return (pl_summing){PL_SUM_DOT, 3 * b->model->free_vertices, numbers(p), numbers(q), NULL,
                        NULL};
}

static double device_dot(pl_backend *b, const double *p, const double *q)
{
    const pl_summing sum = dot_of(b, p, q);
    double total;
    add_up(device_of(b), &sum, 1, &total);
    return total;
}

static double device_dot_change(pl_backend *b, const double *a1, const double *a0, const double *b1,
                                const double *b0)
{
    const pl_summing sum = {PL_SUM_CHANGE_DOT, 3 * b->model->free_vertices,
                            numbers(a1),       numbers(b1),
                            numbers(a0),       numbers(b0)};
    double total;
    add_up(device_of(b), &sum, 1, &total);
    return total;
}

static void times(pl_backend *b, const double *p, const double *q, double *out, bool divide)
{
    pl_scale_arguments a = {
        .divide = divide, .a = numbers(p), .b = numbers(q), .out = numbers(out)};
    PL_NAMED(pl_device_scale)(device_of(b)->queue, &a, 3 * b->model->free_vertices);
}
static double device_scale(pl_backend *b, const double *inverse, const double *g, double *out)
{
    times(b, inverse, g, out, false);
    return device_dot(b, g, out);
}
static void device_unscale(pl_backend *b, const double *inverse, const double *p, double *out)
{
    times(b, p, inverse, out, true);
}

/* Sums of the two columns over free vertices, one over the other. */
static double quotient(device *d)
{
    int64_t n = d->base.model->free_vertices;
    const pl_summing sums[] = {column_of(d, 0, n), column_of(d, 1, n)};
    double total[2];
    add_up(d, sums, 2, total);
    return total[1] > 0 ? total[0] / total[1] : 0;
}

static double device_jacobi(pl_backend *b, const pl_stage *stage, const double *x, double *inverse)
{
    device *d = device_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_device_group *on = &d->model.groups[g];
        pl_term_arguments a = on->arguments;
        a.x = numbers(x);
        a.contributions = d->model.contributions;
        on->kernels->hessian_diagonal(d->queue, &a, on->threads);
    }
    pl_jacobi_arguments a = {.vertices = d->model.vertices,
                             .inertia = stage->inertia,
                             .least = PL_JACOBI_LEAST,
                             .contributions = d->model.contributions,
                             .inverse = numbers(inverse),
                             .columns = d->columns};
    PL_NAMED(pl_device_jacobi)(d->queue, &a, b->model->free_vertices);
    return quotient(d);
}

static double device_jacobi_constant(pl_backend *b, const pl_stage *stage, bool flat,
                                     double *inverse)
{
    device *d = device_of(b);
    const pl_model *m = b->model;
    double most = 0;
    for (int64_t i = 0; flat && i < m->free_vertices; i++)
        most = fmax(most, m->diagonal[i]);
    pl_jacobi_constant_arguments a = {.vertices = d->model.vertices,
                                      .inertia = stage->inertia,
                                      .flat = most,
                                      .inverse = numbers(inverse),
                                      .columns = d->columns};
    PL_NAMED(pl_device_jacobi_constant)(d->queue, &a, m->free_vertices);
    return quotient(d);
}

static void device_combine(pl_backend *b, const double *const *list, const double *coefficient,
                           int32_t count, double *out)
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
    device *d = device_of(b);
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
        const double *const of[] = {pair->s[k], pair->w[k]};
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

/* ---- looking for a vertex or an element: when something failed, on the host ---- */

static int64_t device_find_not_finite(pl_backend *b, const double *x)
{
    device *d = device_of(b);
    return pl_look_not_finite(b->model->vertices, shown(d, x, d->host_x));
}

static int64_t device_find_steepest(pl_backend *b, const double *gradient)
{
    device *d = device_of(b);
    return pl_look_steepest(b->model, shown(d, gradient, d->host_x));
}

/* The first element of infinite energy: tetrahedra, then triangles. */
static int64_t device_find_outside(pl_backend *b, const double *x)
{
    device *d = device_of(b);
    int64_t found = -1;
    double *energy = malloc((size_t)(d->model.threads + 1) * sizeof *energy);
    if (!energy)
        return -1;
    PL_NAMED(pl_device_differentiate)(d, numbers(x), NULL, true);
    PL_NAMED(pl_device_get_numbers)(d->queue, energy, d->model.energy, d->model.threads);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        bool soft = !group->ops->hard, tets = soft && group->ops->rows == 9,
             triangles = soft && group->ops->rows == 6;
        for (int64_t t = 0; (tets || triangles) && t < group->terms; t++) {
            int64_t element = group->ops->dissipate || triangles
                                  ? ((const pl_terms *)group->data)->element[t]
                                  : ((const pl_tets *)group->data)->element[t];
            element += triangles ? b->model->tets : 0;
            if (!isfinite(energy[d->model.groups[g].first + t]) && (found < 0 || element < found))
                found = element;
        }
    }
    free(energy);
    return found;
}

const pl_backend_ops PL_NAMED(pl_backend_device) = {
    .name = PL_DEVICE_NAME,
    .on_host = false,
#ifdef PL_SINGLE
    .epsilon = FLT_EPSILON,
    .energy_epsilon = 1e-6,
#else
    .epsilon = DBL_EPSILON,
    .energy_epsilon = 1e-13,
#endif
    .refuses = PL_NAMED(pl_device_refuses),
    .create = device_create,
    .destroy = device_destroy,
    .alloc = device_alloc,
    .release = device_release,
    .upload = device_upload,
    .download = device_download,
    .copy = device_copy,
    .clear = device_clear,
    .fetch_create = PL_NAMED(pl_device_fetch_create),
    .fetch_destroy = PL_NAMED(pl_device_fetch_destroy),
    .fetch_begin = PL_NAMED(pl_device_fetch_begin),
    .fetch_take = PL_NAMED(pl_device_fetch_take),
    .meanwhile = PL_NAMED(pl_device_meanwhile),
    .fault = device_fault,
    .drift = device_drift,
    .blend = device_blend,
    .velocity = device_velocity,
    .place_pins = device_place_pins,
    .pin_force = device_pin_force,
    .evaluate_loads = device_evaluate_loads,
    .farthest = device_farthest,
    .freeze = PL_NAMED(pl_device_freeze),
    .contact_forces = PL_NAMED(pl_device_contact_forces),
    .contact_velocities = PL_NAMED(pl_device_contact_velocities),
    .inner_acceleration = PL_NAMED(pl_device_inner_acceleration),
    .pin_velocities = PL_NAMED(pl_device_pin_velocities),
    .friction = PL_NAMED(pl_device_friction),
    .dissipation = PL_NAMED(pl_device_dissipation),
    .use_model = PL_NAMED(pl_device_use_model),
    .reduce = PL_NAMED(pl_device_reduce),
    .local_step = PL_NAMED(pl_device_local_step),
    .contribute = PL_NAMED(pl_device_contribute),
    .stage_rows = PL_NAMED(pl_device_start_rows),
    .concavity = PL_NAMED(pl_device_concavity),
    .scale_terms = PL_NAMED(pl_device_scale_terms),
    .gather_global = PL_NAMED(pl_device_gather_global),
    .dual_norm = PL_NAMED(pl_device_dual_norm),
    .solve = PL_NAMED(pl_device_solve),
    .solve_from = PL_NAMED(pl_device_solve_from),
    .hard_force = PL_NAMED(pl_device_hard_force),
    .anderson_prepare = PL_NAMED(pl_device_anderson_prepare),
    .anderson_difference = PL_NAMED(pl_device_anderson_difference),
    .anderson_combine = PL_NAMED(pl_device_anderson_combine),
    .set_free = device_set_free,
    .get_free = device_get_free,
    .dot_change = device_dot_change,
    .objective = device_objective,
    .gradient = device_gradient,
    .soft_force = device_soft_force,
    .depth = device_depth,
    .measure = device_measure,
    .motion = device_motion,
    .find_not_finite = device_find_not_finite,
    .trial_prepare = device_trial_prepare,
    .trial = device_trial,
    .pair = device_pair,
    .jacobi = device_jacobi,
    .scale = device_scale,
    .dot = device_dot,
    .unscale = device_unscale,
    .jacobi_constant = device_jacobi_constant,
    .chebyshev = PL_NAMED(pl_device_step),
    .chebyshev_run = PL_NAMED(pl_device_run),
    .combine = device_combine,
    .magnitude = device_magnitude,
    .find_outside = device_find_outside,
    .find_steepest = device_find_steepest,
};
