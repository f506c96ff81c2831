/* The descent methods compared with quasi-Newton: they find the same results, without the matrix where none is needed;
 * the papers' orderings; and the methods' phases. */
#include "engine/backends/backend.h"
#include "engine/step/guess.h"
#include "engine/model/groups/isa.h"
#include "engine/model/model.h"
#include "engine/solvers/solver.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const MATERIALS[] = {"neo_hookean", "corotated", "arap"};

/* A method with settings; whether it makes the matrix. */
static const struct {
    const char *solver;
    bool matrix;
} METHODS[] = {
    {"'method': 'lbfgs'", false},
    {"'method': 'lbfgs', 'preconditioner': 'none', 'line_search': 'wolfe'", false},
    {"'method': 'lbfgs', 'jacobi_refresh': 3", false},
    {"'method': 'nonlinear_cg'", false},
    {"'method': 'nonlinear_cg', 'preconditioner': 'none'", false},
    {"'method': 'chebyshev_descent'", false},
    {"'method': 'chebyshev_descent', 'phases': 3, 'rho': 0.98, 'jacobi_refresh': 5", false},
    {"'method': 'chebyshev_descent', 'preconditioner': 'constant'", false},
    {"'method': 'chebyshev_semi_iterative', 'stiffness': 'fit'", true},
    {"'method': 'chebyshev_semi_iterative', 'rho': 0.9", true},
    {"'method': 'quasi_newton', 'line_search': 'wolfe'", true},
    {"'method': 'gradient_descent'", false},
    {"'method': 'gradient_descent', 'preconditioner': 'none'", false},
    {"'method': 'barzilai_borwein'", false},
    {"'method': 'vertex_block_descent'", false},
    {"'method': 'auto'", true},
    {"'method': 'barzilai_borwein', 'preconditioner': 'none'", false},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS, GRADIENT = 11 };

/* A bar held at both ends, twisted by half a turn, let go: the first step. */
static pl_run *twisted(const char *solver, const char *material, double step, int32_t threads)
{
    return pl_run_openf(threads,
                        "{'pliant': 1, 'time': {'step': %g, 'steps': 5}, 'gravity': [0, -9.81, 0],"
                        " 'solver': {%s}, 'output': {'metrics': 'iteration'},"
                        " 'materials': {'m': {'model': '%s', 'young': 1e6, 'poisson': 0.4}},"
                        " 'bodies': [{'mesh': {'box': {'size': [3, 1, 1], 'cells': [6, 2, 2]}},"
                        "   'initial': {'shape': {'twisted': {'turns': 0.5, 'axis': [1, 0, 0]}}}}],"
                        " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"
                        "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]}",
                        step, solver, material);
}

/* One minimum, whatever the way: the objective to 1e-8 of its fall, the positions and the force of
 * a pin. The bare gradients get a step short enough to end. */
START_TEST(every_method_finds_the_minimum)
{
    int method = _i % METHOD_COUNT;
    const char *material = MATERIALS[_i / METHOD_COUNT];
    double step = method >= GRADIENT ? 0.01 : 0.04;
    char solver[256];
    snprintf(solver, sizeof solver, "%s, 'iterations': 6000, 'tolerance': 1e-8",
             METHODS[method].solver);
    pl_run *r = twisted(solver, material, step, 1);
    pl_run *best = twisted("'method': 'newton', 'iterations': 100, 'tolerance': 1e-12", material,
                           step, 1);
    ck_assert((r->model->factor[0] != NULL) == METHODS[method].matrix);
    ck_assert((r->model->A.n > 0) == METHODS[method].matrix);
    pl_run_frames(r, 1);
    pl_run_frames(best, 1);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    ck_assert_int_eq(r->metrics.halved, 0);
    double fall = best->metrics.detail[0].objective - best->metrics.objective;
    ck_assert_double_gt(fall, 1);
    ck_assert_double_eq_tol(r->metrics.objective, best->metrics.objective, 1e-8 * fall);
    double off = 0, size = 0;
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++) {
        off = fmax(off, fabs(pl_run_x(r)[i] - pl_run_x(best)[i]));
        size = fmax(size, fabs(pl_run_x(best)[i] - best->model->x0[i]));
    }
    ck_assert_double_lt(off, 1e-4 * size);
    const double *f = r->metrics.pins[0].newton, *e = best->metrics.pins[0].newton;
    double force = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(f[c], e[c], 1e-3 * force);
    pl_run_close(r);
    pl_run_close(best);
}
END_TEST

