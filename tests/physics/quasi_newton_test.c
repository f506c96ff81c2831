/* Quasi-Newton as a minimiser: its result equals ADMM's, in the expected number of iterations, and if it cannot
 * continue it says why. */
#include "engine/backends/backend.h"
#include "engine/isa.h"
#include "engine/model/materials.h"
#include "engine/model/model.h"
#include "engine/solvers/history.h"
#include "engine/solvers/solver.h"
#include "tests/support/case_a.h"
#include "tests/support/host_array.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const MATERIALS[] = {"neo_hookean", "corotated", "arap"};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof *MATERIALS };

/* A bar held at its left, its right end turned by 90 degrees a second, in gravity. */
static pl_run *twisting(const char *solver, const char *material, int32_t threads)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.04, 'steps': 5},"
        " 'solver': {%s}, 'output': {'metrics': 'iteration'},"
        " 'materials': {'m': {'model': '%s', 'young': 1e6, 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}},"
        "   'initial': {'shape': {'twisted': {'turns': 0.25, 'axis': [1, 0, 0]}}}}],"
        " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"
        "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]}",
        solver, material);
}

/* One minimum, two ways: positions, objective and the forces of the pins agree. */
START_TEST(finds_what_admm_finds)
{
    const char *material = MATERIALS[_i];
    pl_run *q = twisting("'method': 'quasi_newton', 'iterations': 1000, 'tolerance': 1e-9",
                         material, 2);
    pl_run *a = twisting("'method': 'admm', 'iterations': 5000, 'tolerance': 1e-9", material, 2);
    pl_run_frames(q, 2);
    pl_run_frames(a, 2);
    ck_assert_int_eq(q->metrics.unconverged, 0);
    ck_assert_int_eq(a->metrics.unconverged, 0);
    double off = 0, size = 0;
    for (int64_t i = 0; i < 3 * pl_run_vertices(q); i++) {
        off = fmax(off, fabs(pl_run_x(q)[i] - pl_run_x(a)[i]));
        size = fmax(size, fabs(pl_run_x(a)[i] - a->model->x0[i]));
    }
    ck_assert_double_gt(size, 0.01);
    ck_assert_double_lt(off, 1e-6 * size);
    ck_assert_double_eq_tol(q->metrics.objective, a->metrics.objective,
                            1e-9 * a->metrics.objective);
    for (int p = 0; p < 2; p++) {
        const double *f = q->metrics.pins[p].newton, *e = a->metrics.pins[p].newton;
        double force = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
        ck_assert_double_gt(force, 1000);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(f[c], e[c], 1e-5 * force);
    }
    pl_run_close(q);
    pl_run_close(a);
}
END_TEST

/* Without history the method is Liu's descent by the constant matrix alone: slower, to the same
 * minimum. A window holds what fits into it: the largest is more than the iterations. */
START_TEST(every_window_converges)
{
    const int32_t windows[] = {0, 1, 8, PL_WINDOW_MAX};
    double objective[4];
    int64_t iterations[4];
    for (int k = 0; k < 4; k++) {
        char solver[128];
        snprintf(solver, sizeof solver,
                 "'method': 'quasi_newton', 'iterations': 3000, 'tolerance': 1e-7, 'window': %d",
                 windows[k]);
        pl_run *r = twisting(solver, "neo_hookean", 1);
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        objective[k] = r->metrics.objective;
        iterations[k] = r->metrics.iterations;
        ck_assert_double_eq_tol(objective[k], objective[0], 1e-10 * objective[0]);
        pl_run_close(r);
    }
    ck_assert_int_lt(2 * iterations[2], iterations[0]);
    ck_assert_int_le(iterations[2], iterations[1]);
    ck_assert_int_le(iterations[3], iterations[1]);
}
END_TEST

/* gamma takes the scale from the pairs: where inertia is nothing, A is proportional to weight_scale
 * and only the first step sees it: far too short with 200, cut to pieces by the line search with
 * 0.02. */
