/* The phases of methods with the constant matrix: local steps by term, global steps by matrix.h. */
#include "engine/backends/device/device_backend.h"
#include "engine/backends/device/splitting_kernels.h"
#include "engine/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static pl_number4 *take4(pl_device *d, int64_t count)
{
    return pl_device_alloc(d->queue, (size_t)(count > 0 ? count : 1) * sizeof(pl_number4));
}

pl_status PL_NAMED(pl_device_splitting_create)(pl_device *d)
{
    const pl_model *m = d->base.model;
    d->first = m;
    for (int32_t g = 0; g < m->group_count; g++)
        d->with_hard = d->with_hard || m->groups[g].ops->hard;
    if (m->A.n == 0)
        return PL_OK;
    pl_status status = PL_NAMED(pl_device_system_create)(d->queue, m, &d->system);
    pl_number4 **vectors[] = {&d->iterate.x, &d->iterate.r, &d->iterate.r0, &d->iterate.d[0],
                              &d->iterate.d[1]};
    bool good = true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = take4(d, m->free_vertices);
        good = good && *vectors[i];
    }
    d->weight = calloc((size_t)m->group_count + 1, sizeof *d->weight);
    d->sums = pl_device_alloc(d->queue, (size_t)(d->model.threads + 1) * sizeof *d->sums);
    if (m->solver.method == PL_METHOD_ADMM)
        good = (d->dual = take4(d, m->contributions / 3)) && good;
    return status == PL_OK && !(good && d->weight && d->sums) ? PL_NO_MEMORY : status;
}

/* Returns to the weights with which the model was created. */
static void restore_weights(pl_device *d)
{
    for (int32_t g = 0; d->weight && g < d->first->group_count; g++) {
        if (!d->weight[g])
            continue;
        pl_device_release(d->queue, d->model.groups[g].arguments.group.weight);
        d->model.groups[g].arguments.group.weight = d->weight[g];
        d->weight[g] = NULL;
    }
    if (d->diagonal)
        d->model.vertices.diagonal = d->diagonal;
    d->diagonal = NULL;
    d->model.generation++;
    PL_NAMED(pl_device_system_destroy)(&d->other);
}

void PL_NAMED(pl_device_splitting_destroy)(pl_device *d)
{
    restore_weights(d);
    PL_NAMED(pl_device_system_destroy)(&d->system);
    void *const memory[] = {d->iterate.x,    d->iterate.r,    d->iterate.r0,
                            d->iterate.d[0], d->iterate.d[1], d->dual,
                            d->sums,         d->products,     d->reduced};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        pl_device_release(d->queue, memory[i]);
    free(d->weight);
}

static pl_status device_use_model(pl_backend *b, const pl_model *model)
{
    pl_device *d = pl_device_of(b);
    size_t groups = (size_t)model->group_count;
    pl_device_system system = {0};
    pl_number **weight = calloc(groups + 1, sizeof *weight);
    bool back = model == d->first;
    pl_status status = back || weight ? PL_OK : PL_NO_MEMORY;
    if (!back && status == PL_OK)
        status = PL_NAMED(pl_device_system_create)(d->queue, model, &system);
    for (size_t g = 0; !back && status == PL_OK && g < groups; g++) {
        const pl_group *group = &model->groups[g];
        int64_t count = group->blocks * PL_BLOCK;
        if (group->weight == d->first->groups[g].weight)
            continue;
        weight[g] = pl_device_alloc(d->queue, (size_t)count * sizeof *weight[g]);
        if (weight[g])
            PL_NAMED(pl_device_put_numbers)
        (d->queue, weight[g], (const double *)group->weight, count);
        status = weight[g] ? PL_OK : PL_NO_MEMORY;
    }
    if (status == PL_OK) {
        restore_weights(d);
        b->model = model;
    } else {
        PL_NAMED(pl_device_system_destroy)(&system);
    }
    for (size_t g = 0; weight && g < groups; g++) {
        if (status != PL_OK) {
            pl_device_release(d->queue, weight[g]);
        } else if (weight[g]) {
            d->weight[g] = d->model.groups[g].arguments.group.weight;
            d->model.groups[g].arguments.group.weight = weight[g];
            d->model.generation++;
        }
    }
    if (status == PL_OK && !back) {
        d->other = system;
        d->diagonal = d->system.diagonal;
        d->model.vertices.diagonal = system.diagonal;
    }
    free(weight);
    return status;
}

