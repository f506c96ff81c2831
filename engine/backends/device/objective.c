/* Energies and gradients of all terms, and their metrics for frames. */
#include "engine/backends/device/device_backend.h"
#include "engine/backends/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define device_of pl_device_of
#define numbers   pl_device_numbers
#define add_up    PL_NAMED(pl_device_add_up)
#define column_of pl_device_column
#define shown     PL_NAMED(pl_device_shown)

void PL_NAMED(pl_device_differentiate)(pl_device *d, const pl_number *x, pl_array *const *u,
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
        if (u && !PL_NAMED(pl_device_is_apart)(d, g)) {
            a.u = numbers(u[g]);
            on->kernels->transpose(d->queue, &a, on->threads);
        } else {
            pl_device_clear(d->queue, a.contributions + a.group.contribution / 3,
                            (size_t)(on->threads * on->kernels->corners) * sizeof *a.contributions);
        }
    }
}

/* contact: contribution of rows, or NULL. */
static void gather(pl_device *d, const pl_backend_stage *stage, const pl_number *x,
                   const pl_number *contact, const pl_number *direction, pl_number *gradient,
                   pl_number *g)
{
    pl_gradient_arguments a = {.vertices = d->model.vertices,
                               .inertia = stage->scalars.inertia,
                               .contributions = d->model.contributions,
                               .x = x,
                               .x_pred = numbers(stage->x_pred),
                               .load = numbers(stage->load),
                               .contact = contact,
                               .d = direction,
                               .gradient = gradient,
                               .g = g,
                               .columns = d->columns};
    PL_NAMED(pl_device_gradient)(d->queue, &a, d->base.model->vertices);
}

/* energies: [rows] of contact rows. */
static pl_trial_sums sums_of(pl_device *d, const double *energies, int64_t rows)
{
    pl_summing sums[PL_DEVICE_COLUMNS + 2];
    double total[PL_DEVICE_COLUMNS + 2] = {0};
    for (int k = 0; k < PL_DEVICE_COLUMNS; k++)
        sums[k] = column_of(d, k, d->base.model->vertices);
    sums[PL_DEVICE_COLUMNS] =
        (pl_summing){.kind = PL_SUM_NUMBERS, .count = d->model.threads, .a = d->model.energy};
    sums[PL_DEVICE_COLUMNS + 1] =
        (pl_summing){.kind = PL_SUM_DOUBLES, .count = rows, .a = energies};
    add_up(d, sums, PL_DEVICE_COLUMNS + (rows > 0 ? 2 : 1), total);
    return (pl_trial_sums){.objective = total[0] + total[PL_DEVICE_COLUMNS] +
                                        total[PL_DEVICE_COLUMNS + 1],
                           .slope = total[1],
                           .norm = sqrt(total[2]),
                           .decrement = sqrt(total[3])};
}

/* Objective, gradient and slope, with hard constraints taken as satisfied. */
static pl_trial_sums evaluate(pl_device *d, const pl_backend_stage *stage, const pl_number *x,
                              const pl_number *direction, pl_number *gradient, pl_number *g)
{
    const double *energies;
    int64_t rows;
    PL_NAMED(pl_device_differentiate)(d, x, NULL, true);
    const pl_number *contact = PL_NAMED(pl_device_between_pull)(d, x, &energies, &rows);
    gather(d, stage, x, contact, direction, gradient, g);
    return sums_of(d, energies, rows);
}

pl_trial_sums PL_NAMED(pl_device_trial)(pl_backend *b, const pl_backend_stage *stage,
                                        const pl_trial *trial)
{
    pl_device *d = device_of(b);
    if (trial->d) {
        pl_move_arguments a = {.vertices = d->model.vertices,
                               .x = numbers(trial->x),
                               .d = numbers(trial->d),
                               .alpha = trial->alpha,
                               .x_new = numbers(trial->x_new)};
        PL_NAMED(pl_device_move)(d->queue, &a, b->model->free_vertices);
    }
    return evaluate(d, stage, numbers(trial->x_new), numbers(trial->d), numbers(trial->gradient),
                    numbers(trial->g));
}

static double device_value(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    pl_device *d = device_of(b);
    return evaluate(d, stage, numbers(x), NULL, d->scratch, NULL).objective;
}