START_TEST(scale_of_the_matrix_hardly_matters)
{
    const double scales[] = {2, 200, 0.02};
    int64_t iterations[3];
    for (int k = 0; k < 3; k++) {
        pl_run *r =
            pl_run_openf(1,
                         "{'pliant': 1, 'time': {'step': 10, 'steps': 1},"
                         " 'solver': {'method': 'quasi_newton', 'iterations': 2000, 'tolerance': 0,"
                         "   'weight_scale': %g}, 'output': {'metrics': 'iteration'},"
                         " 'materials': {'m': {'young': 1e6, 'poisson': 0.4}},"
                         " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [6, 3, 3]}},"
                         "   'initial': {'shape': {'stretched': [1.3, 1, 1]}}}],"
                         " 'pins': [{'select': {'side': '-x'}}]}",
                         scales[k]);
        pl_run_frames(r, 1);
        const pl_metrics *m = &r->metrics;
        iterations[k] = 0;
        while (iterations[k] + 1 < m->detail_count &&
               m->detail[iterations[k]].gradient_norm > 1e-4 * m->detail[0].gradient_norm)
            iterations[k]++;
        pl_run_close(r);
    }
    ck_assert_int_le(iterations[0], 60);
    ck_assert_int_le(iterations[1], iterations[0] * 3 / 2);
    ck_assert_int_le(iterations[2], iterations[0] * 3 / 2);
}
END_TEST

/* Liu's stiffness is as fast on case A as the default (methods_test has that) with a shorter history.
 * Roundings decide about a few of these iterations. */
START_TEST(fitted_stiffness_is_as_fast)
{
    double minimum = case_a_minimum(&CASE_A[0]);
    pl_run *r = case_a_open(&CASE_A[0], "'method': 'quasi_newton', 'iterations': 80,"
                                        " 'tolerance': 0, 'stiffness': 'fit', 'window': 5");
    pl_run_frames(r, 1);
    int64_t two = case_a_iterations(&r->metrics, minimum, 1e-2);
    int64_t three = case_a_iterations(&r->metrics, minimum, 1e-3);
    ck_assert(two > 0 && two <= 37);
    ck_assert(three > 0 && three <= 43);
    pl_run_close(r);
}
END_TEST

/* Every step goes down, to the rounding of energies; rows are of what happened, the last one the
 * frame's own; there are no residuals of a split variable. */
START_TEST(objective_goes_down)
{
    for (int k = 0; k < MATERIAL_COUNT; k++) {
        pl_run *r = twisting("'method': 'quasi_newton', 'iterations': 60, 'tolerance': 0",
                             MATERIALS[k], 1);
        pl_run_frames(r, 1);
        const pl_metrics *m = &r->metrics;
        ck_assert_int_eq(m->iterations, 60);
        ck_assert_int_eq(m->unconverged, -1);
        ck_assert_int_eq(m->detail_count, 61);
        for (int64_t i = 1; i < m->detail_count; i++) {
            double before = m->detail[i - 1].objective;
            ck_assert_double_le(m->detail[i].objective, before + 1e-12 * before);
            ck_assert(isnan(m->detail[i].primal_residual) && isnan(m->detail[i].dual_residual));
            ck_assert_double_ge(m->detail[i].ms, m->detail[i - 1].ms);
        }
        ck_assert_double_lt(m->objective, 0.95 * m->detail[0].objective);
        const pl_iteration *last = &m->detail[60];
        ck_assert(last->objective == m->objective && last->decrement == m->decrement);
        ck_assert(last->gradient_norm == m->gradient_norm && isnan(m->primal_residual));
        ck_assert_double_lt(m->decrement, 1e-2 * m->detail[0].decrement);
        pl_run_close(r);
    }
}
END_TEST

/* The decrement is |A^-1 g|_A: from two results that differ by a step of the constant matrix alone
 * (window 0, alpha 1), it is the length of that step in the norm of A. */