/* What rows say: descents with a line search never go up; Chebyshev's not from one look to the next;
 * the last row is the frame's. The decrement is that of the diagonal of A, from the gradient. */
START_TEST(rows_are_what_happened)
{
    char solver[256];
    snprintf(solver, sizeof solver, "%s, 'iterations': 40, 'tolerance': 0", METHODS[_i].solver);
    pl_run *r = twisted(solver, "neo_hookean", 0.04, 1);
    pl_run_frames(r, 1);
    const pl_metrics *m = &r->metrics;
    ck_assert_int_eq(m->iterations, 40);
    ck_assert_int_eq(m->detail_count, 41);
    int apart = strstr(solver, "chebyshev_descent") ? 8 : 1;
    for (int64_t i = apart; i < m->detail_count; i += apart) {
        double before = m->detail[i - apart].objective;
        ck_assert_double_le(m->detail[i].objective, before + 1e-12 * before);
        ck_assert(isnan(m->detail[i].primal_residual) && isnan(m->detail[i].dual_residual));
    }
    const pl_iteration *last = &m->detail[40];
    ck_assert(last->objective == m->objective && last->decrement == m->decrement);
    ck_assert(last->gradient_norm == m->gradient_norm);
    ck_assert_double_lt(m->decrement, 0.5 * m->detail[0].decrement);
    if (!METHODS[_i].matrix) {
        double square = 0, norm = 0;
        double *gradient = pl_run_download(r, r->state->gradient, 3 * pl_run_vertices(r));
        for (int64_t i = 0; i < r->model->free_vertices; i++)
            for (int c = 0; c < 3; c++) {
                double g = gradient[3 * (int64_t)r->model->free_vertex[i] + c];
                norm += g * g;
                square += g * g / r->model->diagonal[i];
            }
        free(gradient);
        ck_assert_double_eq_tol(m->decrement, sqrt(square), 1e-9 * sqrt(square));
        ck_assert_double_eq_tol(m->gradient_norm, sqrt(norm), 1e-9 * sqrt(norm));
    }
    pl_run_close(r);
}
END_TEST

/* diag(A) without A is that of A. */
START_TEST(diagonal_is_the_matrix_s)
{
    pl_run *with = twisted("'method': 'quasi_newton'", "corotated", 0.04, 1);
    pl_run *without = twisted("'method': 'lbfgs'", "corotated", 0.04, 1);
    for (int64_t i = 0; i < with->model->free_vertices; i++) {
        double entry = with->model->A.value[with->model->A.column[i]];
        ck_assert_double_eq(with->model->diagonal[i], entry);
        ck_assert_double_eq_tol(without->model->diagonal[i], entry, 1e-13 * entry);
    }
    pl_run_close(with);
    pl_run_close(without);
}
END_TEST

/* ---- orderings of the papers, on the twisting bar ---- */

static int64_t iterations_to(const char *solver, const char *scene, double minimum, double error)
{
    pl_run *r = pl_run_openf(2,
                             "{'pliant': 1, 'output': {'metrics': 'iteration'},"
                             " 'solver': {'iterations': 400, 'tolerance': 0, %s}, %s}",
                             solver, scene);
    pl_run_frames(r, 1);
    const pl_metrics *m = &r->metrics;
    int64_t k = 0;
    while (k < m->detail_count &&
           !(m->detail[k].objective - minimum <= error * (m->detail[0].objective - minimum)))
        k++;
    pl_run_close(r);
    return k;
}

