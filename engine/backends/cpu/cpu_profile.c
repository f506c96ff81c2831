/* The CPU's phases with a clock around each, and the counts of their work. Only phases that take time or have threads
 * are here; the others, such as copies, are part of the profile's `other`.
 *
 * A term counts corners x rows operations (its reduction D_i x and what follows it), a vertex VERTEX, a row of a list
 * of vectors 1 for each of them, and a solve with L its numbers, twice. Within a phase these only weigh loops against
 * each other; between phases it is the seconds that do. */
#include "engine/backends/cpu/cpu_internal.h"
#include "engine/backends/profile.h"

#include "engine/clock.h"
#include "engine/linear/solve_shape.h"
#include "engine/model/factors.h"

#include <math.h>

#define CPU pl_backend_cpu

enum { VERTEX = 12 };

/* ---- the clock ---- */

static double seconds_now(void)
{
    return 1e-3 * pl_clock_ms();
}

static double enter(void)
{
    pl_profile_current()->depth++;
    return seconds_now();
}

/* The row to count in; NULL inside another phase, to which the time and the work belong. */
static pl_profile_row *leave(pl_profile_phase phase, double start)
{
    pl_profile *p = pl_profile_current();
    if (--p->depth > 0)
        return NULL;
    pl_profile_row *row = &p->row[phase];
    row->current += seconds_now() - start;
    row->calls++;
    return row;
}

typedef void counter(pl_profile_row *row, pl_backend *b);

static void finish(pl_profile_phase phase, double start, counter *count, pl_backend *b)
{
    pl_profile_row *row = leave(phase, start);
    double begun = seconds_now();
    if (row)
        count(row, b);
    if (row)
        pl_profile_current()->own += seconds_now() - begun;
}