START_TEST(decrement_is_the_length_of_the_matrix_s_step)
{
    const char *solver = "'method': 'quasi_newton', 'tolerance': 0, 'window': 0, 'iterations': %d";
    pl_run *run[2];
    for (int k = 0; k < 2; k++) {
        char text[128];
        snprintf(text, sizeof text, solver, 20 + k);
        run[k] = twisting(text, "arap", 1); /* for which a step of 1 is always taken */
        pl_run_frames(run[k], 1);
    }
    const pl_model *m = run[0]->model;
    int64_t n = m->free_vertices;
    double *d = calloc(3 * (size_t)n, sizeof *d), *Ad = calloc(3 * (size_t)n, sizeof *Ad);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            d[c * n + i] = pl_run_x(run[1])[3 * m->free_vertex[i] + c] -
                           pl_run_x(run[0])[3 * m->free_vertex[i] + c];
    pl_sparse_multiply(&m->A, d, Ad, 3);
    double square = 0;
    for (int64_t i = 0; i < 3 * n; i++)
        square += d[i] * Ad[i];
    ck_assert_double_eq_tol(run[0]->metrics.decrement, sqrt(square), 1e-7 * sqrt(square));
    free(d), free(Ad);
    pl_run_close(run[0]);
    pl_run_close(run[1]);
}
END_TEST

START_TEST(tolerance_decides_when_to_stop)
{
    pl_run *loose = twisting("'method': 'quasi_newton', 'iterations': 500, 'tolerance': 1e-2",
                             "neo_hookean", 1);
    pl_run *tight = twisting("'method': 'quasi_newton', 'iterations': 500, 'tolerance': 1e-6",
                             "neo_hookean", 1);
    pl_run_frames(loose, 1);
    pl_run_frames(tight, 1);
    ck_assert_int_lt(loose->metrics.iterations, tight->metrics.iterations);
    ck_assert_double_le(loose->metrics.decrement, 1e-2 * loose->metrics.detail[0].decrement);
    ck_assert_double_le(tight->metrics.decrement, 1e-6 * tight->metrics.detail[0].decrement);
    ck_assert_int_eq(tight->metrics.unconverged, 0);
    pl_run_close(loose);
    pl_run_close(tight);
    pl_run *few = twisting("'method': 'quasi_newton', 'iterations': 3, 'tolerance': 1e-6",
                           "neo_hookean", 1);
    pl_run_frames(few, 1);
    ck_assert_int_eq(few->metrics.unconverged, 1);
    ck_assert_int_eq(few->metrics.iterations, 3);
    pl_run_close(few);
}
END_TEST

/* Asked for more accuracy than rounding allows, it stops where rounding ends the descent, and reports convergence. */
START_TEST(rounding_is_an_end)
{
    for (int k = 0; k < MATERIAL_COUNT; k++) {
        pl_run *r = twisting("'method': 'quasi_newton', 'iterations': 2000, 'tolerance': 1e-16",
                             MATERIALS[k], 1);
        pl_run_frames(r, 2);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        ck_assert_int_lt(r->metrics.iterations, 600);
        pl_run_close(r);
    }
}
END_TEST

/* Backward Euler of a free fall: x(n) = x0 + n h v0 + h^2 g n (n + 1) / 2 for every vertex, and the
 * initial guess is the answer. Far from the origin too. */
START_TEST(free_fall_is_the_discrete_answer)
{
    const double h = 0.01, g = -9.81, v0[3] = {1, 2, -0.5}, tolerance[] = {0, 1e-6};
    for (int k = 0; k < 2; k++) {
        pl_run *r = pl_run_openf(
            2,
            "{'pliant': 1, 'time': {'step': 0.01, 'steps': 50},"
            " 'solver': {'method': 'quasi_newton', 'iterations': 10, 'tolerance': %g},"
            " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 3, 3]}},"
            "   'transform': {'translate': [%g, 0, 0]}, 'initial': {'velocity': [1, 2, -0.5]}}]}",
            tolerance[k], k * 1000.0);
        for (int n = 1; n <= 50; n++) {
            pl_run_frames(r, 1);
            for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++) {
                int64_t c = i % 3;
                double expected = r->model->x0[i] + n * h * v0[c] +
                                  (c == 1 ? h * h * g * n * (n + 1) / 2 : 0);
                ck_assert_double_eq_tol(pl_run_x(r)[i], expected, k ? 1e-10 : 1e-12);
            }
            ck_assert_int_eq(r->metrics.unconverged, k ? 0 : -1);
        }
        pl_run_close(r);
    }
}
END_TEST