static double minimum_of(const char *scene)
{
    pl_run *r = pl_run_openf(2,
                             "{'pliant': 1, 'solver': {'method': 'newton',"
                             " 'iterations': 100, 'tolerance': 1e-12}, %s}",
                             scene);
    pl_run_frames(r, 1);
    double minimum = r->metrics.objective;
    pl_run_close(r);
    return minimum;
}

static const char BAR[] =
    "'time': {'step': 0.0333333333333333, 'steps': 5},"
    " 'materials': {'m': {'young': 3e5, 'poisson': 0.45}},"
    " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [16, 4, 4]}},"
    "   'initial': {'shape': {'twisted': {'turns': 0.4, 'axis': [1, 0, 0]}}}}],"
    " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"
    "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]";

/* Liu 2017, figure 7: the constant matrix alone is slowest, Chebyshev's weights help, L-BFGS with
 * two pairs is as fast or faster, with five it is fastest. Figure 8: the same history from a
 * multiple of the identity takes several times as many. */
START_TEST(liu_s_orderings)
{
    double least = minimum_of(BAR);
    int64_t plain = iterations_to("'method': 'quasi_newton', 'stiffness': 'fit', 'window': 0", BAR,
                                  least, 1e-6);
    int64_t chebyshev = iterations_to(
        "'method': 'chebyshev_semi_iterative', 'stiffness': 'fit', 'rho': 0.95", BAR, least, 1e-6);
    int64_t two = iterations_to("'method': 'quasi_newton', 'stiffness': 'fit', 'window': 2", BAR,
                                least, 1e-6);
    int64_t five = iterations_to("'method': 'quasi_newton', 'stiffness': 'fit', 'window': 5", BAR,
                                 least, 1e-6);
    int64_t identity = iterations_to("'method': 'lbfgs', 'preconditioner': 'none', 'window': 5",
                                     BAR, least, 1e-6);
    ck_assert_int_lt(3 * chebyshev, 2 * plain);
    ck_assert_int_le(two, chebyshev);
    ck_assert_int_le(five, two + 2);
    ck_assert_int_gt(identity, 2 * five);
}
END_TEST

/* A soft and a stiff box, whose diagonals differ by a hundred. */
static const char TWO[] = "'time': {'step': 0.0333333333333333, 'steps': 5},"
                          " 'materials': {'soft': {'young': 2e4, 'poisson': 0.4}, 'stiff': "
                          "{'young': 2e6, 'poisson': 0.4}},"
                          " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}}, 'material': 'soft',"
                          "   'initial': {'shape': {'stretched': [1.3, 0.9, 1]}}},"
                          "  {'mesh': {'box': {'cells': [4, 4, 4]}}, 'material': 'stiff',"
                          "   'initial': {'shape': {'stretched': [1.05, 0.98, 1]}}}]";

/* Wang 2016, figure 2: gradient descent is slowest and Jacobi helps it; conjugate gradient is better
 * with Jacobi than without, and Chebyshev's descent comparable with it. Figure 3: refreshing P
 * seldom changes little. */
