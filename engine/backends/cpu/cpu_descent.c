/* The phases of descent methods: objective and gradient in one pass, and the inner products and combinations of a
 * limited-memory history. */
#include "engine/backends/cpu/cpu_internal.h"

#include "engine/model/groups/isa.h"
#include "engine/model/groups/terms.h"
#include "engine/model/groups/tets.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- objective and gradient ---- */

/* Sums over a chunk of vertices: energy of inertia and load, slope, |g|^2, and |g|^2 over diag(A). */
typedef struct vertex_sums {
    double energy, slope, norm, decrement;
} vertex_sums;

static void place_trial(const pl_model *m, const pl_trial *t, int64_t i0, int64_t i1)
{
    int64_t n = m->free_vertices;
    const double *x = pl_numbers_read(t->x), *d = pl_numbers_read(t->d);
    double *x_new = pl_numbers(t->x_new);
    for (int64_t i = i0; i < i1; i++) {
        int64_t v = m->free_vertex[i];
        for (int k = 0; k < 3; k++)
            if (!pl_model_holds(m, v, k))
                x_new[3 * v + k] = x[3 * v + k] + t->alpha * d[k * n + i];
    }
}

/* The gradient at the vertices [i0, i1), from the elements' contributions and inertia. */
static vertex_sums gather_trial(const cpu *c, const pl_stage *stage, const pl_trial *t, int64_t i0,
                                int64_t i1)
{
    const pl_model *m = c->base.model;
    int64_t n = m->free_vertices;
    vertex_sums sums = {0};
    const double *x = pl_numbers_read(t->x_new), *d = pl_numbers_read(t->d);
    double *gradient = pl_numbers(t->gradient), *rows = pl_numbers(t->g);
    for (int64_t v = i0; v < i1; v++) {
        double *f = gradient + 3 * v;
        pl_parts_gather(&c->parts, v, f);
        add_pairs(c, v, f);
        double square = 0, work = 0;
        for (int k = 0; k < 3; k++) {
            double off = x[3 * v + k] - stage->x_pred[3 * v + k];
            double load = pl_stage_load(stage, 3 * v + k);
            if (!pl_model_holds(m, v, k)) {
                square += off * off;
                work += load * x[3 * v + k];
            }
            f[k] += m->mass[v] * stage->scalars.inertia * off - load;
        }
        int64_t row = m->free_row[v];
        if (row < 0)
            continue;
        sums.energy += 0.5 * stage->scalars.inertia * m->mass[v] * square - work;
        double g[3];
        for (int k = 0; k < 3; k++) {
            g[k] = pl_model_holds(m, v, k) ? 0 : f[k];
            rows[k * n + row] = g[k];
            sums.norm += g[k] * g[k];
            sums.slope += d ? g[k] * d[k * n + row] : 0;
        }
        sums.decrement += (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / pl_model_diagonal(m, row);
    }
    return sums;
}

/* Energies and forces of a thread's share of the parts. A step that ends outside the energy's domain is rejected
 * whatever the rest is. So all threads stop at the first part that finds this, and the next step, usually a shorter
 * one along the same direction, is checked there first. */
static void try_parts(cpu *c, const pl_trial *t, run share, int32_t thread, _Atomic bool *outside)
{
    int64_t count = share.b1 - share.b0, first = c->outside - share.b0;
    if (first < 0 || first >= count)
        first = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t part = share.b0 + (first + k) % count;
        if (atomic_load_explicit(outside, memory_order_relaxed))
            return;
        bool inside = pl_parts_energy_gradient(&c->parts, c->base.model, pl_numbers_read(t->x_new),
                                               c->energies, part, thread);
        if (t->d && !inside && !atomic_exchange(outside, true))
            c->found_outside = part;
    }
}

pl_status pl_cpu_trial_prepare(pl_backend *b)
{
    cpu *c = cpu_of(b);
    return c->parts.part ? PL_OK : pl_parts_create(b->model, c->threads, &c->parts);
}

pl_trial_sums pl_cpu_trial(pl_backend *b, const pl_stage *stage, const pl_trial *trial)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    int64_t rows = chunks_of(m->free_vertices), chunks = chunks_of(m->vertices), blocks = 0;
    vertex_sums *sums = (vertex_sums *)c->vertex_sums;
    for (int32_t g = 0; g < m->group_count; g++)
        blocks += m->groups[g].blocks;
    int32_t threads = team(c, blocks, BLOCKS_A_THREAD);
    _Atomic bool outside = false;
    if (trial->d) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t k = 0; k < rows; k++)
            place_trial(m, trial, k * CHUNK, chunk_end(k, m->free_vertices));
    }
    double touching = pl_cpu_pairs_evaluate(c, pl_numbers_read(trial->x_new));
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int32_t i = 0; i < (trial->same_x ? 0 : threads); i++)
            try_parts(c, trial, run_of(c->parts.count, i, threads), i, &outside);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < (outside ? 0 : chunks); k++)
            sums[k] = gather_trial(c, stage, trial, k * CHUNK, chunk_end(k, m->vertices));
    }
    if (outside) {
        c->outside = c->found_outside;
        return (pl_trial_sums){.objective = INFINITY, .slope = NAN, .norm = NAN, .decrement = NAN};
    }
    vertex_sums total = {0};
    for (int64_t k = 0; k < chunks; k++) {
        total.energy += sums[k].energy;
        total.slope += sums[k].slope;
        total.norm += sums[k].norm;
        total.decrement += sums[k].decrement;
    }
    double elastic = add_up(c->energies, blocks);
    return (pl_trial_sums){.objective = total.energy + elastic + touching,
                           .slope = total.slope,
                           .norm = sqrt(total.norm),
                           .decrement = sqrt(total.decrement)};
}