/* Bodies of two materials, a moving pin, large enough that threads have work. */
static uint64_t hash_of_a_run(int32_t threads)
{
    pl_run *r = pl_run_open(
        threads, "{'pliant': 1, 'time': {'step': 0.02, 'steps': 4},"
                 " 'solver': {'method': 'quasi_newton', 'iterations': 15, 'tolerance': 0},"
                 " 'materials': {'a': {}, 'b': {'model': 'corotated'}},"
                 " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [24, 6, 6]}},"
                 "    'material': 'a', 'initial': {'angular_velocity': [1, 2, 3]}},"
                 "   {'mesh': {'sphere': {'cells': 8}}, 'material': 'b',"
                 "    'transform': {'translate': [0, 3, 0]},"
                 "    'initial': {'shape': {'stretched': [1.3, 0.9, 1]}}}],"
                 " 'pins': [{'body': 'body-0', 'select': {'side': '-x'},"
                 "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 180}}]}");
    pl_run_frames(r, 4);
    uint64_t hash = pl_run_hash(r);
    pl_run_close(r);
    return hash;
}

START_TEST(threads_and_instructions_do_not_change_a_bit)
{
    uint64_t hash = hash_of_a_run(1);
    ck_assert_uint_eq(hash_of_a_run(2), hash);
    ck_assert_uint_eq(hash_of_a_run(3), hash);
    for (int isa = 0; isa < PL_ISA_COUNT; isa++) {
        setenv("PLIANT_ISA", pl_isa_name((pl_isa)isa), 1);
        ck_assert_uint_eq(hash_of_a_run(2), hash);
    }
    unsetenv("PLIANT_ISA");
}
END_TEST

/* One pass gives the same as two, up to rounding. */
START_TEST(energy_and_gradient_in_one_pass)
{
    for (int k = 0; k < MATERIAL_COUNT; k++) {
        pl_run *r = twisting("'method': 'quasi_newton'", MATERIALS[k], 1);
        const pl_group *g = &r->model->groups[0];
        double *c[2], *energy[2], size = 0;
        for (int i = 0; i < 2; i++) {
            c[i] = pl_block_alloc(r->model->contributions, sizeof *c[i]);
            energy[i] = pl_block_alloc(g->blocks, sizeof *energy[i]);
        }
        g->ops->energy(g, pl_run_x(r), energy[0], 0, g->blocks);
        g->ops->gradient(g, pl_run_x(r), c[0], 0, g->blocks);
        g->ops->energy_gradient(g, pl_run_x(r), energy[1], c[1], 0, g->blocks);
        for (int64_t i = 0; i < r->model->contributions; i++)
            size = fmax(size, fabs(c[0][i]));
        for (int64_t i = 0; i < r->model->contributions; i++)
            ck_assert_double_eq_tol(c[1][i], c[0][i], 1e-13 * size);
        for (int64_t b = 0; b < g->blocks; b++) {
            ck_assert_double_gt(energy[0][b], 0);
            ck_assert_double_eq_tol(energy[1][b], energy[0][b], 1e-11 * energy[0][b]);
        }
        for (int i = 0; i < 2; i++)
            free(c[i]), free(energy[i]);
        pl_run_close(r);
    }
}
END_TEST

/* ---- the stiffness of the matrix ---- */

static double fit_of(pl_material_kind model, double mu, double lambda)
{
    const pl_material material = {.model = model, .has_lame = true, .lame = {mu, lambda}};
    pl_material_numbers numbers;
    ck_assert_int_eq(pl_material_make(&material, &numbers), PL_OK);
    return numbers.fit;
}

/* k = 12 integral of (x - 1) f(x) over [0.5, 1.5] (Liu 2017, eq. 11) with f the stress of one
 * stretch. Neo-Hookean: f = mu (x - 1/x) + lambda log(x) / x, whose integrals are elementary.
 * Corotated: f = (2 mu + lambda) (x - 1), and k is that slope; ARAP: 2 mu.
 * StVK: f = (2 mu + lambda) (x^3 - x) / 2; the polynomial: f = 4 mu (x - 1)^3. */
