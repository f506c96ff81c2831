#include "engine/backends/cpu/cpu_internal.h"

#include "engine/clock.h"

#include <float.h>
#include <math.h>
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
    pl_parts_destroy(&c->parts);
    for (int k = 0; k < 3; k++) {
        pl_solve_work_destroy(c->work[k]);
        pl_solve_work_destroy(c->other_work[k]);
    }
    free(c->scratch);
    free(c);
}

/* What full Hessians need of the groups that have no diagonal of their own. */
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

pl_status pl_cpu_solve_work(const pl_model *model, int32_t threads, pl_solve_work *work[3])
{
    pl_factor *const *factor = model->factor;
    pl_status status = PL_OK;
    for (int k = 0; factor[0] && status == PL_OK && k < 3; k++)
        if (k == 0 || (factor[k] != factor[0] && factor[k] != factor[k - 1]))
            status = pl_solve_work_create(factor[k], threads, &work[k]);
    return status;
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
    pl_status status = pl_cpu_solve_work(model, c->threads, c->work);
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

static double *cpu_alloc(pl_backend *b, int64_t count)
{
    return pl_block_alloc(count, sizeof(double));
}

static void cpu_release(pl_backend *b, double *array)
{
    free(array);
}

static void cpu_copy(pl_backend *b, double *to, const double *from, int64_t count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

static void cpu_clear(pl_backend *b, double *array, int64_t count)
{
    memset(array, 0, (size_t)count * sizeof *array);
}

static void cpu_freeze(pl_backend *b, const pl_stage *stage)
{
    cpu *c = cpu_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        if (!group->ops->freeze)
            continue;
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            run r = run_of(group->blocks, part, threads);
            group->ops->freeze(group, stage, r.b0, r.b1);
        }
    }
}

static void cpu_reduce(pl_backend *b, const double *x, double *const *z)
{
    cpu *c = cpu_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            run r = run_of(group->blocks, part, threads);
            group->ops->reduce(group, x, z[g], r.b0, r.b1);
        }
    }
}

static pl_local_sums cpu_local_step(pl_backend *b, const pl_stage *stage, const pl_local_step *step)
{
    cpu *c = cpu_of(b);
    pl_local_sums total = {0};
    double primal = 0, change = 0, size = 0;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        double start = pl_clock_ms();
        pl_admm_local local = {.x = step->x,
                               .u = step->u[g],
                               .z = step->z[g],
                               .u_old = step->u_old[g],
                               .z_old = step->z_old[g],
                               .beta = step->beta,
                               .beta_next = step->beta_next,
                               .relaxation = step->relaxation,
                               .to_global = c->to_global,
                               .dual = step->want_dual ? c->dual : NULL,
                               .sums = c->sums};
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            run r = run_of(group->blocks, part, threads);
            group->ops->admm_local(group, stage, &local, r.b0, r.b1);
        }
        for (int64_t i = 0; i < group->blocks; i++) {
            primal += c->sums[i].primal;
            change += c->sums[i].change;
            size += c->sums[i].size;
        }
        *(group->ops->hard ? &total.ms_contacts : &total.ms_elastic) += pl_clock_ms() - start;
    }
    total.primal = sqrt(primal);
    total.change = sqrt(change);
    total.size = sqrt(size);
    return total;
}

static void cpu_contribute(pl_backend *b, double *const *u, double *const *z)
{
    cpu *c = cpu_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            run r = run_of(group->blocks, part, threads);
            group->ops->admm_contribute(group, u[g], z[g], c->to_global, r.b0, r.b1);
        }
    }
}

/* Zero what a pin holds: there a gradient is the pin's force, and no measure of balance. */
static inline void clear_held(const pl_model *m, int64_t vertex, double f[3])
{
    for (int k = 0; k < 3; k++)
        f[k] = pl_model_holds(m, vertex, k) ? 0 : f[k];
}

static void cpu_stage_rows(pl_backend *b, const pl_stage *stage, const double *x, double *rows)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t v = m->free_vertex[i];
        double r[3];
        for (int k = 0; k < 3; k++)
            r[k] = m->mass[v] * stage->inertia * stage->x_pred[3 * v + k] +
                   pl_stage_load(stage, 3 * v + k);
        for (int64_t e = m->coupling_start[i]; e < m->coupling_start[i + 1]; e++) {
            int64_t other = m->coupling_vertex[e];
            for (int k = 0; k < 3; k++)
                if (pl_model_holds(m, other, k))
                    r[k] -= m->coupling_value[e] * x[3 * other + k];
        }
        for (int k = 0; k < 3; k++)
            rows[k * n + i] = pl_model_holds(m, v, k) ? x[3 * v + k] : r[k];
    }
}

static void cpu_gather_global(pl_backend *b, const double *base, double *rows)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum[3];
        int64_t v = m->free_vertex[i];
        pl_gather_vertex(&m->gather, c->to_global, v, sum);
        for (int k = 0; k < 3; k++)
            rows[k * n + i] = base[k * n + i] + (pl_model_holds(m, v, k) ? 0 : sum[k]);
    }
}

