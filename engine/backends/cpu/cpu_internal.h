/* cpu_internal.h - shared by the files of the CPU backend: its state, and the division of work, in which the number
 * of threads changes no bit. */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_INTERNAL_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_INTERNAL_H

#include "engine/backends/backend.h"
#include "engine/backends/cpu/cpu_parts.h"
#include "engine/backends/cpu/cpu_rows.h"
#include "engine/backends/host_contact.h"
#include "engine/backends/look.h"
#include "engine/backends/numbers.h"

#ifdef _OPENMP /* fuzzers are built without OpenMP */
#include <omp.h>
#endif

/* Workspaces of a model's solves by coordinate; NULL if an earlier one has the same factor or multigrid. */
typedef struct solve_works {
    pl_solve_work *factor[3];
    pl_multigrid_work *multigrid[3];
} solve_works;

typedef struct cpu {
    pl_backend base;
    int32_t threads;
    double *to_global, *dual; /* contributions, [model->contributions] */
    double *partial;          /* one per chunk or block */
    pl_block_sums *sums;      /* [largest number of blocks of a group] */
    pl_block_measure *measures;
    const pl_model *first;          /* the model for which the backend was created */
    solve_works work;               /* of that model */
    solve_works other_work;         /* of another model while it is in use (use_model) */
    int64_t outside, found_outside; /* the part in which the last trial left the energy's domain */
    double *scratch;                /* twice the rows, if the model is partly held */
    const pl_rows_loops *rows;
    double *energies;            /* [blocks of all groups] */
    double *vertex_sums;         /* [chunks of vertices][4] */
    double *hessians;            /* [pl_group_hessian_values], for the largest group without
                                    hessian_diagonal; or NULL */
    double *anderson;            /* cpu_anderson.c: partial sums; NULL without that acceleration */
    struct newton *newton;       /* cpu_newton.c; NULL without that method */
    struct sweeps *sweeps;       /* cpu_sweep.c; NULL without that method */
    struct augmented *augmented; /* cpu_augmented.c; NULL without held groups */
    pl_host_contact between;     /* cpu_pairs.c */
    struct apart *apart;         /* cpu_apart.c; NULL except for ADMM with such contact */
    pl_parts parts;              /* for local steps, or from trial_prepare; else empty */
    double *dots;                /* [chunks of rows][4 * window + 1]: partial inner products */
} cpu;

/* ---- phases, as in the tables of cpu.c ---- */

/* cpu_state.c */
void pl_cpu_drift(pl_backend *b, double h, const double gravity[3], const double *x,
                  const double *v, double *out);
void pl_cpu_blend(pl_backend *b, const double *base, double d, const double *v, double e,
                  const double *v_old, double *out);
void pl_cpu_velocity(pl_backend *b, double h, const double *x, const double *x_new, double *out);
void pl_cpu_place_pins(pl_backend *b, double time, double *x);
void pl_cpu_pin_force(pl_backend *b, int32_t pin, const double *gradient, double force[3]);
void pl_cpu_evaluate_loads(pl_backend *b, double time, const double *x, const double *v,
                           double *load, pl_force *total);
double pl_cpu_farthest(pl_backend *b, const double *a, const double *c, int64_t *vertex);
int64_t pl_cpu_find_not_finite(pl_backend *b, const double *x);
pl_motion_sums pl_cpu_motion(pl_backend *b, const double *x, const double *v);

/* cpu_fetch.c */
pl_status pl_cpu_fetch_create(pl_backend *b, const pl_fetch_form *form, pl_fetch **out);
void pl_cpu_fetch_destroy(pl_backend *b, pl_fetch *f);
void pl_cpu_fetch_begin(pl_backend *b, pl_fetch *f, const pl_array *const *arrays);
const void *pl_cpu_fetch_take(pl_backend *b, pl_fetch *f, bool wait);

/* cpu_matrix.c */
pl_status pl_cpu_solve(pl_backend *b, const double *rhs, double *rows);
pl_status pl_cpu_solve_from(pl_backend *b, const double *rhs, const double *from, double *rows,
                            double *square);
void pl_cpu_multiply(pl_backend *b, const double *rows, double *out);
void pl_cpu_set_free(pl_backend *b, const double *rows, double *x);
void pl_cpu_get_free(pl_backend *b, const double *x, double *rows);
double pl_cpu_dot_change(pl_backend *b, const double *a1, const double *a0, const double *b1,
                         const double *b0);

/* cpu_objective.c */
void pl_cpu_freeze(pl_backend *b, const pl_stage *stage);
double pl_cpu_objective(pl_backend *b, const pl_stage *stage, const double *x);
double pl_cpu_gradient(pl_backend *b, const pl_stage *stage, const double *x, pl_array *const *u,
                       double *gradient);