START_TEST(wang_s_orderings)
{
    double least = minimum_of(TWO);
    int64_t gradient = iterations_to("'method': 'gradient_descent', 'preconditioner': 'none'", TWO,
                                     least, 1e-4);
    int64_t jacobi = iterations_to("'method': 'gradient_descent'", TWO, least, 1e-4);
    int64_t cg = iterations_to("'method': 'nonlinear_cg', 'preconditioner': 'none'", TWO, least,
                               1e-4);
    int64_t cg_jacobi = iterations_to("'method': 'nonlinear_cg'", TWO, least, 1e-4);
    int64_t chebyshev = iterations_to("'method': 'chebyshev_descent'", TWO, least, 1e-4);
    int64_t often = iterations_to("'method': 'chebyshev_descent', 'jacobi_refresh': 1", TWO, least,
                                  1e-4);
    int64_t barzilai = iterations_to("'method': 'barzilai_borwein'", TWO, least, 1e-4);
    ck_assert_int_lt(2 * jacobi, gradient);
    ck_assert_int_lt(2 * barzilai, jacobi); /* the last step's curvature saves half of them */
    ck_assert_int_lt(2 * cg_jacobi, cg);
    ck_assert_int_lt(chebyshev, jacobi);
    ck_assert_int_le(chebyshev, often + 16);
    least = minimum_of(BAR);
    cg_jacobi = iterations_to("'method': 'nonlinear_cg'", BAR, least, 1e-3);
    chebyshev = iterations_to("'method': 'chebyshev_descent'", BAR, least, 1e-3);
    jacobi = iterations_to("'method': 'gradient_descent'", BAR, least, 1e-3);
    ck_assert_int_le(chebyshev, 3 * cg_jacobi);
    ck_assert_int_lt(3 * chebyshev, jacobi);
    ck_assert_int_lt(4 * cg_jacobi, jacobi);
    /* A history whose pairs are recomputed with P is as good as one with P from the start. */
    int64_t stays = iterations_to("'method': 'lbfgs', 'jacobi_refresh': 1000", BAR, least, 1e-4);
    int64_t moves = iterations_to("'method': 'lbfgs', 'jacobi_refresh': 2", BAR, least, 1e-4);
    ck_assert_int_le(moves, stays + stays / 4);
}
END_TEST

/* Tuned phases leave less of the decrement at the end of the iterations they were tuned for
 * (figure 5). */
START_TEST(tuned_phases_are_better)
{
    double left[2];
    for (int k = 0; k < 2; k++) {
        pl_run *r = pl_run_openf(2,
                                 "{'pliant': 1, 'solver': {'method': 'chebyshev_descent',"
                                 " 'iterations': 64, 'tolerance': 0, 'phases': 2, 'tune': %d}, %s}",
                                 k, BAR);
        pl_run_frames(r, 1);
        left[k] = r->metrics.decrement;
        pl_run_close(r);
    }
    ck_assert_double_lt(left[1], 0.5 * left[0]);
}
END_TEST

/* ---- initial guesses ---- */

/* Where each begins: the objective of row 0. */
START_TEST(guesses_are_where_they_say)
{
    pl_run_on_host();
    static const char *const names[] = {"position", "velocity", "acceleration", "step", "best"};
    for (int k = 0; k < 5; k++) {
        char solver[128];
        snprintf(solver, sizeof solver,
                 "'method': 'lbfgs', 'iterations': 30, 'tolerance': 0, 'initial_guess': '%s'",
                 names[k]);
        pl_run *r = twisted(solver, "corotated", 0.02, 1);
        int64_t count = 3 * pl_run_vertices(r);
        pl_run_frames(r, 3);
        double *v = calloc((size_t)count, sizeof *v), *v_old = calloc((size_t)count, sizeof *v);
        double *x = calloc((size_t)count, sizeof *x), *x_pred = calloc((size_t)count, sizeof *x);
        double *guess = calloc((size_t)count, sizeof *guess);
        memcpy(v_old, pl_numbers(r->state->v_old), (size_t)count * sizeof *v);
        memcpy(v, pl_numbers(r->state->v), (size_t)count * sizeof *v);
        memcpy(x, pl_numbers(r->state->x), (size_t)count * sizeof *v);
        pl_run_frames(r, 1);
        const double h = 0.02;
        for (int64_t i = 0; i < count; i++)
            x_pred[i] = x[i] + h * v[i] + h * h * r->model->gravity[i % 3];
        const pl_backend_stage stage = {.scalars = {.a = 1,
                                                    .h = h,
                                                    .inertia = 1 / (h * h),
                                                    .time_start = 3 * h,
                                                    .time_end = 4 * h},
                                        .x_start = pl_host_array(x),
                                        .x_pred = pl_host_array(x_pred)};
        const pl_backend_ops *ops = r->state->whole.backend->ops;
        double least = INFINITY, here = 0;
        for (int j = -10; j <= 20; j++) {
            double d = k == 0 ? 0 : k == 3 ? 0.1 * j * h : h;
            for (int64_t i = 0; i < count; i++)
                guess[i] = k == 4 ? x_pred[i]
                                  : x[i] + d * v[i] + (k == 2 ? 0.2 * h * (v[i] - v_old[i]) : 0);
            pl_model_place_pins(r->model, stage.scalars.time_end, guess);
            here = ops->objective->value(r->state->whole.backend, &stage, pl_host_array(guess));
            least = fmin(least, here);
        }
        double row = r->metrics.detail[0].objective;
        if (k == 3) /* no worse than a scan of the line, to what its parabola leaves */
            ck_assert_double_le(row, 1.02 * least);
        else if (k == 4)
            ck_assert_double_le(row, here);
        else
            ck_assert_double_eq_tol(row, here, 1e-12 * here);
        free(v), free(v_old), free(x), free(x_pred), free(guess);
        pl_run_close(r);
    }
}
END_TEST

