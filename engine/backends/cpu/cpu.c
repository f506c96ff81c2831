#include "engine/backends/cpu/cpu_internal.h"

#include "engine/scene/carries.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static void cpu_destroy(pl_backend *b)
{
    cpu *c = cpu_of(b);
    free(c->to_global);
    free(c->dual);
    free(c->partial);
    free(c->sums);
    free(c->measures);
    free(c->energies);
    free(c->vertex_sums);
    free(c->dots);
    free(c->hessians);
    free(c->anderson);
    pl_cpu_hessian_release(c);
    pl_cpu_sweep_release(c);
    pl_cpu_augmented_release(c);
    pl_cpu_pairs_release(c);
    pl_cpu_apart_release(c);
    pl_parts_destroy(&c->parts);
    pl_cpu_works_destroy(&c->work);
    pl_cpu_works_destroy(&c->other_work);
    free(c->scratch);
    free(c);
}

/* Size of the full Hessians of groups without a diagonal of their own. */
static int64_t most_hessian_values(const pl_model *model)
{
    int64_t most = 0;
    for (int32_t g = 0; g < model->group_count; g++) {
        const pl_group *group = &model->groups[g];
        if (!group->ops->hessian_diagonal && group->ops->hessian &&
            pl_group_hessian_values(group) > most)
            most = pl_group_hessian_values(group);
    }
    return most;
}

static const char *cpu_refuses(const pl_model *model)
{
    return NULL;
}

static pl_status cpu_create(const pl_model *model, int32_t threads, pl_backend *beside,
                            pl_backend **out)
{
    cpu *c = calloc(1, sizeof *c);
    if (!c)
        return PL_NO_MEMORY;
    c->base = (pl_backend){&pl_backend_cpu, model};
    c->first = model;
    c->threads = threads > 0 ? threads : 1;
    int64_t blocks = 1, all_blocks = 0;
    for (int32_t g = 0; g < model->group_count; g++) {
        all_blocks += model->groups[g].blocks;
        if (model->groups[g].blocks > blocks)
            blocks = model->groups[g].blocks;
    }
    int64_t chunks = chunks_of(3 * model->vertices);
    c->to_global = pl_block_alloc(model->contributions, sizeof(double));
    c->dual = pl_block_alloc(model->contributions, sizeof(double));
    c->partial = pl_block_alloc(chunks > blocks ? chunks : blocks, sizeof(double));
    c->sums = pl_block_alloc(blocks, sizeof *c->sums);
    c->measures = pl_block_alloc(blocks, sizeof *c->measures);
    c->rows = pl_cpu_rows();
    c->energies = pl_block_alloc(all_blocks, sizeof *c->energies);
    c->vertex_sums = pl_block_alloc(4 * chunks_of(model->vertices), sizeof *c->vertex_sums);
    c->dots = pl_block_alloc(chunks_of(3 * model->free_vertices) *
                                 (4 * ((int64_t)model->solver.window + 1) + 1),
                             sizeof *c->dots);
    int64_t hessian_values = most_hessian_values(model);
    if (hessian_values > 0)
        c->hessians = pl_block_alloc(hessian_values, sizeof *c->hessians);
    if (model->partly_held)
        c->scratch = pl_block_alloc(6 * model->free_vertices, sizeof *c->scratch);
    pl_status status = pl_cpu_works_create(model, c->threads, &c->work);
    if (status == PL_OK && pl_method_uses_matrix(model->solver.method))
        status = pl_parts_create(model, c->threads, &c->parts);
    if (status == PL_OK)
        status = pl_cpu_augmented_create(c);
    if (status == PL_OK)
        status = pl_cpu_pairs_create(c);
    if (status == PL_OK)
        status = pl_cpu_apart_create(c);
    if (!c->to_global || !c->dual || !c->partial || !c->sums || !c->measures || !c->energies ||
        !c->vertex_sums || !c->dots || (hessian_values > 0 && !c->hessians) ||
        (model->partly_held && !c->scratch))
        status = PL_NO_MEMORY;
    if (status != PL_OK) {
        cpu_destroy(&c->base);
        return status;
    }
    *out = &c->base;
    return PL_OK;
}