static double cpu_dual_norm(pl_backend *b)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, n); i++) {
            double s[3];
            pl_gather_vertex(&m->gather, c->dual, m->free_vertex[i], s);
            clear_held(m, m->free_vertex[i], s);
            total += s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        }
        c->partial[k] = total;
    }
    return sqrt(add_up(c->partial, chunks));
}

static pl_status cpu_solve(pl_backend *b, const double *rhs, double *rows)
{
    const pl_model *m = b->model;
    cpu *c = cpu_of(b);
    pl_solve_work *const *work = work_of(c);
    if (!m->partly_held)
        return pl_factor_solve3(m->factor[0], work[0], rhs, rows);
    /* The coordinates of one factor at a time; rows may be rhs, so the answers wait. */
    size_t n = (size_t)m->free_vertices;
    double *answer = c->scratch, *solved = answer + 3 * n;
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < 3; k++) {
        if (!work[k])
            continue;
        status = pl_factor_solve3(m->factor[k], work[k], rhs, solved);
        for (int j = 0; status == PL_OK && j < 3; j++)
            if (m->factor[j] == m->factor[k])
                memcpy(answer + j * n, solved + j * n, n * sizeof *answer);
    }
    if (status == PL_OK)
        memcpy(rows, answer, 3 * n * sizeof *rows);
    return status;
}

static void cpu_multiply(pl_backend *b, const double *rows, double *out)
{
    const pl_model *m = b->model;
    double *masked = cpu_of(b)->scratch;
    int64_t n = m->free_vertices;
    if (!m->partly_held) {
        pl_sparse_multiply(&m->A, rows, out, 3);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            masked[k * n + i] = pl_model_holds(m, m->free_vertex[i], k) ? 0 : rows[k * n + i];
    pl_sparse_multiply(&m->A, masked, out, 3);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            if (pl_model_holds(m, m->free_vertex[i], k))
                out[k * n + i] = rows[k * n + i];
}

static void cpu_set_free(pl_backend *b, const double *rows, double *x)
{
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = m->free_vertex[i];
        for (int k = 0; k < 3; k++)
            if (!pl_model_holds(m, v, k))
                x[3 * v + k] = rows[k * n + i];
    }
}

static void cpu_get_free(pl_backend *b, const double *x, double *rows)
{
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            rows[k * n + i] = x[3 * (int64_t)m->free_vertex[i] + k];
}

static double cpu_dot_change(pl_backend *b, const double *a1, const double *a0, const double *b1,
                             const double *b0)
{
    cpu *c = cpu_of(b);
    int64_t n = 3 * b->model->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, n); i++)
            total += (a1[i] - a0[i]) * (b1[i] - b0[i]);
        c->partial[k] = total;
    }
    return add_up(c->partial, chunks);
}

static double elastic_energy(cpu *c, const double *x)
{
    const pl_model *m = c->base.model;
    double total = 0;
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        if (!group->ops->energy)
            continue;
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            run r = run_of(group->blocks, part, threads);
            group->ops->energy(group, x, c->partial, r.b0, r.b1);
        }
        total += add_up(c->partial, group->blocks);
    }
    return total;
}

static double cpu_objective(pl_backend *b, const pl_stage *stage, const double *x)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    double elastic = elastic_energy(c, x);
    int64_t chunks = chunks_of(m->vertices);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, m->vertices); i++) {
            double square = 0, work = 0;
            for (int j = 0; j < 3; j++) {
                if (pl_model_holds(m, i, j))
                    continue; /* where it must be: no choice */
                double d = x[3 * i + j] - stage->x_pred[3 * i + j];
                square += d * d;
                work += pl_stage_load(stage, 3 * i + j) * x[3 * i + j];
            }
            total += 0.5 * stage->inertia * m->mass[i] * square - work;
        }
        c->partial[k] = total;
    }
    return add_up(c->partial, chunks) + elastic;
}

static double cpu_gradient(pl_backend *b, const pl_stage *stage, const double *x, double *const *u,
                           double *gradient)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        int32_t threads = team(c, group->blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            run r = run_of(group->blocks, part, threads);
            if (group->ops->hard && u)
                group->ops->transpose(group, u[g], c->to_global, r.b0, r.b1);
            else if (group->ops->hard)
                pl_cpu_no_contributions(group, c->to_global, r.b0, r.b1);
            else
                group->ops->gradient(group, x, c->to_global, r.b0, r.b1);
        }
    }
    int64_t chunks = chunks_of(m->vertices);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++) {
        double total = 0;
        for (int64_t i = k * CHUNK; i < chunk_end(k, m->vertices); i++) {
            double *f = gradient + 3 * i;
            pl_gather_vertex(&m->gather, c->to_global, i, f);
            for (int j = 0; j < 3; j++)
                f[j] += m->mass[i] * stage->inertia * (x[3 * i + j] - stage->x_pred[3 * i + j]) -
                        pl_stage_load(stage, 3 * i + j);
            double off[3] = {f[0], f[1], f[2]};
            clear_held(m, i, off);
            total += off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
        }
        c->partial[k] = total;
    }
    return sqrt(add_up(c->partial, chunks));
}