/* A guess that inverts an element is no start for log J: x(n) is. */
START_TEST(guess_outside_of_the_domain_is_not_taken)
{
    static const char *const names[] = {"velocity", "acceleration", "step", "best"};
    for (int k = 0; k < 4; k++) {
        pl_run *r = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 0.1, 'steps': 2}, 'solver': {'method': 'lbfgs',"
            " 'iterations': 400, 'initial_guess': '%s'},"
            " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}},"
            "   'initial': {'angular_velocity': [0, 0, 40]}}]}",
            names[k]);
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.halved, 0);
        ck_assert_int_eq(r->metrics.inverted, 0);
        pl_run_close(r);
    }
}
END_TEST

/* ---- the phases ---- */

/* Jacobi's P from full Hessians, and results computed with it, compared with loops. */
START_TEST(phases_are_what_they_say)
{
    pl_run_on_host();
    pl_run *r = twisted("'method': 'lbfgs'", "corotated", 0.04, 1);
    const pl_model *m = r->model;
    double *flat_x = malloc(3 * (size_t)m->vertices * sizeof *flat_x);
    for (int64_t i = 0; i < 3 * m->vertices; i++) /* squeezed, where R^T F bends down */
        flat_x[i] = pl_run_x(r)[i] * 0.3;
    pl_backend *b = r->state->whole.backend;
    const pl_backend_ops *ops = b->ops;
    const pl_group *g = &m->groups[0];
    int64_t n = m->free_vertices;
    double *row[5], *H = pl_block_alloc(pl_group_hessian_values(g), sizeof *H);
    double *P = calloc(3 * (size_t)m->vertices, sizeof *P);
    for (int k = 0; k < 5; k++)
        row[k] = pl_host_alloc(b, 3 * n);
    const pl_backend_stage stage = {.scalars = {.a = 1, .h = m->h, .inertia = m->inertia}};
    g->ops->hessian(g, flat_x, H, 0, g->blocks);
    bool below = false;
    for (int64_t t = 0; t < g->terms; t++)
        for (int e = 0; e < 12; e++) {
            int64_t block = t / PL_BLOCK, lane = t % PL_BLOCK;
            double h = H[(block * 78 + e * (e + 1) / 2 + e) * PL_BLOCK + lane];
            below = below || h < 0;
            P[3 * (int64_t)g->corner[(block * 4 + e / 3) * PL_BLOCK + lane] + e % 3] += fmax(h, 0);
        }
    double quotient = ops->descent->jacobi(b, &stage, pl_host_array(flat_x), pl_host_array(row[0])),
           inertia = 0, all = 0;
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            int64_t v = m->free_vertex[i];
            double p = fmax(m->mass[v] * m->inertia + P[3 * v + c], 0.01 * m->diagonal[i]);
            ck_assert_double_eq_tol(row[0][c * n + i] * p, 1, 1e-12);
            inertia += m->mass[v] * m->inertia;
            all += p;
        }
    ck_assert_double_eq_tol(quotient, inertia / all, 1e-12 * quotient);
    ck_assert(below);
    for (int flat = 0; flat < 2; flat++) {
        double most = 0;
        quotient = ops->descent->jacobi_constant(b, &stage, flat, pl_host_array(row[4]));
        for (int64_t i = 0; i < n; i++)
            most = fmax(most, m->diagonal[i]);
        for (int64_t i = 0; i < 3 * n; i++)
            ck_assert_double_eq_tol(row[4][i] * (flat ? most : m->diagonal[i % n]), 1, 1e-15);
        inertia = all = 0;
        for (int64_t i = 0; i < n; i++) {
            inertia += m->mass[m->free_vertex[i]] * m->inertia;
            all += flat ? most : m->diagonal[i];
        }
        ck_assert_double_eq_tol(quotient, inertia / all, 1e-12 * quotient);
    }
    for (int64_t i = 0; i < 3 * n; i++) {
        row[1][i] = sin((double)i);
        row[3][i] = 0.01 * cos((double)i);
    }
    double gp = ops->rows->scale(b, pl_host_array(row[0]), pl_host_array(row[1]),
                                 pl_host_array(row[2])),
           sum = 0;
    for (int64_t i = 0; i < 3 * n; i++) {
        ck_assert_double_eq(row[2][i], row[0][i] * row[1][i]);
        sum += row[1][i] * row[2][i];
    }
    ck_assert_double_eq_tol(gp, sum, 1e-12 * sum);
    ck_assert_double_eq_tol(ops->rows->dot(b, pl_host_array(row[1]), pl_host_array(row[2])), sum,
                            1e-12 * sum);
    ops->rows->unscale(b, pl_host_array(row[0]), pl_host_array(row[2]), pl_host_array(row[4]));
    for (int64_t i = 0; i < 3 * n; i++)
        ck_assert_double_eq_tol(row[4][i], row[1][i], 1e-14);
    double *x = pl_host_alloc(b, 3 * m->vertices);
    memcpy(x, pl_run_x(r), 3 * (size_t)m->vertices * sizeof *x);
    memcpy(row[4], row[3], 3 * (size_t)n * sizeof *x);
    pl_chebyshev step = {.x = pl_host_array(x),
                         .inverse = pl_host_array(row[0]),
                         .g = pl_host_array(row[1]),
                         .alpha = 0.4,
                         .omega = 1.3,
                         .s = pl_host_array(row[4]),
                         .x_new = pl_host_array(x)};
    ops->descent->chebyshev(b, &step);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) { /* x_new = omega (x_bar - x_old) + x_old */
            int64_t at = 3 * (int64_t)m->free_vertex[i] + c;
            double x0 = pl_run_x(r)[at], x_old = x0 - row[3][c * n + i];
            double x_new = 1.3 * (x0 - 0.4 * row[2][c * n + i] - x_old) + x_old;
            ck_assert_double_eq_tol(x[at], x_new, 1e-14);
            ck_assert_double_eq_tol(row[4][c * n + i], x_new - x0, 1e-14);
        }
    for (int k = 0; k < 5; k++)
        ops->memory->release(b, pl_host_array(row[k]));
    ops->memory->release(b, pl_host_array(x));
    free(P), free(H), free(flat_x);
    pl_run_close(r);
}
END_TEST