/* Runs a statement as a phase. */
#define PHASE(kind, count, ...)                                                                    \
    do {                                                                                           \
        const double start = enter();                                                              \
        __VA_ARGS__;                                                                               \
        finish(PL_PROFILE_##kind, start, count, b);                                                \
    } while (0)

/* ---- the work ---- */

static void nothing(pl_profile_row *row, pl_backend *b) {}

static double work_of_terms(const pl_group *g)
{
    return (double)g->terms * g->ops->corners * g->ops->rows;
}

static void add_group(pl_profile_row *row, const pl_group *g, int64_t blocks_a_thread)
{
    pl_profile_loop(row, work_of_terms(g), g->blocks, g->blocks / blocks_a_thread);
}

static void count_groups(pl_profile_row *row, pl_backend *b)
{
    for (int32_t g = 0; g < b->model->group_count; g++)
        add_group(row, &b->model->groups[g], BLOCKS_A_THREAD);
}

/* Groups without (false) or with (true) hard constraints. */
static void count_some_groups(pl_profile_row *row, const pl_backend *b, bool hard)
{
    for (int32_t g = 0; g < b->model->group_count; g++)
        if (b->model->groups[g].ops->hard == hard)
            add_group(row, &b->model->groups[g], BLOCKS_A_THREAD);
}

static void count_gather(pl_profile_row *row, pl_backend *b)
{
    int64_t n = b->model->free_vertices;
    pl_profile_loop(row, VERTEX * (double)n, n, n / ROWS_A_THREAD);
}

/* Chunks of `count` items, `each` operations an item. */
static void add_chunks(pl_profile_row *row, int64_t count, double each)
{
    int64_t chunks = chunks_of(count);
    pl_profile_loop(row, each * (double)count, chunks, chunks / (ROWS_A_THREAD / CHUNK));
}

static void count_rows(pl_profile_row *row, pl_backend *b)
{
    add_chunks(row, 3 * b->model->free_vertices, 1);
}

static void count_vertices(pl_profile_row *row, pl_backend *b)
{
    add_chunks(row, b->model->vertices, VERTEX);
}

static void count_free_vertices(pl_profile_row *row, pl_backend *b)
{
    add_chunks(row, b->model->free_vertices, VERTEX);
}

static void count_serial_rows(pl_profile_row *row, pl_backend *b)
{
    pl_profile_serial(row, 3 * (double)b->model->free_vertices);
}

static void count_gradient(pl_profile_row *row, pl_backend *b)
{
    count_groups(row, b);
    count_vertices(row, b);
}

static void count_jacobi(pl_profile_row *row, pl_backend *b)
{
    count_groups(row, b);
    count_free_vertices(row, b);
}

/* Parts of all groups, shared out as equal runs; then the vertices gather. */
static void count_trial(pl_profile_row *row, pl_backend *b)
{
    double work = 0;
    int64_t blocks = 0;
    for (int32_t g = 0; g < b->model->group_count; g++) {
        work += work_of_terms(&b->model->groups[g]);
        blocks += b->model->groups[g].blocks;
    }
    int64_t most = blocks / BLOCKS_A_THREAD, chunks = chunks_of(b->model->vertices);
    pl_profile_loop(row, work, cpu_of(b)->parts.count, most);
    pl_profile_loop(row, VERTEX * (double)b->model->vertices, chunks, most);
}

/* One factor's solve: parts below the top, which are not alike, then the top. */
static void add_solve(pl_profile_row *row, const pl_factor *f)
{
    pl_solve_shape s = pl_factor_shape(f);
    row->work += 2 * s.all;
    for (int k = 0; k < PL_PROFILE_WIDTHS; k++)
        row->longest[k] += 2 * (k == PL_PROFILE_CHAIN ? s.chain : s.two);
}

/* Cycles of a multigrid, as many as an apply takes. */
static void add_cycles(pl_profile_row *row, const pl_model *m)
{
    add_chunks(row, m->free_vertices,
               2 * pl_factors_numbers(m) / fmax((double)m->free_vertices, 1));
}

static void count_solve(pl_profile_row *row, pl_backend *b)
{
    const pl_model *m = b->model;
    for (int k = 0; k < 3; k++) {
        if (k > 0 && pl_factors_shared(m, k, k - 1))
            continue;
        if (m->factor[k])
            add_solve(row, m->factor[k]);
        else
            add_cycles(row, m);
    }
}

/* CHOLMOD on one thread. */
static void count_newton(pl_profile_row *row, pl_backend *b)
{
    pl_profile_serial(row, 3 * (double)b->model->free_vertices);
}

static void count_assembly(pl_profile_row *row, pl_backend *b)
{
    int64_t n = b->model->free_vertices;
    for (int32_t g = 0; g < b->model->group_count; g++)
        add_group(row, &b->model->groups[g], BLOCKS_A_THREAD / 8);
    pl_profile_loop(row, VERTEX * (double)n, n, n / (ROWS_A_THREAD / 8));
}

/* ---- splitting ---- */

static void reduce(pl_backend *b, const pl_array *x, pl_array *const *z)
{
    PHASE(LOCAL_STEP, count_groups, CPU.splitting->reduce(b, x, z));
}

/* The local step times its hard groups itself. */
static pl_local_sums local_step(pl_backend *b, const pl_backend_stage *stage,
                                const pl_local_step *step)
{
    pl_local_sums sums;
    pl_profile *p = pl_profile_current();
    PHASE(LOCAL_STEP, nothing, sums = CPU.splitting->local_step(b, stage, step));
    pl_profile_row *local = &p->row[PL_PROFILE_LOCAL_STEP],
                   *prox = &p->row[PL_PROFILE_CONTACT_PROX];
    if (sums.ms_contacts > 0) {
        local->current -= 1e-3 * sums.ms_contacts;
        prox->current += 1e-3 * sums.ms_contacts;
        prox->calls++;
        count_some_groups(prox, b, true);
        if (b->model->touching) /* the joint prox of all rows has loops of its own */
            prox->counting = PL_PROFILE_MEASURED;
    }
    count_some_groups(local, b, false);
    return sums;
}

static void contribute(pl_backend *b, pl_array *const *u, pl_array *const *z)
{
    PHASE(LOCAL_STEP, count_groups, CPU.splitting->contribute(b, u, z));
}

static void stage_rows(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *rows)
{
    PHASE(GATHER, count_gather, CPU.splitting->stage_rows(b, stage, x, rows));
}

static void gather_global(pl_backend *b, const pl_array *base, pl_array *rows)
{
    PHASE(GATHER, count_gather, CPU.splitting->gather_global(b, base, rows));
}

static double dual_norm(pl_backend *b)
{
    double norm;
    PHASE(SUMS, count_free_vertices, norm = CPU.splitting->dual_norm(b));
    return norm;
}

static void difference(pl_backend *b, const pl_anderson *a)
{
    PHASE(ACCELERATION, count_groups, CPU.anderson->difference(b, a));
}

/* ---- rows, and the constant matrix ---- */

static double dot(pl_backend *b, const pl_array *a, const pl_array *c)
{
    double sum;
    PHASE(SUMS, count_rows, sum = CPU.rows->dot(b, a, c));
    return sum;
}

static double dot_change(pl_backend *b, const pl_array *a1, const pl_array *a0, const pl_array *b1,
                         const pl_array *b0)
{
    double sum;
    PHASE(SUMS, count_rows, sum = CPU.rows->dot_change(b, a1, a0, b1, b0));
    return sum;
}

static double scale(pl_backend *b, const pl_array *inverse, const pl_array *g, pl_array *out)
{
    double sum;
    PHASE(SUMS, count_rows, sum = CPU.rows->scale(b, inverse, g, out));
    return sum;
}

static void combine(pl_backend *b, const pl_array *const *list, const double *coefficient,
                    int32_t count, pl_array *out)
{
    PHASE(HISTORY, count_rows, CPU.rows->combine(b, list, coefficient, count, out));
}

static void set_free(pl_backend *b, const pl_array *rows, pl_array *x)
{
    PHASE(VECTORS, count_serial_rows, CPU.rows->set_free(b, rows, x));
}

static void get_free(pl_backend *b, const pl_array *x, pl_array *rows)
{
    PHASE(VECTORS, count_serial_rows, CPU.rows->get_free(b, x, rows));
}

static void unscale(pl_backend *b, const pl_array *inverse, const pl_array *p, pl_array *out)
{
    PHASE(VECTORS, count_serial_rows, CPU.rows->unscale(b, inverse, p, out));
}

static pl_status solve(pl_backend *b, const pl_array *rhs, pl_array *rows)
{
    pl_status status;
    PHASE(GLOBAL_SOLVE, count_solve, status = CPU.matrix->solve(b, rhs, rows));
    return status;
}

static void multiply(pl_backend *b, const pl_array *rows, pl_array *out)
{
    PHASE(VECTORS, count_serial_rows, CPU.factored->multiply(b, rows, out));
}

static pl_status solve_from(pl_backend *b, const pl_array *rhs, const pl_array *from,
                            pl_array *rows, double *square)
{
    pl_status status;
    PHASE(GLOBAL_SOLVE, count_solve, status = CPU.iterated->solve_from(b, rhs, from, rows, square));
    return status;
}

/* ---- objective and descent ---- */

static void freeze(pl_backend *b, const pl_backend_stage *stage)
{
    PHASE(OBJECTIVE, count_groups, CPU.objective->freeze(b, stage));
}

static double value(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    double e;
    PHASE(OBJECTIVE, count_gradient, e = CPU.objective->value(b, stage, x));
    return e;
}

static double gradient(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                       pl_array *const *u, pl_array *out)
{
    double norm;
    PHASE(OBJECTIVE, count_gradient, norm = CPU.objective->gradient(b, stage, x, u, out));
    return norm;
}

static pl_trial_sums trial(pl_backend *b, const pl_backend_stage *stage, const pl_trial *t)
{
    pl_trial_sums sums;
    PHASE(LINE_SEARCH, count_trial, sums = CPU.descent->trial(b, stage, t));
    return sums;
}

static double pair(pl_backend *b, const pl_history_pair *p)
{
    double sum;
    PHASE(HISTORY, count_rows, sum = CPU.descent->pair(b, p));
    return sum;
}

static double jacobi(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                     pl_array *inverse)
{
    double quotient;
    PHASE(PRECONDITIONER, count_jacobi, quotient = CPU.descent->jacobi(b, stage, x, inverse));
    return quotient;
}

static double jacobi_constant(pl_backend *b, const pl_backend_stage *stage, bool flat,
                              pl_array *inverse)
{
    double quotient;
    PHASE(PRECONDITIONER, count_serial_rows,
          quotient = CPU.descent->jacobi_constant(b, stage, flat, inverse));
    return quotient;
}

static void chebyshev(pl_backend *b, const pl_chebyshev *step)
{
    PHASE(VECTORS, count_gather, CPU.descent->chebyshev(b, step));
}

/* ---- Newton ---- */

static pl_status hessian_make(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                              bool project)
{
    pl_status status;
    PHASE(ASSEMBLY, count_assembly, status = CPU.hessian->make(b, stage, x, project));
    return status;
}

static pl_status hessian_factor(pl_backend *b)
{
    pl_status status;
    PHASE(FACTOR, count_newton, status = CPU.hessian->factor(b));
    return status;
}

static pl_status hessian_solve(pl_backend *b, const pl_array *rows, pl_array *out)
{
    pl_status status;
    PHASE(GLOBAL_SOLVE, count_newton, status = CPU.hessian->solve(b, rows, out));
    return status;
}

static void hessian_multiply(pl_backend *b, const pl_array *rows, pl_array *out)
{
    PHASE(GLOBAL_SOLVE, count_newton, CPU.hessian->multiply(b, rows, out));
}

static void hessian_jacobi(pl_backend *b, const pl_array *rows, pl_array *out)
{
    PHASE(PRECONDITIONER, count_gather, CPU.hessian->jacobi(b, rows, out));
}

/* Colours follow one another, and their blocks are not counted. */
static pl_status sweep_vertices(pl_backend *b, const pl_backend_stage *stage, double noise,
                                pl_array *x, int64_t *moved)
{
    pl_status status;
    PHASE(LOCAL_STEP, nothing, status = CPU.sweep->vertices(b, stage, noise, x, moved));
    pl_profile_current()->row[PL_PROFILE_LOCAL_STEP].counting = PL_PROFILE_MEASURED;
    return status;
}

/* ---- contact between bodies ---- */

static pl_status pairs_begin(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    pl_status status;
    PHASE(DETECTION, nothing, status = CPU.pairs->begin(b, stage, x));
    return status;
}

static pl_contact_renewal pairs_renew(pl_backend *b, const pl_array *x)
{
    pl_contact_renewal renewal;
    PHASE(DETECTION, nothing, renewal = CPU.pairs->renew(b, x));
    return renewal;
}

static double pairs_lack(pl_backend *b, const pl_array *x)
{
    double lack;
    PHASE(DETECTION, nothing, lack = CPU.pairs->lack(b, x));
    return lack;
}

static pl_status pairs_advance(pl_backend *b, const pl_array *x, pl_contact_keeping keeping,
                               pl_contact_advance *out)
{
    pl_status status;
    PHASE(DETECTION, nothing, status = CPU.pairs->advance(b, x, keeping, out));
    return status;
}

static pl_status pairs_measure(pl_backend *b, const pl_array *x, pl_contact_sums *out)
{
    pl_status status;
    PHASE(DETECTION, nothing, status = CPU.pairs->measure(b, x, out));
    return status;
}

/* ---- measures ---- */

static pl_measures measure(pl_backend *b, const pl_array *x)
{
    pl_measures out;
    PHASE(MEASURES, count_groups, out = CPU.measures->elements(b, x));
    return out;
}

static pl_motion_sums motion(pl_backend *b, const pl_array *x, const pl_array *v)
{
    pl_motion_sums sums;
    PHASE(MEASURES, count_serial_rows, sums = CPU.measures->motion(b, x, v));
    return sums;
}

/* ---- the tables ---- */

static pl_status create(const pl_model *model, int32_t threads, pl_backend *beside,
                        pl_backend **out)
{
    pl_status status = CPU.create(model, threads, beside, out);
    if (status == PL_OK)
        (*out)->ops = pl_backend_cpu_profiled();
    return status;
}

/* Copies of the CPU's tables with the phases above in their places. Made again by each thread that asks: they are
 * always the same. */
const pl_backend_ops *pl_backend_cpu_profiled(void)
{
    static _Thread_local pl_backend_ops profiled;
    static _Thread_local struct {
        pl_rows_ops rows;
        pl_objective_ops objective;
        pl_measures_ops measures;
        pl_descent_ops descent;
        pl_pairs_ops pairs;
        pl_matrix_ops matrix;
        pl_factored_ops factored;
        pl_iterated_ops iterated;
        pl_splitting_ops splitting;
        pl_anderson_ops anderson;
        pl_hessian_ops hessian;
        pl_sweep_ops sweep;
    } t;
    t.rows = (pl_rows_ops){.set_free = set_free,
                           .get_free = get_free,
                           .dot = dot,
                           .dot_change = dot_change,
                           .combine = combine,
                           .scale = scale,
                           .unscale = unscale};
    t.objective = *CPU.objective;
    t.objective.freeze = freeze;
    t.objective.value = value;
    t.objective.gradient = gradient;
    t.measures = *CPU.measures;
    t.measures.elements = measure;
    t.measures.motion = motion;
    t.descent = *CPU.descent;
    t.descent.trial = trial;
    t.descent.pair = pair;
    t.descent.jacobi = jacobi;
    t.descent.jacobi_constant = jacobi_constant;
    t.descent.chebyshev = chebyshev;
    t.pairs = *CPU.pairs;
    t.pairs.begin = pairs_begin;
    t.pairs.renew = pairs_renew;
    t.pairs.lack = pairs_lack;
    t.pairs.advance = pairs_advance;
    t.pairs.measure = pairs_measure;
    t.matrix = *CPU.matrix;
    t.matrix.solve = solve;
    t.factored = (pl_factored_ops){.multiply = multiply};
    t.iterated = (pl_iterated_ops){.solve_from = solve_from};
    t.splitting = *CPU.splitting;
    t.splitting.reduce = reduce;
    t.splitting.local_step = local_step;
    t.splitting.contribute = contribute;
    t.splitting.stage_rows = stage_rows;
    t.splitting.gather_global = gather_global;
    t.splitting.dual_norm = dual_norm;
    t.anderson = *CPU.anderson;
    t.anderson.difference = difference;
    t.hessian = *CPU.hessian;
    t.hessian.make = hessian_make;
    t.hessian.factor = hessian_factor;
    t.hessian.solve = hessian_solve;
    t.hessian.multiply = hessian_multiply;
    t.hessian.jacobi = hessian_jacobi;
    t.sweep = *CPU.sweep;
    t.sweep.vertices = sweep_vertices;
    profiled = CPU;
    profiled.create = create;
    profiled.rows = &t.rows;
    profiled.objective = &t.objective;
    profiled.measures = &t.measures;
    profiled.descent = &t.descent;
    profiled.pairs = &t.pairs;
    profiled.matrix = &t.matrix;
    profiled.factored = &t.factored;
    profiled.iterated = &t.iterated;
    profiled.splitting = &t.splitting;
    profiled.anderson = &t.anderson;
    profiled.hessian = &t.hessian;
    profiled.sweep = &t.sweep;
    return &profiled;
}