static pl_status cpu_set_threads(pl_backend *b, int32_t threads)
{
    cpu *c = cpu_of(b);
    threads = threads > 0 ? threads : 1;
    if (c->parts.part && pl_parts_set_threads(&c->parts, threads) != PL_OK)
        return PL_NO_MEMORY;
    c->threads = threads;
    pl_cpu_works_set_threads(&c->work, threads);
    pl_cpu_works_set_threads(&c->other_work, threads);
    if (c->between.set)
        pl_contact_set_set_threads(c->between.set, threads);
    return PL_OK;
}

static pl_array *cpu_alloc(pl_backend *b, int64_t count)
{
    return pl_numbers_array(pl_block_alloc(count, sizeof(double)));
}

static void cpu_release(pl_backend *b, pl_array *array)
{
    free(array);
}

static void cpu_upload(pl_backend *b, pl_array *to, const double *from, int64_t count)
{
    memcpy(pl_numbers(to), from, (size_t)count * sizeof *from);
}

static void cpu_download(pl_backend *b, double *to, const pl_array *from, int64_t count)
{
    memcpy(to, pl_numbers_read(from), (size_t)count * sizeof *to);
}

static void cpu_copy(pl_backend *b, pl_array *to, const pl_array *from, int64_t count)
{
    cpu_upload(b, to, pl_numbers_read(from), count);
}

static void cpu_clear(pl_backend *b, pl_array *array, int64_t count)
{
    memset(pl_numbers(array), 0, (size_t)count * sizeof(double));
}

static const pl_memory_ops memory_ops = {
    .alloc = cpu_alloc,
    .release = cpu_release,
    .upload = cpu_upload,
    .download = cpu_download,
    .copy = cpu_copy,
    .clear = cpu_clear,
};

/* ---- the tables: phases receive their arrays as numbers ---- */

#define NUMBERS(stage) (&(pl_stage[1]){pl_numbers_stage(stage)}[0])

static const pl_fetch_ops fetch_ops = {
    .create = pl_cpu_fetch_create,
    .destroy = pl_cpu_fetch_destroy,
    .begin = pl_cpu_fetch_begin,
    .take = pl_cpu_fetch_take,
};

static void drift(pl_backend *b, double h, const double gravity[3], const pl_array *x,
                  const pl_array *v, pl_array *out)
{
    pl_cpu_drift(b, h, gravity, pl_numbers_read(x), pl_numbers_read(v), pl_numbers(out));
}

static void blend(pl_backend *b, const pl_array *base, double d, const pl_array *v, double e,
                  const pl_array *v_old, pl_array *out)
{
    pl_cpu_blend(b, pl_numbers_read(base), d, pl_numbers_read(v), e, pl_numbers_read(v_old),
                 pl_numbers(out));
}

static void velocity(pl_backend *b, double h, const pl_array *x, const pl_array *x_new,
                     pl_array *out)
{
    pl_cpu_velocity(b, h, pl_numbers_read(x), pl_numbers_read(x_new), pl_numbers(out));
}

static void place_pins(pl_backend *b, double time, pl_array *x)
{
    pl_cpu_place_pins(b, time, pl_numbers(x));
}

static void pin_force(pl_backend *b, int32_t pin, const pl_array *gradient, double force[3])
{
    pl_cpu_pin_force(b, pin, pl_numbers_read(gradient), force);
}

static void evaluate_loads(pl_backend *b, double time, const pl_array *x, const pl_array *v,
                           pl_array *load, pl_force *total)
{
    pl_cpu_evaluate_loads(b, time, pl_numbers_read(x), pl_numbers_read(v), pl_numbers(load), total);
}

static double farthest(pl_backend *b, const pl_array *a, const pl_array *c, int64_t *vertex)
{
    return pl_cpu_farthest(b, pl_numbers_read(a), pl_numbers_read(c), vertex);
}

static int64_t find_not_finite(pl_backend *b, const pl_array *x)
{
    return pl_cpu_find_not_finite(b, pl_numbers_read(x));
}