START_TEST(stiffness_fits_the_stress)
{
    const double mu = 3e5, lambda = 7e5;
    /* int log x = x log x - x, int log(x) / x = log(x)^2 / 2 */
    double hi = log(1.5), lo = log(0.5);
    double volume = 12 * ((1.5 * hi - 1.5) - (0.5 * lo - 0.5) - (hi * hi - lo * lo) / 2);
    double shear = 12 * (13.0 / 12 - 1 - 1 + log(3));
    ck_assert_double_eq_tol(shear, 2.18335, 1e-5);
    ck_assert_double_eq_tol(volume, 1.35356, 1e-5);
    double k = fit_of(PL_MATERIAL_NEO_HOOKEAN, mu, lambda);
    ck_assert_double_eq_tol(k, shear * mu + volume * lambda, 1e-9 * k);
    k = fit_of(PL_MATERIAL_COROTATED, mu, lambda);
    ck_assert_double_eq_tol(k, 2 * mu + lambda, 1e-12 * k);
    k = fit_of(PL_MATERIAL_ARAP, mu, lambda);
    ck_assert_double_eq_tol(k, 2 * mu, 1e-12 * k);
    k = fit_of(PL_MATERIAL_STVK, mu, lambda);
    ck_assert_double_eq_tol(k, 2.15 * mu + 1.075 * lambda, 1e-12 * k);
    k = fit_of(PL_MATERIAL_POLYNOMIAL, mu, lambda);
    ck_assert_double_eq_tol(k, 0.6 * mu, 1e-12 * k);
}
END_TEST

/* What decides about the matrix: w^2 = k V of every element, with k by the scene's words. */
START_TEST(stiffness_makes_the_weights)
{
    const char *words[] = {"'weight_scale': 3", "'stiffness': 'fit'"};
    for (int w = 0; w < 2; w++) {
        pl_run *r = twisting(words[w], "corotated", 1);
        const pl_group *g = &r->model->groups[0];
        double mu = 1e6 / 2.8, lambda = 1e6 * 0.4 / (1.4 * 0.2);
        double volume = (4.0 / 12) / 9 / 6, k = w == 0 ? 3 * mu : 2 * mu + lambda;
        for (int64_t t = 0; t < g->terms; t++)
            ck_assert_double_eq_tol(g->weight[t], k * volume, 1e-9 * k * volume);
        pl_run_close(r);
    }
}
END_TEST

/* ---- failures ---- */

/* The second body is flat from the start, with infinite log J: body and element are named. */
START_TEST(inverted_start_is_told)
{
    pl_run *r =
        pl_run_open(2, "{'pliant': 1, 'solver': {'method': 'quasi_newton'},"
                       " 'materials': {'a': {'model': 'corotated'}, 'b': {}},"
                       " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}, 'material': 'b'},"
                       "   {'mesh': {'sphere': {'cells': 4}}, 'material': 'a',"
                       "    'initial': {'shape': 'collapsed'}},"
                       "   {'name': 'flat', 'mesh': {'box': {'cells': [3, 2, 2]}}, 'material': 'b',"
                       "    'initial': {'shape': {'stretched': [1, 0, 1]}}}]}");
    uint64_t before = pl_run_hash(r);
    ck_assert_int_eq(pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL),
                     PL_FAILED);
    ck_assert_int_eq(r->failure.code, PL_FAILURE_INVERTED);
    ck_assert_int_eq(r->failure.body, 2);
    ck_assert_int_eq(r->failure.element, 0);
    ck_assert_int_eq(r->failure.vertex, -1);
    ck_assert_int_eq(r->failure.step, 1);
    ck_assert_int_eq(r->failure.frame, 0);
    ck_assert(strstr(r->failure.message, "inverted") && strstr(r->failure.advice, "admm"));
    ck_assert_uint_eq(pl_run_hash(r), before);
    pl_run_close(r);
}
END_TEST

/* A solver on a backend with one replaced phase. */
typedef struct driven {
    pl_run *run;
    pl_backend *backend;
    pl_backend_ops ops;
    pl_solver *solver;
    pl_solve_result result;
    pl_failure failure;
} driven;