/* cpu_measures.c */
int64_t pl_cpu_soft_force(pl_backend *b, int32_t group, const double *x, double force[3]);
double pl_cpu_depth(pl_backend *b, int32_t group, double time, const double *x);
double pl_cpu_dissipation(pl_backend *b, int32_t group, const double *x);
pl_measures pl_cpu_measure(pl_backend *b, const double *x);

/* cpu_jacobi.c */
double pl_cpu_jacobi(pl_backend *b, const pl_stage *stage, const double *x, double *inverse);
double pl_cpu_jacobi_constant(pl_backend *b, const pl_stage *stage, bool flat, double *inverse);
double pl_cpu_scale(pl_backend *b, const double *inverse, const double *g, double *out);
void pl_cpu_unscale(pl_backend *b, const double *inverse, const double *p, double *out);
double pl_cpu_dot(pl_backend *b, const double *a, const double *c);
void pl_cpu_chebyshev(pl_backend *b, const pl_chebyshev *step);

/* cpu_descent.c */
pl_status pl_cpu_trial_prepare(pl_backend *b);
pl_trial_sums pl_cpu_trial(pl_backend *b, const pl_stage *stage, const pl_trial *trial);
double pl_cpu_pair(pl_backend *b, const pl_history_pair *pair);
void pl_cpu_combine(pl_backend *b, const pl_array *const *list, const double *coefficient,
                    int32_t count, double *out);
double pl_cpu_magnitude(pl_backend *b, const double *x);
int64_t pl_cpu_find_outside(pl_backend *b, const double *x);
int64_t pl_cpu_find_steepest(pl_backend *b, const double *gradient);

/* cpu_contact.c */
void pl_cpu_no_contributions(const pl_group *g, double *contributions, int64_t b0, int64_t b1);
void pl_cpu_contact_forces(pl_backend *b, const pl_stage *stage, pl_array *const *u,
                           const double *x, double *force);
double pl_cpu_friction(pl_backend *b, const pl_stage *stage, pl_array *const *u, const double *x,
                       const double *v);
bool pl_cpu_contact_velocities(pl_backend *b, const pl_stage *stage, const pl_contact_end *end);
void pl_cpu_inner_acceleration(pl_backend *b, const pl_stage *stage, const double *x,
                               const double *gradient, const double *contact, double *out);
void pl_cpu_pin_velocities(pl_backend *b, double time, double span, double *v);

/* cpu_splitting.c */
void pl_cpu_reduce(pl_backend *b, const double *x, pl_array *const *z);
pl_local_sums pl_cpu_local_step(pl_backend *b, const pl_stage *stage, const pl_local_step *step);
void pl_cpu_contribute(pl_backend *b, pl_array *const *u, pl_array *const *z);
void pl_cpu_stage_rows(pl_backend *b, const pl_stage *stage, const double *x, double *rows);
void pl_cpu_gather_global(pl_backend *b, const double *base, double *rows);
double pl_cpu_dual_norm(pl_backend *b);
int64_t pl_cpu_hard_force(pl_backend *b, int32_t group, const double *u, double force[3]);

/* cpu_weights.c */
pl_status pl_cpu_use_model(pl_backend *b, const pl_model *model);
void pl_cpu_concavity(pl_backend *b, int32_t group, const double *z, double *out);
void pl_cpu_scale_terms(pl_backend *b, int32_t group, const double *factor, double *values);

/* cpu_anderson.c */
pl_status pl_cpu_anderson_prepare(pl_backend *b);
void pl_cpu_anderson_difference(pl_backend *b, const pl_anderson *a);
const struct pl_anderson_loops *pl_cpu_anderson_loops(void);

/* cpu_sweep.c */
void pl_cpu_sweep_release(cpu *c);
pl_status pl_cpu_sweep_prepare(pl_backend *b);
/* Copies what the groups have frozen for a stage. */
void pl_cpu_sweep_refreeze(cpu *c);
pl_status pl_cpu_sweep_vertices(pl_backend *b, const pl_stage *stage, double noise, double *x,
                                int64_t *moved);

/* cpu_augmented.c */
pl_status pl_cpu_augmented_create(cpu *c);
void pl_cpu_augmented_release(cpu *c);
void pl_cpu_hold(pl_backend *b, const double *multipliers);
void pl_cpu_renew(pl_backend *b, const double *x, double *multipliers);

/* cpu_pairs.c */
pl_status pl_cpu_pairs_create(cpu *c);
void pl_cpu_pairs_release(cpu *c);
extern const pl_pairs_ops pl_cpu_pairs_ops;
/* U of the rows at x, J; 0 without rows. Afterwards their gradient can be added to a vertex's. */
double pl_cpu_pairs_evaluate(cpu *c, const double *x);