static const pl_kinematics_ops kinematics_ops = {
    .drift = drift,
    .blend = blend,
    .velocity = velocity,
    .place_pins = place_pins,
    .pin_force = pin_force,
    .evaluate_loads = evaluate_loads,
    .farthest = farthest,
    .find_not_finite = find_not_finite,
};

static void set_free(pl_backend *b, const pl_array *rows, pl_array *x)
{
    pl_cpu_set_free(b, pl_numbers_read(rows), pl_numbers(x));
}

static void get_free(pl_backend *b, const pl_array *x, pl_array *rows)
{
    pl_cpu_get_free(b, pl_numbers_read(x), pl_numbers(rows));
}

static double dot_change(pl_backend *b, const pl_array *a1, const pl_array *a0, const pl_array *b1,
                         const pl_array *b0)
{
    return pl_cpu_dot_change(b, pl_numbers_read(a1), pl_numbers_read(a0), pl_numbers_read(b1),
                             pl_numbers_read(b0));
}

static double scale(pl_backend *b, const pl_array *inverse, const pl_array *g, pl_array *out)
{
    return pl_cpu_scale(b, pl_numbers_read(inverse), pl_numbers_read(g), pl_numbers(out));
}

static double dot(pl_backend *b, const pl_array *a, const pl_array *c)
{
    return pl_cpu_dot(b, pl_numbers_read(a), pl_numbers_read(c));
}

static void unscale(pl_backend *b, const pl_array *inverse, const pl_array *p, pl_array *out)
{
    pl_cpu_unscale(b, pl_numbers_read(inverse), pl_numbers_read(p), pl_numbers(out));
}

static void combine(pl_backend *b, const pl_array *const *list, const double *coefficient,
                    int32_t count, pl_array *out)
{
    pl_cpu_combine(b, list, coefficient, count, pl_numbers(out));
}

static const pl_rows_ops rows_ops = {
    .set_free = set_free,
    .get_free = get_free,
    .dot_change = dot_change,
    .scale = scale,
    .dot = dot,
    .unscale = unscale,
    .combine = combine,
};

static void freeze(pl_backend *b, const pl_backend_stage *stage)
{
    pl_cpu_hold(b, pl_numbers_read(stage->multipliers));
    pl_cpu_freeze(b, NUMBERS(stage));
}

static double value(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    return pl_cpu_objective(b, NUMBERS(stage), pl_numbers_read(x));
}

static double gradient(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *const *u, pl_array *gradient)
{
    return pl_cpu_gradient(b, NUMBERS(stage), pl_numbers_read(x), u, pl_numbers(gradient));
}

static double magnitude(pl_backend *b, const pl_array *x)
{
    return pl_cpu_magnitude(b, pl_numbers_read(x));
}

static int64_t find_outside(pl_backend *b, const pl_array *x)
{
    return pl_cpu_find_outside(b, pl_numbers_read(x));
}

static int64_t find_steepest(pl_backend *b, const pl_array *gradient)
{
    return pl_cpu_find_steepest(b, pl_numbers_read(gradient));
}

static const pl_objective_ops objective_ops = {
    .freeze = freeze,
    .value = value,
    .gradient = gradient,
    .magnitude = magnitude,
    .find_outside = find_outside,
    .find_steepest = find_steepest,
};

static void renew(pl_backend *b, const pl_array *x, pl_array *multipliers)
{
    pl_cpu_renew(b, pl_numbers_read(x), pl_numbers(multipliers));
}

static const pl_augmented_ops augmented_ops = {.renew = renew};

static int64_t soft_force(pl_backend *b, int32_t group, const pl_array *x, double force[3])
{
    return pl_cpu_soft_force(b, group, pl_numbers_read(x), force);
}

static void depths(pl_backend *b, double time, const pl_array *x, double *out)
{
    const pl_model *m = b->model;
    for (int32_t g = 0; g < m->group_count; g++)
        if (m->group_obstacle[g] >= 0)
            out[m->group_obstacle[g]] = pl_cpu_depth(b, g, time, pl_numbers_read(x));
}