static void drive(driven *d, pl_run *run)
{
    d->run = run;
    const pl_model *m = d->run->model;
    ck_assert_int_eq(pl_backend_find(PL_DEVICE_CPU)->create(m, 1, NULL, &d->backend), PL_OK);
    d->ops = *d->backend->ops;
    d->backend->ops = &d->ops;
    d->failure = (pl_failure){.body = -1, .element = -1, .vertex = -1};
    ck_assert_int_eq(pl_solver_find(PL_METHOD_QUASI_NEWTON)->create(m, d->backend, &d->solver),
                     PL_OK);
}

static pl_status solve_driven(driven *d, const double *start, double *x)
{
    const pl_model *m = d->run->model;
    size_t count = 3 * (size_t)m->vertices;
    double *gradient = calloc(count, sizeof *gradient);
    memcpy(x, start, count * sizeof *x);
    const pl_backend_stage stage = {
        .scalars = {.a = 1, .h = m->h, .inertia = m->inertia, .time_end = m->h},
        .x_start = pl_host_array(m->x0),
        .x_pred = pl_host_array(m->x0)};
    pl_status status = d->solver->ops->solve(d->solver, &stage, pl_host_array(x),
                                             pl_host_array(gradient), &d->result, &d->failure);
    free(gradient);
    return status;
}

static void stop_driving(driven *d)
{
    d->solver->ops->destroy(d->solver);
    d->backend->ops->destroy(d->backend);
    pl_run_close(d->run);
}

/* An objective that is a joule higher at every trial than at the previous one. */
static pl_trial_sums (*true_trial)(pl_backend *, const pl_backend_stage *, const pl_trial *);
static double lie;
static pl_trial_sums rising_trial(pl_backend *b, const pl_backend_stage *stage,
                                  const pl_trial *trial)
{
    pl_trial_sums sums = true_trial(b, stage, trial);
    sums.objective = lie++;
    return sums;
}

/* The phases of a history against plain loops, on rows of more than one chunk and no multiple of
 * eight. */
START_TEST(history_phases_do_what_they_say)
{
    enum { PAIRS = 3, VECTORS = 2 * PAIRS + 5 };
    driven d = {0};
    drive(&d, pl_run_open(2, "{'pliant': 1, 'bodies': [{'mesh': {'box': {'cells': [5, 5, 6]}}}]}"));
    const pl_backend_ops *ops = d.backend->ops;
    int64_t n = 3 * d.run->model->free_vertices;
    ck_assert_int_ne(n % 8, 0);
    double *v[VECTORS];
    pl_array *array[VECTORS];
    for (int j = 0; j < VECTORS; j++) {
        array[j] = ops->memory->alloc(d.backend, n);
        v[j] = pl_numbers(array[j]);
        for (int64_t i = 0; i < n; i++)
            v[j][i] = sin((double)(i * (j + 3)));
    }
    double *last = v[PAIRS - 1], *g = v[6], *g_old = v[7], *p = v[8], *p_old = v[9];
    double direction = last[5], out[4][PAIRS], expected[4][PAIRS] = {{0}}, pg = 0;
    pl_history_pair pair = {array,    array + PAIRS, PAIRS,  0.25,   array[6], array[7],
                            array[8], array[9],      out[0], out[1], out[2],   out[3]};
    double found = ops->descent->pair(d.backend, &pair);
    ck_assert_double_eq(last[5], 0.25 * direction);
    for (int64_t i = 0; i < n; i++) {
        ck_assert_double_eq(v[2 * PAIRS - 1][i], p[i] - p_old[i]);
        pg += p[i] * g[i];
        for (int k = 0; k < 4 * PAIRS; k++) {
            double *a = v[k % 2 * PAIRS + k / 4];
            expected[k % 4][k / 4] += a[i] * (k % 4 < 2 ? g[i] : g[i] - g_old[i]);
        }
    }
    ck_assert_double_eq_tol(found, pg, 1e-10);
    for (int k = 0; k < 4 * PAIRS; k++)
        ck_assert_double_eq_tol(out[k % 4][k / 4], expected[k % 4][k / 4], 1e-10);
    const double a[] = {2, -1, 0.5, 3, 7};
    ops->rows->combine(d.backend, (const pl_array *const *)array, a, 5, array[10]);
    for (int64_t i = 0; i < n; i++)
        ck_assert_double_eq_tol(
            v[10][i], 2 * v[0][i] - v[1][i] + 0.5 * v[2][i] + 3 * v[3][i] + 7 * v[4][i], 1e-12);
    for (int j = 0; j < VECTORS; j++)
        ops->memory->release(d.backend, array[j]);
    stop_driving(&d);
}
END_TEST

