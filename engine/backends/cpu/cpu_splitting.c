/* The CPU's local steps by term, and their interface to global steps. */
#include "engine/backends/cpu/cpu_anderson.h"
#include "engine/backends/cpu/cpu_internal.h"
#include "engine/clock.h"
#include "engine/model/groups/touching.h"

#include <math.h>

void pl_cpu_reduce(pl_backend *b, const double *x, pl_array *const *z)
{
    cpu *c = cpu_of(b);
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        EACH_RUN(c, group->blocks, r)
            group->ops->reduce(group, x, pl_numbers(z[g]), r.b0, r.b1);
    }
}

/* ---- local steps, part by part (cpu_parts.h) ---- */

/* Blocks between taking from u and the local step that reads it: they stay in a first-level cache. */
enum { BLOCKS_AT_ONCE = 2 };

typedef struct local_work {
    const pl_stage *stage;
    pl_admm_local local; /* its contributions are set for each part */
    const pl_anderson_loops *loops;
    const pl_mixing_part *mixing; /* or NULL */
} local_work;

static void local_part(cpu *c, const void *context, int64_t p, int32_t thread)
{
    const local_work *work = context;
    const pl_part *part = &c->parts.part[p];
    const pl_group group = pl_parts_group(c->base.model, part);
    pl_admm_local local = work->local;
    local.to_global = pl_parts_window(&c->parts, thread);
    if (local.dual)
        local.dual += c->base.model->groups[part->group].contribution - group.contribution;
    const int64_t many = work->mixing ? BLOCKS_AT_ONCE : part->b1 - part->b0;
    for (int64_t b = part->b0; b < part->b1; b += many) {
        const int64_t end = b + many < part->b1 ? b + many : part->b1;
        if (work->mixing)
            work->loops->mix(work->mixing, b, end);
        group.ops->admm_local(&group, work->stage, &local, b, end);
    }
    pl_parts_add_up(&c->parts, p, local.to_global);
}

/* Runs `of` for the parts of a group, on the threads of a team. */
typedef void part_work(cpu *c, const void *context, int64_t part, int32_t thread);

static void each_part(cpu *c, int32_t g, part_work *of, const void *context)
{
    int64_t first, end;
    pl_parts_of_group(&c->parts, g, &first, &end);
    int32_t threads = team(c, c->base.model->groups[g].blocks, BLOCKS_A_THREAD);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t i = 0; i < threads; i++) {
        const run share = run_of(end - first, i, threads);
        for (int64_t p = first + share.b0; p < first + share.b1; p++)
            of(c, context, p, i);
    }
}
static void clear_part(cpu *c, const void *context, int64_t p, int32_t thread)
{
    pl_parts_clear(&c->parts, p);
}

/* What is taken from u of a group; dg: room for the list. */
static pl_mixing_part mixing_of(const cpu *c, const pl_local_step *step, int32_t g, float **dg)
{
    const pl_mixing *m = step->mixing;
    for (int32_t j = 0; j < m->count; j++)
        dg[j] = (float *)(void *)m->dg[j][g];
    return (pl_mixing_part){.rows = c->base.model->groups[g].ops->rows,
                            .count = m->count,
                            .gamma = m->gamma,
                            .dg = dg,
                            .taken = (float *)(void *)m->taken[g],
                            .u = pl_numbers(step->u[g])};
}

/* The local step of the group that keeps bodies apart: all of u must be known before it. */
static void mix_apart(cpu *c, local_work *work, const pl_group *group)
{
    if (work->mixing)
        work->loops->mix(work->mixing, 0, group->blocks);
    work->mixing = NULL;
    pl_cpu_apart_find(c, &work->local);
}

static void local_group(cpu *c, const pl_stage *stage, const pl_local_step *step, int32_t g)
{
    const pl_group *group = &c->base.model->groups[g];
    float *dg[PL_ANDERSON_MAX];
    pl_mixing_part mixing;
    local_work work = {.stage = stage,
                       .local = {.x = pl_numbers_read(step->x),
                                 .u = pl_numbers(step->u[g]),
                                 .z = pl_numbers(step->z[g]),
                                 .u_old = pl_numbers(step->u_old[g]),
                                 .z_old = pl_numbers(step->z_old[g]),
                                 .beta = step->beta,
                                 .beta_next = step->beta_next,
                                 .relaxation = step->relaxation,
                                 .dual = step->want_dual ? c->dual : NULL,
                                 .sums = c->sums},
                       .loops = pl_cpu_anderson_loops()};
    if (step->mixing) {
        mixing = mixing_of(c, step, g, dg);
        work.mixing = &mixing;
    }
    if (pl_cpu_is_apart(c, g))
        mix_apart(c, &work, group);
    each_part(c, g, local_part, &work);
}

pl_local_sums pl_cpu_local_step(pl_backend *b, const pl_stage *stage, const pl_local_step *step)
{
    cpu *c = cpu_of(b);
    pl_local_sums total = {0};
    double primal = 0, change = 0, size = 0;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const pl_group *group = &b->model->groups[g];
        double start = pl_clock_ms();
        const bool apart = pl_cpu_is_apart(c, g);
        if (apart && !pl_touching_is_on(group)) {
            each_part(c, g, clear_part, NULL);
            continue;
        }
        local_group(c, stage, step, g);
        const double before = primal;
        for (int64_t i = 0; i < group->blocks; i++) {
            primal += c->sums[i].primal;
            change += c->sums[i].change;
            size += c->sums[i].size;
        }
        if (apart)
            pl_cpu_apart_end(c, sqrt(primal - before));
        *(group->ops->hard ? &total.ms_contacts : &total.ms_elastic) += pl_clock_ms() - start;
    }
    total.primal = sqrt(primal);
    total.change = sqrt(change);
    total.size = sqrt(size);
    return total;
}

/* u and z of a group. */
typedef struct values {
    const double *u, *z;
} values;

static void contribute_part(cpu *c, const void *context, int64_t p, int32_t thread)
{
    const values *of = context;
    const pl_part *part = &c->parts.part[p];
    const pl_group group = pl_parts_group(c->base.model, part);
    double *window = pl_parts_window(&c->parts, thread);
    group.ops->admm_contribute(&group, of->u, of->z, window, part->b0, part->b1);
    pl_parts_add_up(&c->parts, p, window);
}

void pl_cpu_contribute(pl_backend *b, pl_array *const *u, pl_array *const *z)
{
    for (int32_t g = 0; g < b->model->group_count; g++) {
        const values of = {pl_numbers(u[g]), pl_numbers(z[g])};
        each_part(cpu_of(b), g, contribute_part, &of);
    }
}

/* ---- global steps ---- */

void pl_cpu_stage_rows(pl_backend *b, const pl_stage *stage, const double *x, double *rows)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int64_t v = m->free_vertex[i];
        double r[3];
        for (int k = 0; k < 3; k++)
            r[k] = m->mass[v] * stage->scalars.inertia * stage->x_pred[3 * v + k] +
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

void pl_cpu_gather_global(pl_backend *b, const double *base, double *rows)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t n = m->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum[3];
        int64_t v = m->free_vertex[i];
        pl_parts_gather(&c->parts, v, sum);
        for (int k = 0; k < 3; k++)
            rows[k * n + i] = base[k * n + i] + (pl_model_holds(m, v, k) ? 0 : sum[k]);
    }
}

double pl_cpu_dual_norm(pl_backend *b)
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

int64_t pl_cpu_hard_force(pl_backend *b, int32_t group, const double *u, double force[3])
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