static double dissipation(pl_backend *b, int32_t group, const pl_array *x)
{
    return pl_cpu_dissipation(b, group, pl_numbers_read(x));
}

static pl_measures measure(pl_backend *b, const pl_array *x)
{
    return pl_cpu_measure(b, pl_numbers_read(x));
}

static pl_motion_sums motion(pl_backend *b, const pl_array *x, const pl_array *v)
{
    return pl_cpu_motion(b, pl_numbers_read(x), pl_numbers_read(v));
}

static const pl_measures_ops measures_ops = {
    .soft_force = soft_force,
    .depths = depths,
    .dissipation = dissipation,
    .elements = measure,
    .motion = motion,
};

static pl_trial_sums trial(pl_backend *b, const pl_backend_stage *stage, const pl_trial *trial)
{
    return pl_cpu_trial(b, NUMBERS(stage), trial);
}

static double jacobi(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                     pl_array *inverse)
{
    return pl_cpu_jacobi(b, NUMBERS(stage), pl_numbers_read(x), pl_numbers(inverse));
}

static double jacobi_constant(pl_backend *b, const pl_backend_stage *stage, bool flat,
                              pl_array *inverse)
{
    return pl_cpu_jacobi_constant(b, NUMBERS(stage), flat, pl_numbers(inverse));
}

static const pl_descent_ops descent_ops = {
    .prepare = pl_cpu_trial_prepare,
    .trial = trial,
    .pair = pl_cpu_pair,
    .jacobi = jacobi,
    .jacobi_constant = jacobi_constant,
    .chebyshev = pl_cpu_chebyshev,
};

static void contact_forces(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                           const pl_array *x, pl_array *force)
{
    pl_cpu_contact_forces(b, NUMBERS(stage), u, pl_numbers_read(x), pl_numbers(force));
}

static bool contact_velocities(pl_backend *b, const pl_backend_stage *stage,
                               const pl_contact_end *end)
{
    return pl_cpu_contact_velocities(b, NUMBERS(stage), end);
}

static void inner_acceleration(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                               const pl_array *gradient, const pl_array *contact, pl_array *out)
{
    pl_cpu_inner_acceleration(b, stage ? NUMBERS(stage) : NULL, pl_numbers_read(x),
                              pl_numbers_read(gradient), pl_numbers_read(contact), pl_numbers(out));
}

static void pin_velocities(pl_backend *b, double time, double span, pl_array *v)
{
    pl_cpu_pin_velocities(b, time, span, pl_numbers(v));
}

static double friction(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                       const pl_array *x, const pl_array *v)
{
    return pl_cpu_friction(b, NUMBERS(stage), u, pl_numbers_read(x), pl_numbers_read(v));
}

static const pl_contact_ops contact_ops = {
    .forces = contact_forces,
    .velocities = contact_velocities,
    .inner_acceleration = inner_acceleration,
    .pin_velocities = pin_velocities,
    .friction = friction,
};

static pl_status solve(pl_backend *b, const pl_array *rhs, pl_array *rows)
{
    return pl_cpu_solve(b, pl_numbers_read(rhs), pl_numbers(rows));
}

static const pl_matrix_ops matrix_ops = {
    .use_model = pl_cpu_use_model,
    .solve = solve,
};

static void multiply(pl_backend *b, const pl_array *rows, pl_array *out)
{
    pl_cpu_multiply(b, pl_numbers_read(rows), pl_numbers(out));
}

static const pl_factored_ops factored_ops = {
    .multiply = multiply,
};

static pl_status solve_from(pl_backend *b, const pl_array *rhs, const pl_array *from,
                            pl_array *rows, double *square)
{
    return pl_cpu_solve_from(b, pl_numbers_read(rhs), pl_numbers_read(from), pl_numbers(rows),
                             square);
}

static const pl_iterated_ops iterated_ops = {.solve_from = solve_from};

static void reduce(pl_backend *b, const pl_array *x, pl_array *const *z)
{
    pl_cpu_reduce(b, pl_numbers_read(x), z);
}