/* The pair of a step, used with an unrelated gradient: the slope is of that gradient, and if it is the pair's own
 * change t, the direction is -s (the secant equation). */
START_TEST(history_meets_another_objective)
{
    driven d = {0};
    drive(&d, pl_run_open(1, "{'pliant': 1, 'bodies': [{'mesh': {'box': {'cells': [2, 2, 3]}}}]}"));
    pl_backend *b = d.backend;
    const int64_t n = 3 * d.run->model->free_vertices;
    pl_array *rows[4];
    double *v[4], slope, dot = 0;
    for (int j = 0; j < 4; j++) {
        rows[j] = b->ops->memory->alloc(b, n);
        v[j] = pl_numbers(rows[j]);
    }
    double *g = v[0], *g_old = v[1], *p = v[2], *p_old = v[3];
    const pl_history_point at = {rows[0], rows[1], rows[2], rows[3]};
    pl_history *h;
    ck_assert_int_eq(pl_history_create(b, 4, &h), PL_OK);
    pl_history_forget(h);
    for (int64_t i = 0; i < n; i++)
        p[i] = g[i] = sin((double)i) + 2; /* B0 = I */
    double gp = pl_history_take(h, b, &at, false, 0);
    const double *direction = pl_numbers_read(pl_history_direction(h, b, rows[2], gp, &slope));
    double *step = malloc((size_t)n * sizeof *step), *change = malloc((size_t)n * sizeof *change);
    for (int64_t i = 0; i < n; i++) {
        g_old[i] = p_old[i] = g[i];
        step[i] = 0.5 * direction[i];
        change[i] = (1 + (double)(i % 5)) * step[i];
        g[i] = p[i] = g_old[i] + change[i];
    }
    pl_history_take(h, b, &at, true, 0.5);
    for (int64_t i = 0; i < n; i++)
        g[i] = p[i] = change[i];
    gp = pl_history_take(h, b, &at, false, 0);
    direction = pl_numbers_read(pl_history_direction(h, b, rows[2], gp, &slope));
    for (int64_t i = 0; i < n; i++) {
        ck_assert_double_eq_tol(direction[i], -step[i], 1e-12);
        dot += g[i] * direction[i];
    }
    ck_assert_double_eq_tol(slope, dot, 1e-12 * fabs(dot));
    free(step), free(change);
    pl_history_destroy(h, b);
    for (int j = 0; j < 4; j++)
        b->ops->memory->release(b, rows[j]);
    stop_driving(&d);
}
END_TEST

START_TEST(line_search_that_finds_nothing_is_told)
{
    driven d = {0};
    drive(&d, twisting("'tolerance': 1e-3", "neo_hookean", 1));
    const pl_model *m = d.run->model;
    double *x = calloc(3 * (size_t)m->vertices, sizeof *x);
    ck_assert_int_eq(solve_driven(&d, m->x0, x), PL_OK);
    ck_assert(d.result.converged);
    pl_descent_ops rising = *d.ops.descent;
    true_trial = rising.trial;
    rising.trial = rising_trial;
    d.ops.descent = &rising;
    ck_assert_int_eq(solve_driven(&d, m->x0, x), PL_FAILED);
    ck_assert_int_eq(d.failure.code, PL_FAILURE_LINE_SEARCH);
    /* The named vertex is the free one with the largest gradient. */
    double *f = calloc(3 * (size_t)m->vertices, sizeof *f);
    const pl_backend_stage stage = {.scalars = {.a = 1, .h = m->h, .inertia = m->inertia},
                                    .x_start = pl_host_array(m->x0),
                                    .x_pred = pl_host_array(m->x0)};
    d.ops.objective->gradient(d.backend, &stage, pl_host_array(m->x0), NULL, pl_host_array(f));
    int64_t steepest = m->free_vertex[0];
    for (int64_t i = 0; i < m->vertices; i++) {
        const double *a = f + 3 * i, *b = f + 3 * steepest;
        if (m->free_row[i] >= 0 &&
            a[0] * a[0] + a[1] * a[1] + a[2] * a[2] > b[0] * b[0] + b[1] * b[1] + b[2] * b[2])
            steepest = i;
    }
    ck_assert_int_ne(steepest, m->free_vertex[0]);
    ck_assert_int_eq(d.failure.vertex, steepest);
    free(f);
    ck_assert(strstr(d.failure.message, "decrement") && strstr(d.failure.advice, "time.step"));
    free(x);
    stop_driving(&d);
}
END_TEST