/* ---- bits ---- */

static uint64_t hash_of_a_run(const char *solver, int32_t threads)
{
    pl_run *r =
        pl_run_openf(threads,
                     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 3},"
                     " 'solver': {%s, 'iterations': 20, 'tolerance': 0, 'initial_guess': 'step'},"
                     " 'materials': {'a': {}, 'b': {'model': 'corotated'}},"
                     " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [20, 6, 6]}},"
                     "    'material': 'a', 'initial': {'angular_velocity': [1, 2, 3]}},"
                     "   {'mesh': {'sphere': {'cells': 6}}, 'material': 'b',"
                     "    'transform': {'translate': [0, 3, 0]},"
                     "    'initial': {'shape': {'stretched': [1.3, 0.9, 1]}}}],"
                     " 'pins': [{'body': 'body-0', 'select': {'side': '-x'},"
                     "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 180}}]}",
                     solver);
    pl_run_frames(r, 3);
    uint64_t hash = pl_run_hash(r);
    pl_run_close(r);
    return hash;
}

START_TEST(threads_and_instructions_do_not_change_a_bit)
{
    const char *solver = METHODS[_i].solver;
    uint64_t hash = hash_of_a_run(solver, 1);
    ck_assert_uint_eq(hash_of_a_run(solver, 3), hash);
    for (int isa = 0; isa < PL_ISA_COUNT; isa++) {
        setenv("PLIANT_ISA", pl_isa_name((pl_isa)isa), 1);
        ck_assert_uint_eq(hash_of_a_run(solver, 2), hash);
    }
    unsetenv("PLIANT_ISA");
}
END_TEST