/* ---- local steps ---- */

static void device_reduce(pl_backend *b, const pl_array *x, pl_array *const *z)
{
    pl_device *d = pl_device_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_device_group *on = &d->model.groups[g];
        pl_term_arguments a = on->arguments;
        a.x = pl_device_numbers(x);
        a.values = pl_device_numbers(z[g]);
        on->kernels->reduce(d->queue, &a, on->threads);
    }
}

/* |W (D x - z)| of one group's terms. */
static double primal_of(pl_device *d, const pl_device_group *on)
{
    const pl_summing sum = {.kind = PL_SUM_THIRD,
                            .count = on->threads,
                            .a = (const double *)(uintptr_t)(d->sums + on->first)};
    double total;
    PL_NAMED(pl_device_add_up)(d, &sum, 1, &total);
    return sqrt(total);
}

/* For a group whose weights are 0, the host's numbers, which are doubles here as well: it does nothing. */
static void leave_out(pl_device *d, const pl_device_group *on, bool dual)
{
    const int64_t first = on->arguments.group.contribution / 3;
    const size_t bytes = (size_t)on->threads * sizeof *d->dual;
    pl_device_clear(d->queue, d->sums + on->first, (size_t)on->threads * sizeof *d->sums);
    pl_device_clear(d->queue, d->model.contributions + first, bytes);
    if (dual)
        pl_device_clear(d->queue, d->dual + first, bytes);
}

static pl_local_sums add_local_sums(pl_device *d)
{
    double total[3];
    pl_summing sums[3];
    for (int k = 0; k < 3; k++)
        sums[k] = (pl_summing){.kind = PL_SUM_THIRD,
                               .count = d->model.threads,
                               .a = (const double *)(uintptr_t)d->sums + k};
    PL_NAMED(pl_device_add_up)(d, sums, 3, total);
    return (pl_local_sums){
        .primal = sqrt(total[0]), .change = sqrt(total[1]), .size = sqrt(total[2])};
}

static void mix(pl_device *d, const pl_local_step *step, int32_t g)
{
    const pl_mixing *m = step->mixing;
    pl_mixing_arguments a = {
        .count = m->count, .taken = (float *)m->taken[g], .u = pl_device_numbers(step->u[g])};
    for (int32_t j = 0; j < m->count; j++) {
        a.gamma[j] = m->gamma[j];
        a.dg[j] = (const float *)m->dg[j][g];
    }
    PL_NAMED(pl_device_mixing_kernel)(d->queue, &a, pl_group_values(&d->base.model->groups[g]));
}

/* The host does not know when one of consecutive launches ends: all of the time is attributed to the elements. */
static pl_local_sums device_local_step(pl_backend *b, const pl_backend_stage *stage,
                                       const pl_local_step *step)
{
    pl_device *d = pl_device_of(b);
    const pl_stage numbers = pl_numbers_stage(stage);
    double start = pl_clock_ms();
    pl_local_sums sums = {0};
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_device_group *on = &d->model.groups[g];
        const bool apart = PL_NAMED(pl_device_is_apart)(d, g);
        pl_term_arguments a = on->arguments;
        if (apart && *(const double *)(const void *)b->model->groups[g].weight == 0) {
            leave_out(d, on, step->want_dual);
            continue;
        }
        if (step->mixing)
            mix(d, step, g);
        a.x = pl_device_numbers(step->x);
        a.x_start = numbers.x_start;
        a.stationary = pl_contact_has_stationary(&numbers) ? numbers.stationary : NULL;
        a.contributions = d->model.contributions;
        a.local = (pl_admm_local){.u = pl_device_numbers(step->u[g]),
                                  .z = pl_device_numbers(step->z[g]),
                                  .u_old = pl_device_numbers(step->u_old[g]),
                                  .z_old = pl_device_numbers(step->z_old[g]),
                                  .beta = step->beta,
                                  .beta_next = step->beta_next,
                                  .relaxation = step->relaxation,
                                  .dual = step->want_dual ? (pl_number *)d->dual : NULL,
                                  .sums = d->sums + on->first};
        if (apart)
            PL_NAMED(pl_device_apart_find)(d, a.x, &a.local);
        on->kernels->local(d->queue, &a, on->threads);
        if (apart)
            PL_NAMED(pl_device_apart_end)(d, primal_of(d, on));
    }
    if (step->want_sums)
        sums = add_local_sums(d);
    sums.ms_elastic = pl_clock_ms() - start;
    return sums;
}