START_TEST(what_is_not_finite_is_told)
{
    driven d = {0};
    drive(&d, twisting("'tolerance': 1e-3", "neo_hookean", 1));
    const pl_model *m = d.run->model;
    size_t count = 3 * (size_t)m->vertices;
    double *start = calloc(count, sizeof *start), *x = calloc(count, sizeof *x);
    memcpy(start, m->x0, count * sizeof *start);
    start[3 * 40 + 1] = NAN;
    ck_assert_int_eq(solve_driven(&d, start, x), PL_FAILED);
    ck_assert_int_eq(d.failure.code, PL_FAILURE_NOT_FINITE);
    ck_assert_int_eq(d.failure.vertex, 40);
    /* And the next solve, from a good start, is none the worse for it. */
    ck_assert_int_eq(solve_driven(&d, m->x0, x), PL_OK);
    ck_assert(d.result.converged && isfinite(d.result.objective));
    free(start), free(x);
    stop_driving(&d);
}
END_TEST

START_TEST(hard_obstacles_are_refused_with_the_method_that_has_them)
{
    pl_run *r = pl_run_open(1, "{'pliant': 1, 'solver': {'method': 'quasi_newton'},"
                               " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}}],"
                               " 'obstacles': [{'plane': {}}]}");
    r->scene.solver.has_obstacles = true; /* and they are hard */
    pl_estimate estimate;
    pl_model *model = NULL;
    for (int k = 0; k < 2; k++) {
        pl_faults faults = {0};
        ck_assert_int_eq(k ? pl_model_create(&r->scene, r->meshes, &model, &faults)
                           : pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults),
                         PL_INVALID);
        ck_assert_uint_eq(faults.total, 1);
        ck_assert_str_eq(faults.items[0].pointer, "/solver/method");
        ck_assert_str_eq(faults.items[0].code, "unsupported");
        ck_assert_str_eq(faults.items[0].got, "quasi_newton, with 1 hard obstacle");
        ck_assert(strstr(faults.items[0].hint, "admm") != NULL);
        pl_faults_clear(&faults);
    }
    ck_assert_ptr_null(model);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quasi-Newton");
    TCase *t = tcase_create("quasi-Newton");
    tcase_add_loop_test(t, finds_what_admm_finds, 0, MATERIAL_COUNT);
    tcase_add_test(t, every_window_converges);
    tcase_add_test(t, scale_of_the_matrix_hardly_matters);
    tcase_add_test(t, fitted_stiffness_is_as_fast);
    tcase_add_test(t, objective_goes_down);
    tcase_add_test(t, decrement_is_the_length_of_the_matrix_s_step);
    tcase_add_test(t, tolerance_decides_when_to_stop);
    tcase_add_test(t, rounding_is_an_end);
    tcase_add_test(t, free_fall_is_the_discrete_answer);
    tcase_add_test(t, threads_and_instructions_do_not_change_a_bit);
    tcase_add_test(t, energy_and_gradient_in_one_pass);
    tcase_add_test(t, stiffness_fits_the_stress);
    tcase_add_test(t, stiffness_makes_the_weights);
    tcase_add_test(t, inverted_start_is_told);
    tcase_add_test(t, history_phases_do_what_they_say);
    tcase_add_test(t, history_meets_another_objective);
    tcase_add_test(t, line_search_that_finds_nothing_is_told);
    tcase_add_test(t, what_is_not_finite_is_told);
    tcase_add_test(t, hard_obstacles_are_refused_with_the_method_that_has_them);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