/* Obstacles as hard constraints are rejected before a run, with the methods that support them. */
/* A backend that looks at trials one after the other, each with all that it leaves behind. */
typedef struct looker {
    pl_backend *b;
    pl_backend_stage stage;
    double *x, *gradient, *g, *d; /* x starts as x0 */
    int64_t rows, all;
} looker;

static looker looker_open(const pl_model *m, int32_t threads)
{
    looker l = {.rows = 3 * m->free_vertices, .all = 3 * m->vertices};
    ck_assert_int_eq(pl_backend_find(PL_DEVICE_CPU)->create(m, threads, NULL, &l.b), PL_OK);
    ck_assert_int_eq(l.b->ops->descent->prepare(l.b), PL_OK);
    l.stage = (pl_backend_stage){.scalars = {.a = 1, .h = m->h, .inertia = m->inertia},
                                 .x_start = pl_host_array(m->x0),
                                 .x_pred = pl_host_array(m->x0)};
    l.x = calloc((size_t)l.all, sizeof *l.x);
    l.gradient = calloc((size_t)l.all, sizeof *l.x);
    l.g = calloc((size_t)l.rows, sizeof *l.x);
    l.d = calloc((size_t)l.rows, sizeof *l.x);
    memcpy(l.x, m->x0, (size_t)l.all * sizeof *l.x);
    /* The upper half is pressed into the lower, which stays as it is. */
    for (int64_t i = 0; i < m->free_vertices; i++)
        l.d[2 * m->free_vertices + i] = -3 *
                                        fmax(0, m->x0[3 * (int64_t)m->free_vertex[i] + 2] - 0.5);
    return l;
}

static pl_trial_sums look(looker *l, const pl_model *m, double alpha)
{
    pl_trial trial = {.x = pl_host_array(m->x0),
                      .d = pl_host_array(l->d),
                      .alpha = alpha,
                      .x_new = pl_host_array(l->x),
                      .gradient = pl_host_array(l->gradient),
                      .g = pl_host_array(l->g)};
    return l->b->ops->descent->trial(l->b, &l->stage, &trial);
}

static void looker_close(looker *l)
{
    l->b->ops->destroy(l->b);
    free(l->x);
    free(l->gradient);
    free(l->g);
    free(l->d);
}

/* A trial outside the domain is infinite in every function, and has no after-effects: the next trial has the same bits
 * as without it. */
START_TEST(trials_outside_leave_no_trace)
{
    static const double ways[] = {0.7, 0.9, 0.6, 0.2, 1.5, 0.3};
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1},"
           " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [10, 10, 10]}},"
           "   'transform': {'translate': [0, 0, 0.5]}}], 'pins': [{'select': {'side': '-x'}}]}");
    const pl_model *m = r->model;
    looker one = looker_open(m, 1), three = looker_open(m, 3);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        looker fresh = looker_open(m, 1);
        pl_trial_sums a = look(&fresh, m, ways[k]), b = look(&one, m, ways[k]),
                      c = look(&three, m, ways[k]);
        ck_assert_int_eq(isfinite(a.objective) != 0, ways[k] < 0.5);
        ck_assert(a.objective == b.objective && a.objective == c.objective);
        if (isfinite(a.objective)) {
            ck_assert_mem_eq(&a, &b, sizeof a);
            ck_assert_mem_eq(&a, &c, sizeof a);
            ck_assert_mem_eq(fresh.g, one.g, (size_t)one.rows * sizeof *one.g);
            ck_assert_mem_eq(fresh.gradient, three.gradient, (size_t)one.all * sizeof *one.g);
        } else {
            ck_assert_double_gt(a.objective, 0);
        }
        looker_close(&fresh);
    }
    looker_close(&one);
    looker_close(&three);
    pl_run_close(r);
}
END_TEST