static void device_contribute(pl_backend *b, pl_array *const *u, pl_array *const *z)
{
    pl_device *d = pl_device_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_device_group *on = &d->model.groups[g];
        pl_term_arguments a = on->arguments;
        a.u = pl_device_numbers(u[g]);
        a.z = pl_device_numbers(z[g]);
        a.contributions = d->model.contributions;
        on->kernels->contribute(d->queue, &a, on->threads);
    }
}

static void device_concavity(pl_backend *b, int32_t group, const pl_array *z, double *out)
{
    pl_device *d = pl_device_of(b);
    const pl_device_group *on = &d->model.groups[group];
    pl_term_arguments a = on->arguments;
    a.z = pl_device_numbers(z);
    a.values = d->model.energy + on->first;
    on->kernels->concavity(d->queue, &a, on->threads);
    PL_NAMED(pl_device_get_numbers)(d->queue, out, a.values, on->threads);
}

static void device_scale_terms(pl_backend *b, int32_t group, const double *factor, pl_array *values)
{
    pl_device *d = pl_device_of(b);
    const pl_device_group *on = &d->model.groups[group];
    const pl_group *g = &b->model->groups[group];
    pl_number *factors = d->model.energy + on->first;
    PL_NAMED(pl_device_put_numbers)(d->queue, factors, factor, on->threads);
    pl_scale_terms_arguments a = {g->ops->rows, factors, pl_device_numbers(values)};
    PL_NAMED(pl_device_scale_terms_kernel)(d->queue, &a, pl_group_values(g));
}

static int64_t device_hard_force(pl_backend *b, int32_t group, const pl_array *u, double force[3])
{
    pl_device *d = pl_device_of(b);
    pl_term_arguments a = d->model.groups[group].arguments;
    a.u = pl_device_numbers(u);
    a.columns = d->columns;
    return PL_NAMED(pl_device_push)(d, group, &a, force);
}

/* ---- global steps ---- */

static pl_device_system *system_of(pl_device *d)
{
    return d->other.diagonal ? &d->other : &d->system;
}

static void device_start_rows(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                              pl_array *rows)
{
    pl_device *d = pl_device_of(b);
    pl_stage_rows_arguments a = {.vertices = d->model.vertices,
                                 .matrix = system_of(d)->matrix,
                                 .inertia = stage->scalars.inertia,
                                 .x = pl_device_numbers(x),
                                 .x_pred = pl_device_numbers(stage->x_pred),
                                 .load = pl_device_numbers(stage->load),
                                 .rows = pl_device_numbers(rows)};
    PL_NAMED(pl_device_stage_rows)(d->queue, &a, b->model->free_vertices);
}

static void device_gather_global(pl_backend *b, const pl_array *base, pl_array *rows)
{
    pl_device *d = pl_device_of(b);
    pl_gather_rows_arguments a = {.vertices = d->model.vertices,
                                  .contributions = d->model.contributions,
                                  .base = pl_device_numbers(base),
                                  .rows = pl_device_numbers(rows)};
    PL_NAMED(pl_device_gather_rows)(d->queue, &a, b->model->free_vertices);
}

static double device_dual_norm(pl_backend *b)
{
    pl_device *d = pl_device_of(b);
    pl_gather_square_arguments a = {
        .vertices = d->model.vertices, .contributions = d->dual, .columns = d->columns};
    PL_NAMED(pl_device_gather_square)(d->queue, &a, b->model->free_vertices);
    const pl_summing sum = pl_device_column(d, 0, b->model->free_vertices);
    double total;
    PL_NAMED(pl_device_add_up)(d, &sum, 1, &total);
    return sqrt(total);
}