static int64_t cpu_hard_force(pl_backend *b, int32_t group, const double *u, double force[3])
{
    const pl_group *g = &b->model->groups[group];
    int64_t active = 0;
    for (int k = 0; k < 3; k++)
        force[k] = 0;
    for (int64_t t = 0; t < g->terms; t++) {
        int64_t block = t / PL_BLOCK, lane = t % PL_BLOCK;
        bool any = false;
        for (int k = 0; k < 3; k++) {
            double q = u[(block * 3 + k) * PL_BLOCK + lane];
            force[k] -= g->weight[t] * q;
            any = any || q != 0;
        }
        active += any;
    }
    return active;
}

static int64_t cpu_find_not_finite(pl_backend *b, const double *x)
{
    return pl_look_not_finite(b->model->vertices, x);
}

static const pl_memory_ops memory = {
    .alloc = cpu_alloc,
    .release = cpu_release,
    .upload = cpu_copy,
    .download = cpu_copy,
    .copy = cpu_copy,
    .clear = cpu_clear,
};

static const pl_fetch_ops fetch = {
    .create = pl_cpu_fetch_create,
    .destroy = pl_cpu_fetch_destroy,
    .begin = pl_cpu_fetch_begin,
    .take = pl_cpu_fetch_take,
};

static const pl_kinematics_ops kinematics = {
    .drift = pl_cpu_drift,
    .blend = pl_cpu_blend,
    .velocity = pl_cpu_velocity,
    .place_pins = pl_cpu_place_pins,
    .pin_force = pl_cpu_pin_force,
    .evaluate_loads = pl_cpu_evaluate_loads,
    .farthest = pl_cpu_farthest,
    .find_not_finite = cpu_find_not_finite,
};

static const pl_rows_ops rows = {
    .set_free = cpu_set_free,
    .get_free = cpu_get_free,
    .dot_change = cpu_dot_change,
    .scale = pl_cpu_scale,
    .dot = pl_cpu_dot,
    .unscale = pl_cpu_unscale,
    .combine = pl_cpu_combine,
};

static const pl_objective_ops objective = {
    .freeze = cpu_freeze,
    .value = cpu_objective,
    .gradient = cpu_gradient,
    .magnitude = pl_cpu_magnitude,
    .find_outside = pl_cpu_find_outside,
    .find_steepest = pl_cpu_find_steepest,
};

static const pl_descent_ops descent = {
    .prepare = pl_cpu_trial_prepare,
    .trial = pl_cpu_trial,
    .pair = pl_cpu_pair,
    .jacobi = pl_cpu_jacobi,
    .jacobi_constant = pl_cpu_jacobi_constant,
    .chebyshev = pl_cpu_chebyshev,
};

static const pl_contact_ops contact = {
    .forces = pl_cpu_contact_forces,
    .velocities = pl_cpu_contact_velocities,
    .inner_acceleration = pl_cpu_inner_acceleration,
    .pin_velocities = pl_cpu_pin_velocities,
    .friction = pl_cpu_friction,
};

static const pl_matrix_ops matrix = {
    .use_model = pl_cpu_use_model,
    .solve = cpu_solve,
};

static const pl_factored_ops factored = {
    .multiply = cpu_multiply,
};

static const pl_splitting_ops splitting = {
    .reduce = cpu_reduce,
    .local_step = cpu_local_step,
    .concavity = pl_cpu_concavity,
    .scale_terms = pl_cpu_scale_terms,
    .contribute = cpu_contribute,
    .stage_rows = cpu_stage_rows,
    .gather_global = cpu_gather_global,
    .dual_norm = cpu_dual_norm,
    .hard_force = cpu_hard_force,
};

static const pl_anderson_ops anderson = {
    .prepare = pl_cpu_anderson_prepare,
    .difference = pl_cpu_anderson_difference,
    .combine = pl_cpu_anderson_combine,
};

static const pl_hessian_ops hessian = {
    .prepare = pl_cpu_hessian_prepare,
    .make = pl_cpu_hessian_make,
    .factor = pl_cpu_hessian_factor,
    .solve = pl_cpu_hessian_solve,
    .multiply = pl_cpu_hessian_multiply,
    .jacobi = pl_cpu_hessian_jacobi,
};

const pl_backend_ops pl_backend_cpu = {
    .name = "cpu",
    .on_host = true,
    .epsilon = DBL_EPSILON,
    .energy_epsilon = 1e-13,
    .refuses = cpu_refuses,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .memory = &memory,
    .fetch = &fetch,
    .kinematics = &kinematics,
    .rows = &rows,
    .objective = &objective,
    .measures = &pl_cpu_measures,
    .descent = &descent,
    .contact = &contact,
    .matrix = &matrix,
    .factored = &factored,
    .splitting = &splitting,
    .anderson = &anderson,
    .hessian = &hessian,
};