/* cpu_newton.c */
/* True if a factor was made since the last call. */
bool pl_cpu_hessian_take_factor(cpu *c);
void pl_cpu_hessian_release(cpu *c);
pl_status pl_cpu_hessian_prepare(pl_backend *b);
/* Begins a step: the pattern may contain contacts that are over. */
void pl_cpu_hessian_begin(cpu *c);
pl_status pl_cpu_hessian_make(pl_backend *b, const pl_stage *stage, const double *x, bool project);
pl_status pl_cpu_hessian_factor(pl_backend *b);
pl_status pl_cpu_hessian_solve(pl_backend *b, const double *rows, double *out);
void pl_cpu_hessian_multiply(pl_backend *b, const double *rows, double *out);
void pl_cpu_hessian_jacobi(pl_backend *b, const double *rows, double *out);

/* On failure the caller releases those already created. */
pl_status pl_cpu_works_create(const pl_model *model, int32_t threads, solve_works *works);
void pl_cpu_works_destroy(solve_works *works);
void pl_cpu_works_set_threads(solve_works *works, int32_t threads);

/* Zeroes held coordinates: the gradient there is the pin's force, not an imbalance. */
static inline void clear_held(const pl_model *m, int64_t vertex, double f[3])
{
    for (int k = 0; k < 3; k++)
        f[k] = pl_model_holds(m, vertex, k) ? 0 : f[k];
}

static inline cpu *cpu_of(pl_backend *b)
{
    return (cpu *)b;
}

/* cpu_apart.c */
pl_status pl_cpu_apart_create(cpu *c);
void pl_cpu_apart_release(cpu *c);
/* True if the group is the one that keeps bodies apart. */
bool pl_cpu_is_apart(const cpu *c, int32_t group);
/* Begins a step: a prox may again use the full number of sweeps. */
void pl_cpu_apart_renew(cpu *c);
pl_status pl_cpu_apart_begin(pl_backend *b, pl_array *const *u);
/* Fixed inputs of the local step of the group that keeps bodies apart. */
void pl_cpu_apart_find(cpu *c, const pl_admm_local *local);
/* Sets the accuracy of the next local step from the group's |W (D x - z)| of the last one, J^(1/2). */
void pl_cpu_apart_end(cpu *c, double primal);

/* f += the gradient of the rows at a vertex, where they were last evaluated. */
static inline void add_pairs(const cpu *c, int64_t vertex, double f[3])
{
    if (c->between.set)
        pl_contact_rows_add(pl_contact_set_rows(c->between.set), vertex, f);
}

static inline const solve_works *works_of(const cpu *c)
{
    return c->base.model == c->first ? &c->work : &c->other_work;
}

static inline int64_t chunks_of(int64_t count)
{
    return (count + CHUNK - 1) / CHUNK;
}

static inline int64_t chunk_end(int64_t chunk, int64_t count)
{
    int64_t end = (chunk + 1) * CHUNK;
    return end < count ? end : count;
}

static inline double add_up(const double *partial, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += partial[i];
    return sum;
}

/* Number of threads for `items` of work: waking a thread costs microseconds, so a small model gets fewer. The
 * number changes no bit of the result. */
enum { BLOCKS_A_THREAD = 24, ROWS_A_THREAD = 1024 };
static inline int32_t team(const cpu *c, int64_t items, int64_t least)
{
    int64_t most = items / least;
    return most < 1 ? 1 : most < c->threads ? (int32_t)most : c->threads;
}

/* Divides blocks into equal runs, one per thread; the assignment changes no bit. */
typedef struct run {
    int64_t b0, b1;
} run;
static inline run run_of(int64_t blocks, int64_t part, int64_t parts)
{
    return (run){blocks * part / parts, blocks * (part + 1) / parts};
}
#ifdef _OPENMP
#define OWN_THREAD omp_get_thread_num()
#define TEAM_SIZE  omp_get_num_threads()
#else
#define OWN_THREAD 0
#define TEAM_SIZE  1
#endif
static inline run own_run(int64_t blocks)
{
    return run_of(blocks, OWN_THREAD, TEAM_SIZE);
}

/* Runs the statement after it on every thread of a team, each with its own run `r` of the blocks. */
#define PRAGMA(text) _Pragma(#text)
#define EACH_RUN(c, blocks, r)                                                                     \
    PRAGMA(omp parallel num_threads(team(c, blocks, BLOCKS_A_THREAD)))                             \
    for (run r = own_run(blocks), *once = &r; once; once = NULL)

#endif