static pl_status device_solve(pl_backend *b, const pl_array *rhs, pl_array *rows)
{
    pl_device *d = pl_device_of(b);
    PL_NAMED(pl_device_system_solve)
    (system_of(d), &d->model.vertices, &d->iterate, pl_device_numbers(rhs), NULL,
     pl_device_numbers(rows), NULL);
    return PL_OK;
}

static pl_status device_solve_from(pl_backend *b, const pl_array *rhs, const pl_array *from,
                                   pl_array *rows, double *square)
{
    pl_device *d = pl_device_of(b);
    PL_NAMED(pl_device_system_solve)
    (system_of(d), &d->model.vertices, &d->iterate, pl_device_numbers(rhs), pl_device_numbers(from),
     pl_device_numbers(rows), d->columns);
    const pl_summing sum = pl_device_column(d, 0, b->model->free_vertices);
    PL_NAMED(pl_device_add_up)(d, &sum, 1, square);
    return PL_OK;
}

/* ---- Anderson acceleration ---- */

static pl_status device_anderson_prepare(pl_backend *b)
{
    pl_device *d = pl_device_of(b);
    size_t count = (size_t)(PL_ANDERSON_MAX + 1) * (size_t)d->model.threads + 1, values = 1;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const size_t own = (size_t)pl_group_values(&b->model->groups[g]);
        values = own > values ? own : values;
    }
    d->products = pl_device_alloc(d->queue, count * sizeof *d->products);
    d->reduced = pl_device_alloc(d->queue, values * sizeof *d->reduced);
    return d->products && d->reduced ? PL_OK : PL_NO_MEMORY;
}

/* The part of a group, whose D x it computes. */
static void difference_of(pl_device *d, const pl_anderson *from, int32_t g)
{
    const pl_device_group *on = &d->model.groups[g];
    pl_term_arguments reduction = on->arguments;
    reduction.x = pl_device_numbers(from->x);
    reduction.values = d->reduced;
    on->kernels->reduce(d->queue, &reduction, on->threads);
    pl_anderson_arguments a = {.weight = on->arguments.group.weight,
                               .rows = d->base.model->groups[g].ops->rows,
                               .count = from->count,
                               .relaxation = from->relaxation,
                               .z = pl_device_numbers(from->z[g]),
                               .Dx = d->reduced,
                               .dg = from->dg ? (float *)from->dg[g] : NULL,
                               .taken = from->taken,
                               .products = d->products + on->first,
                               .stride = d->model.threads};
    for (int32_t j = 0; j <= from->count; j++)
        a.r[j] = pl_device_numbers(from->r[j][g]);
    PL_NAMED(pl_device_anderson_difference_kernel)(d->queue, &a, on->threads);
}

static void device_anderson_difference(pl_backend *b, const pl_anderson *from)
{
    pl_device *d = pl_device_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++)
        difference_of(d, from, g);
    pl_summing sums[PL_ANDERSON_MAX + 1];
    for (int32_t j = 0; j <= from->count; j++)
        sums[j] = (pl_summing){.kind = PL_SUM_DOUBLES,
                               .count = d->model.threads,
                               .a = d->products + j * d->model.threads};
    PL_NAMED(pl_device_add_up)(d, sums, from->count + 1, from->dot_r);
}

const pl_matrix_ops PL_NAMED(pl_device_matrix_ops) = {
    .use_model = device_use_model,
    .solve = device_solve,
};

const pl_iterated_ops PL_NAMED(pl_device_iterated_ops) = {
    .solve_from = device_solve_from,
};

const pl_splitting_ops PL_NAMED(pl_device_splitting_ops) = {
    .reduce = device_reduce,
    .local_step = device_local_step,
    .contribute = device_contribute,
    .stage_rows = device_start_rows,
    .concavity = device_concavity,
    .scale_terms = device_scale_terms,
    .gather_global = device_gather_global,
    .dual_norm = device_dual_norm,
    .hard_force = device_hard_force,
};

const pl_anderson_ops PL_NAMED(pl_device_anderson_ops) = {
    .prepare = device_anderson_prepare,
    .difference = device_anderson_difference,
};