static double device_gradient(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                              pl_array *const *u, pl_array *gradient)
{
    pl_device *d = device_of(b);
    const pl_number *contact = NULL;
    const double *energies;
    int64_t rows;
    PL_NAMED(pl_device_differentiate)(d, numbers(x), u, true);
    if (u || d->between.group < 0)
        contact = PL_NAMED(pl_device_between_pull)(d, numbers(x), &energies, &rows);
    gather(d, stage, numbers(x), contact, NULL, numbers(gradient), NULL);
    return sums_of(d, NULL, 0).norm;
}

int64_t PL_NAMED(pl_device_push)(pl_device *d, int32_t group, const pl_term_arguments *a,
                                 double force[3])
{
    int64_t terms = d->base.model->groups[group].terms;
    pl_summing sums[4];
    double total[4];
    d->model.groups[group].kernels->push(d->queue, a, terms);
    for (int k = 0; k < 4; k++)
        sums[k] = column_of(d, k, terms);
    add_up(d, sums, 4, total);
    memcpy(force, total, 3 * sizeof *force);
    return isfinite(total[3]) ? (int64_t)total[3] : 0;
}

static int64_t device_soft_force(pl_backend *b, int32_t group, const pl_array *x, double force[3])
{
    pl_device *d = device_of(b);
    pl_term_arguments a = d->model.groups[group].arguments;
    a.x = numbers(x);
    a.columns = d->columns;
    return PL_NAMED(pl_device_push)(d, group, &a, force);
}

/* On the host: its result is written, once per frame. */
static void device_depths(pl_backend *b, double time, const pl_array *x, double *out)
{
    pl_device *d = device_of(b);
    const pl_model *m = b->model;
    const double *host = NULL;
    for (int32_t i = 0; i < m->group_count; i++) {
        const pl_group *g = &m->groups[i];
        if (m->group_obstacle[i] < 0)
            continue;
        host = host ? host : shown(d, x, d->host_x);
        out[m->group_obstacle[i]] = g->ops->depth(g, time, host, 0, g->blocks);
    }
}

static pl_measures device_elements(pl_backend *b, const pl_array *x)
{
    pl_device *d = device_of(b);
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

static pl_motion_sums device_motion(pl_backend *b, const pl_array *x, const pl_array *v)
{
    pl_device *d = device_of(b);
    double total[2 * PL_DEVICE_COLUMNS];
    pl_motion_arguments a = {.count = b->model->vertices,
                             .mass = d->model.vertices.mass,
                             .x = numbers(x),
                             .v = numbers(v),
                             .columns = d->columns};
    memcpy(a.gravity, b->model->gravity, sizeof a.gravity);
    for (a.part = 0; a.part < 2; a.part++) {
        pl_summing sums[PL_DEVICE_COLUMNS];
        PL_NAMED(pl_device_motion)(d->queue, &a, a.count);
        for (int k = 0; k < PL_DEVICE_COLUMNS; k++)
            sums[k] = column_of(d, k, a.count);
        add_up(d, sums, PL_DEVICE_COLUMNS, total + a.part * PL_DEVICE_COLUMNS);
    }
    pl_motion_sums out = {.kinetic = total[0], .gravity = total[1]};
    memcpy(out.linear, total + 2, sizeof out.linear);
    memcpy(out.angular, total + 5, sizeof out.angular);
    return out;
}

static double device_magnitude(pl_backend *b, const pl_array *x)
{
    pl_device *d = device_of(b);
    const pl_summing sum = {
        PL_SUM_MAGNITUDE, b->model->free_vertices, numbers(x), NULL, NULL, NULL};
    double total;
    add_up(d, &sum, 1, &total);
    return total;
}

/* ---- search for a vertex or an element after a failure, on the host ---- */

static int64_t device_find_steepest(pl_backend *b, const pl_array *gradient)
{
    pl_device *d = device_of(b);
    return pl_look_steepest(b->model, shown(d, gradient, d->host_x));
}

/* The first element of infinite energy: tetrahedra, then triangles. */
static int64_t device_find_outside(pl_backend *b, const pl_array *x)
{
    pl_device *d = device_of(b);
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

const pl_objective_ops PL_NAMED(pl_device_objective_ops) = {
    .freeze = PL_NAMED(pl_device_freeze),
    .value = device_value,
    .gradient = device_gradient,
    .magnitude = device_magnitude,
    .find_outside = device_find_outside,
    .find_steepest = device_find_steepest,
};

const pl_measures_ops PL_NAMED(pl_device_measures_ops) = {
    .dissipation = PL_NAMED(pl_device_dissipation),
    .soft_force = device_soft_force,
    .depths = device_depths,
    .elements = device_elements,
    .motion = device_motion,
};