static pl_local_sums local_step(pl_backend *b, const pl_backend_stage *stage,
                                const pl_local_step *step)
{
    return pl_cpu_local_step(b, NUMBERS(stage), step);
}

static void concavity(pl_backend *b, int32_t group, const pl_array *z, double *out)
{
    pl_cpu_concavity(b, group, pl_numbers_read(z), out);
}

static void scale_terms(pl_backend *b, int32_t group, const double *factor, pl_array *values)
{
    pl_cpu_scale_terms(b, group, factor, pl_numbers(values));
}

static void stage_rows(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *rows)
{
    pl_cpu_stage_rows(b, NUMBERS(stage), pl_numbers_read(x), pl_numbers(rows));
}

static void gather_global(pl_backend *b, const pl_array *base, pl_array *rows)
{
    pl_cpu_gather_global(b, pl_numbers_read(base), pl_numbers(rows));
}

static int64_t hard_force(pl_backend *b, int32_t group, const pl_array *u, double force[3])
{
    return pl_cpu_hard_force(b, group, pl_numbers_read(u), force);
}

static const pl_splitting_ops splitting_ops = {
    .reduce = reduce,
    .local_step = local_step,
    .concavity = concavity,
    .scale_terms = scale_terms,
    .contribute = pl_cpu_contribute,
    .stage_rows = stage_rows,
    .gather_global = gather_global,
    .dual_norm = pl_cpu_dual_norm,
    .hard_force = hard_force,
};

static const pl_anderson_ops anderson_ops = {
    .prepare = pl_cpu_anderson_prepare,
    .difference = pl_cpu_anderson_difference,
};

static pl_status hessian_make(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                              bool project)
{
    return pl_cpu_hessian_make(b, NUMBERS(stage), pl_numbers_read(x), project);
}

static pl_status hessian_solve(pl_backend *b, const pl_array *rows, pl_array *out)
{
    return pl_cpu_hessian_solve(b, pl_numbers_read(rows), pl_numbers(out));
}

static void hessian_multiply(pl_backend *b, const pl_array *rows, pl_array *out)
{
    pl_cpu_hessian_multiply(b, pl_numbers_read(rows), pl_numbers(out));
}

static void hessian_jacobi(pl_backend *b, const pl_array *rows, pl_array *out)
{
    pl_cpu_hessian_jacobi(b, pl_numbers_read(rows), pl_numbers(out));
}

static const pl_hessian_ops hessian_ops = {
    .prepare = pl_cpu_hessian_prepare,
    .make = hessian_make,
    .factor = pl_cpu_hessian_factor,
    .solve = hessian_solve,
    .multiply = hessian_multiply,
    .jacobi = hessian_jacobi,
};

static pl_status sweep_vertices(pl_backend *b, const pl_backend_stage *stage, double noise,
                                pl_array *x, int64_t *moved)
{
    return pl_cpu_sweep_vertices(b, NUMBERS(stage), noise, pl_numbers(x), moved);
}

static const pl_sweep_ops sweep_ops = {
    .prepare = pl_cpu_sweep_prepare,
    .vertices = sweep_vertices,
};

const pl_backend_ops pl_backend_cpu = {
    .name = "cpu",
    .on_host = true,
    .epsilon = DBL_EPSILON,
    .energy_epsilon = 1e-13,
    .refuses = cpu_refuses,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .set_threads = cpu_set_threads,
    .memory = &memory_ops,
    .fetch = &fetch_ops,
    .kinematics = &kinematics_ops,
    .rows = &rows_ops,
    .objective = &objective_ops,
    .augmented = &augmented_ops,
    .pairs = &pl_cpu_pairs_ops,
    .measures = &measures_ops,
    .descent = &descent_ops,
    .contact = &contact_ops,
    .matrix = &matrix_ops,
    .factored = &factored_ops,
    .iterated = &iterated_ops,
    .splitting = &splitting_ops,
    .anderson = &anderson_ops,
    .hessian = &hessian_ops,
    .sweep = &sweep_ops,
};