START_TEST(hard_obstacles_are_refused)
{
    pl_run *r = pl_run_open(1, "{'pliant': 1, 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}}],"
                               " 'obstacles': [{'plane': {'offset': -3}}]}");
    r->scene.solver.has_obstacles = true; /* and they are hard */
    for (pl_method_kind k = PL_METHOD_LBFGS; k <= PL_METHOD_CHEBYSHEV_DESCENT; k++) {
        r->scene.solver.method = k;
        pl_faults faults = {0};
        pl_estimate estimate;
        ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults),
                         PL_INVALID);
        ck_assert_int_ge(faults.count, 1);
        ck_assert_ptr_nonnull(strstr(faults.items[0].hint, "admm"));
        pl_faults_clear(&faults);
    }
    pl_run_close(r);
}
END_TEST

/* Springs that buckle shorten alpha until a step ends unconverged; the next step begins with the first alpha, not with
 * one that allows no iteration. */
START_TEST(a_step_cut_short_is_not_the_last)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.0333333333333333, 'steps': 24},"
           " 'solver': {'method': 'chebyshev_descent', 'iterations': 200, 'tolerance': 0},"
           " 'materials': {'m': {'young': 1e7, 'area': 1e-6, 'density': 1000}},"
           " 'bodies': [{'mesh': {'cloth': {'size': [1, 1], 'cells': [16, 16], 'springs': true}},"
           "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 60}}}],"
           " 'pins': [{'select': {'indices': [0, 16]}}]}");
    pl_run_frames(r, 24);
    pl_run_close(r);
}
END_TEST

/* A longer alpha that failed is not tried again at once: of forty steps of an even motion few lose
 * iterations to a look that goes back. */
START_TEST(few_steps_try_what_failed)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.0333333333333333, 'steps': 40},"
           " 'output': {'metrics': 'iteration'},"
           " 'solver': {'method': 'chebyshev_descent', 'iterations': 32, 'tolerance': 0},"
           " 'materials': {'m': {'young': 3e5, 'poisson': 0.45}},"
           " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [8, 2, 2]}}}],"
           " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"
           "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90}}]}");
    int lost = 0;
    for (int k = 0; k < 40; k++) {
        pl_run_frames(r, 1);
        bool back = false;
        for (int j = 8; j <= 32; j += 8)
            back |= r->metrics.detail[j].objective >= r->metrics.detail[j - 8].objective;
        lost += back;
    }
    ck_assert_int_gt(lost, 0); /* it is tried now and then */
    ck_assert_int_le(lost, 10);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("descent");
    TCase *t = tcase_create("descent");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, a_step_cut_short_is_not_the_last);
    tcase_add_test(t, few_steps_try_what_failed);
    tcase_add_loop_test(t, every_method_finds_the_minimum, 0, 3 * METHOD_COUNT);
    tcase_add_loop_test(t, rows_are_what_happened, 0, METHOD_COUNT);
    tcase_add_test(t, diagonal_is_the_matrix_s);
    tcase_add_test(t, liu_s_orderings);
    tcase_add_test(t, wang_s_orderings);
    tcase_add_test(t, tuned_phases_are_better);
    tcase_add_test(t, guesses_are_where_they_say);
    tcase_add_test(t, guess_outside_of_the_domain_is_not_taken);
    tcase_add_test(t, phases_are_what_they_say);
    tcase_add_loop_test(t, threads_and_instructions_do_not_change_a_bit, 0, METHOD_COUNT);
    tcase_add_test(t, trials_outside_leave_no_trace);
    tcase_add_test(t, hard_obstacles_are_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