/* ---- the history ---- */

double pl_cpu_pair(pl_backend *b, const pl_history_pair *pair)
{
    cpu *c = cpu_of(b);
    int64_t n = 3 * b->model->free_vertices, chunks = chunks_of(n);
    int64_t width = 4 * (int64_t)pair->count + 1;
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++)
        c->rows->pair(pair, k * CHUNK, chunk_end(k, n), c->dots + k * width);
    for (int64_t k = 1; k < chunks; k++)
        for (int64_t j = 0; j < width; j++)
            c->dots[j] += c->dots[k * width + j];
    for (int32_t k = 0; k < pair->count; k++) {
        pair->sg[k] = c->dots[4 * k];
        pair->st[k] = c->dots[4 * k + 1];
        pair->wg[k] = c->dots[4 * k + 2];
        pair->wt[k] = c->dots[4 * k + 3];
    }
    return c->dots[width - 1];
}

void pl_cpu_combine(pl_backend *b, const pl_array *const *list, const double *coefficient,
                    int32_t count, double *out)
{
    cpu *c = cpu_of(b);
    int64_t n = 3 * b->model->free_vertices, chunks = chunks_of(n);
#pragma omp parallel for num_threads(team(c, chunks, ROWS_A_THREAD / CHUNK)) schedule(static)
    for (int64_t k = 0; k < chunks; k++)
        c->rows->combine(list, coefficient, count, k * CHUNK, chunk_end(k, n), out);
}

const pl_rows_loops *pl_cpu_rows(void)
{
    static const pl_rows_loops *const OPS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_rows_loops);
    return OPS[pl_isa_current()];
}

/* ---- search for a vertex or an element ---- */

double pl_cpu_magnitude(pl_backend *b, const double *x)
{
    const pl_model *m = b->model;
    double total = 0;
    for (int64_t i = 0; i < m->free_vertices; i++) {
        const double *v = x + 3 * (int64_t)m->free_vertex[i];
        double diagonal = pl_model_diagonal(m, i);
        total += diagonal * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return total;
}

static double det3(const double *F)
{
    return F[0] * (F[4 * PL_BLOCK] * F[8 * PL_BLOCK] - F[5 * PL_BLOCK] * F[7 * PL_BLOCK]) -
           F[3 * PL_BLOCK] * (F[PL_BLOCK] * F[8 * PL_BLOCK] - F[2 * PL_BLOCK] * F[7 * PL_BLOCK]) +
           F[6 * PL_BLOCK] * (F[PL_BLOCK] * F[5 * PL_BLOCK] - F[2 * PL_BLOCK] * F[4 * PL_BLOCK]);
}

/* True if a triangle's columns of F are collinear, to rounding. */
static bool collapsed(const double *F)
{
    double n2 = 0, size = 0;
    for (int r = 0; r < 3; r++) {
        const double *p = F + (r + 1) % 3 * PL_BLOCK, *q = F + (r + 2) % 3 * PL_BLOCK;
        double n = p[0] * q[3 * PL_BLOCK] - q[0] * p[3 * PL_BLOCK];
        n2 += n * n;
        size += p[0] * p[0] + p[3 * PL_BLOCK] * p[3 * PL_BLOCK];
    }
    return n2 <= 1e-14 * size * size;
}

/* The first element with det F <= 0, or without area, in the blocks of infinite energy: an element whose energy is
 * finite there is not the cause. */
static int64_t find_in_group(const cpu *c, const pl_group *group, const double *x)
{
    const bool tets = group->ops->rows == 9;
    const int32_t *element = tets ? ((const pl_tets *)group->data)->element
                                  : ((const pl_terms *)group->data)->element;
    double *F = pl_block_alloc(pl_group_values(group), sizeof *F);
    int64_t found = -1;
    if (!F)
        return found;
    group->ops->energy(group, x, c->energies, 0, group->blocks);
    group->ops->reduce(group, x, F, 0, group->blocks);
    for (int64_t i = 0; i < group->terms; i++) {
        int64_t block = i / PL_BLOCK, lane = i % PL_BLOCK;
        const double *at = F + block * group->ops->rows * PL_BLOCK + lane;
        if (!isfinite(c->energies[block]) && (tets ? det3(at) <= 0 : collapsed(at)) &&
            (found < 0 || element[i] < found))
            found = element[i];
    }
    free(F);
    return found < 0 || tets ? found : c->base.model->tets + found;
}

int64_t pl_cpu_find_outside(pl_backend *b, const double *x)
{
    const pl_model *m = b->model;
    int64_t found = -1;
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group_ops *ops = m->groups[g].ops;
        if (!ops->energy || (ops->rows != 9 && ops->rows != 6)) /* tetrahedra, membranes */
            continue;
        int64_t in_group = find_in_group(cpu_of(b), &m->groups[g], x);
        if (in_group >= 0 && (found < 0 || in_group < found))
            found = in_group;
    }
    return found;
}

int64_t pl_cpu_find_steepest(pl_backend *b, const double *gradient)
{
    return pl_look_steepest(b->model, gradient);
}
