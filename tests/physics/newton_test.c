/* Newton's method: its matrix compared with differences of gradients, its rate of convergence, and that neither threads
 * nor the way of solving its steps changes the result. */
#include "engine/backends/backend.h"
#include "engine/model/model.h"
#include "engine/solvers/descent.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const MATERIALS[] = {"neo_hookean", "corotated", "arap"};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof *MATERIALS };

/* Two bodies of two materials, pinned and bent. */
static pl_run *bodies_of(int32_t fineness, int32_t threads, const char *solver)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.03, 'steps': 3},"
        " 'solver': {'method': 'newton', %s}, 'output': {'metrics': 'iteration'},"
        " 'materials': {'a': {'model': 'neo_hookean'}, 'b': {'model': 'corotated'}},"
        " 'bodies': [{'mesh': {'box': {'size': [3, 1, 1], 'cells': [%d, %d, %d]}},"
        "   'material': 'a',"
        "   'initial': {'shape': {'twisted': {'turns': 0.4, 'axis': [1, 0, 0]}}}},"
        "  {'mesh': {'sphere': {'cells': %d}}, 'material': 'b',"
        "   'initial': {'shape': {'stretched': [1.4, 0.7, 1.1]}}}],"
        " 'pins': [{'body': 'body-0', 'select': {'side': '-x'}},"
        "          {'body': 'body-1', 'select': {'side': '-x'}, 'axes': ['x', 'z']}]}",
        solver, 9 * fineness, 3 * fineness, 3 * fineness, 4 * fineness);
}

static pl_run *two_bodies(int32_t threads, const char *solver)
{
    return bodies_of(1, threads, solver);
}

/* Terms of two to five corners: a sheet, and a bent rod tied to it at both ends. */
static pl_run *sheet_and_rod(void)
{
    return pl_run_open(
        2, "{'pliant': 1, 'time': {'step': 0.03, 'steps': 3}, 'solver': {'method': 'newton'},"
           " 'materials': {'s': {'model': 'stvk', 'thickness': 0.01, 'bending': {}},"
           "   'r': {'young': 1e6, 'area': 1e-4, 'bending': {}}},"
           " 'bodies': [{'name': 's', 'mesh': {'cloth': {'cells': [3, 4]}}, 'material': 's'},"
           "  {'name': 'r', 'mesh': {'vertices': [[0, 0, 1], [0.3, 0, 1], [0.5, 0.2, 1], [0.5, "
           "0.4, 1]],"
           "    'edges': [[0, 1], [1, 2], [2, 3]]}, 'material': 'r'}],"
           " 'pins': [{'body': 's', 'select': {'indices': [0, 2]}, 'axes': ['x']}],"
           " 'attachments': ["
           "  {'body': 'r', 'select': {'indices': [0, 3]}, 'to': 's', 'stiffness': 1e3}]}");
}

/* H d is the derivative of the gradient along d, at any x: masses, pins and groups together. */
START_TEST(matrix_is_the_derivative_of_the_gradient)
{
    pl_run *r = _i == 0 ? two_bodies(2, "'tolerance': 0") : sheet_and_rod();
    const pl_model *m = r->model;
    pl_backend *b;
    ck_assert_int_eq(pl_backend_find(PL_DEVICE_CPU)->create(m, 2, NULL, &b), PL_OK);
    ck_assert_int_eq(b->ops->hessian->prepare(b), PL_OK);
    ck_assert_int_eq(b->ops->descent->prepare(b), PL_OK);
    int64_t n = 3 * m->free_vertices, all = 3 * m->vertices;
    double *d = calloc((size_t)n, sizeof *d), *Hd = calloc((size_t)n, sizeof *Hd);
    double *x = calloc((size_t)all, sizeof *x), *f = calloc((size_t)all, sizeof *f);
    double *g[2] = {calloc((size_t)n, sizeof *d), calloc((size_t)n, sizeof *d)};
    for (int64_t i = 0; i < n; i++) /* a direction is zero where a pin holds it */
        d[i] = pl_model_holds(m, m->free_vertex[i % (n / 3)], (int)(i / (n / 3)))
                   ? 0
                   : sin((double)(3 * i + 1));
    const pl_backend_stage stage = {
        .scalars = {.a = 1, .h = m->h, .inertia = 1 / (m->h * m->h), .time_end = m->h},
        .x_start = pl_host_array(m->x0),
        .x_pred = pl_host_array(m->x0)};
    b->ops->objective->freeze(b, &stage);
    b->ops->hessian->make(b, &stage, pl_host_array(m->x0), false);
    b->ops->hessian->multiply(b, pl_host_array(d), pl_host_array(Hd));
    const double step = 1e-6;
    for (int k = 0; k < 2; k++) {
        memcpy(x, m->x0, (size_t)all * sizeof *x);
        pl_trial trial = {.x = pl_host_array(m->x0),
                          .d = pl_host_array(d),
                          .alpha = k ? step : -step,
                          .x_new = pl_host_array(x),
                          .gradient = pl_host_array(f),
                          .g = pl_host_array(g[k])};
        b->ops->descent->trial(b, &stage, &trial);
    }
    double off = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        double slope = (g[1][i] - g[0][i]) / (2 * step);
        off = fmax(off, fabs(slope - Hd[i]));
        size = fmax(size, fabs(slope));
    }
    ck_assert_double_gt(size, 0);
    ck_assert_double_lt(off, 1e-7 * size);

    /* The projected Hessian has at least the original's curvature in every direction, and keeps the rest. */
    double plain = 0, projected = 0;
    for (int64_t i = 0; i < n; i++)
        plain += d[i] * Hd[i];
    b->ops->hessian->make(b, &stage, pl_host_array(m->x0), true);
    b->ops->hessian->multiply(b, pl_host_array(d), pl_host_array(Hd));
    for (int64_t i = 0; i < n; i++)
        projected += d[i] * Hd[i];
    ck_assert_double_ge(projected, plain * (1 + (_i == 0 ? 1e-6 : -1e-12)));

    /* The factor's answer and the blocks' on the diagonal. */
    ck_assert_int_eq(b->ops->hessian->factor(b), PL_OK);
    ck_assert_int_eq(b->ops->hessian->solve(b, pl_host_array(Hd), pl_host_array(g[0])), PL_OK);
    for (int64_t i = 0; i < n; i++)
        ck_assert_double_eq_tol(g[0][i], d[i], 1e-8);
    memset(d, 0, (size_t)n * sizeof *d);
    int64_t vertex = 17, rows = m->free_vertices;
    for (int k = 0; k < 3; k++)
        d[k * rows + vertex] = k + 1;
    b->ops->hessian->multiply(b, pl_host_array(d), pl_host_array(Hd));
    b->ops->hessian->jacobi(b, pl_host_array(Hd), pl_host_array(g[0]));
    for (int k = 0; k < 3; k++)
        ck_assert_double_eq_tol(g[0][k * rows + vertex], k + 1, 1e-10);
    free(d), free(Hd), free(x), free(f), free(g[0]), free(g[1]);
    b->ops->destroy(b);
    pl_run_close(r);
}
END_TEST

/* The twisted box of the other methods' tables, of a third of the elements: few steps, and the last
 * ones double the digits. */
static pl_run *twisted(const char *material, const char *linear)
{
    pl_run *r = pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 0.04, 'steps': 1}, 'gravity': [0, 0, 0],"
        " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-12, 'linear': '%s'},"
        " 'output': {'metrics': 'iteration'},"
        " 'materials': {'m': {'model': '%s', 'young': 1e7, 'poisson': 0.399, 'density': 1522}},"
        " 'bodies': [{'mesh': {'box': {'size': [7, 1, 1], 'cells': [28, 4, 4]}},"
        "   'initial': {'shape': {'twisted': {'turns': 1, 'axis': [1, 0, 0]}}}}]}",
        linear, material);
    pl_run_frames(r, 1);
    return r;
}

START_TEST(ends_fast)
{
    pl_run *r = twisted(MATERIALS[_i], "direct");
    const pl_metrics *m = &r->metrics;
    ck_assert_int_eq(m->unconverged, 0);
    ck_assert_int_eq(m->halved, 0);
    ck_assert_int_le(m->iterations, 22);
    const pl_iteration *last = &m->detail[m->detail_count - 1];
    ck_assert_double_lt(last->decrement, 1e-7 * last[-2].decrement);
    for (int64_t k = 1; k < m->detail_count; k++)
        ck_assert_double_le(m->detail[k].objective,
                            m->detail[k - 1].objective + 1e-12 * m->objective);
    /* Other ways to solve for a step find the same minimum. */
    const char *const linears[] = {"pcg", "auto", "pcg_jacobi"};
    for (int k = 0; k < (_i == 0 ? 3 : 2); k++) {
        pl_run *q = twisted(MATERIALS[_i], linears[k]);
        ck_assert_int_eq(q->metrics.unconverged, 0);
        ck_assert_int_le(q->metrics.iterations, m->iterations + 8);
        ck_assert_double_eq_tol(q->metrics.objective, m->objective, 1e-13 * m->objective);
        pl_run_close(q);
    }
    pl_run_close(r);
}
END_TEST

START_TEST(threads_and_instructions_do_not_change_a_bit)
{
    const char *const linears[] = {"direct", "pcg", "pcg_jacobi", "auto"};
    const char *const isas[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    char solver[64];
    snprintf(solver, sizeof solver, "'iterations': 4, 'tolerance': 0, 'linear': '%s'", linears[_i]);
    uint64_t hash = 0;
    for (int k = 0; k < 6; k++) {
        setenv("PLIANT_ISA", isas[k % 3], 1);
        pl_run *r = bodies_of(_i == 3 ? 2 : 1, k < 3 ? 1 : k, solver);
        ck_assert_int_eq(pl_newton_is_direct(r->model), _i == 0);
        pl_run_frames(r, _i == 3 ? 1 : 3);
        ck_assert(k == 0 || pl_run_hash(r) == hash);
        hash = pl_run_hash(r);
        pl_run_close(r);
    }
    unsetenv("PLIANT_ISA");
}
END_TEST

static pl_run *slender_bar(const char *linear)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1}, 'gravity': [0, -9.81, 0],"
        " 'solver': {'method': 'newton', 'iterations': 200, 'tolerance': 1e-8, 'linear': '%s'},"
        " 'materials': {'m': {'young': 1e8, 'poisson': 0.49}},"
        " 'bodies': [{'mesh': {'box': {'size': [2, 0.1, 0.1], 'cells': [60, 5, 5]}},"
        "   'initial': {'shape': {'twisted': {'turns': 0.15, 'axis': [1, 0, 0]}}}}],"
        " 'pins': [{'select': {'side': '-x'}}]}",
        linear);
    ck_assert_int_eq(pl_newton_is_direct(r->model), strcmp(linear, "direct") == 0);
    pl_run_frames(r, 1);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    return r;
}

/* On a slender, nearly incompressible bar the constant matrix is a poor preconditioner, and `auto` hands over to a
 * factor: it takes hardly more steps than with one at each step, and other bits than by gradients alone. */
START_TEST(a_factor_takes_over_from_conjugate_gradients)
{
    pl_run *direct = slender_bar("direct"), *automatic = slender_bar("auto"),
           *gradients = slender_bar("pcg");
    ck_assert_int_le(automatic->metrics.iterations, direct->metrics.iterations * 3 / 2);
    ck_assert_double_eq_tol(automatic->metrics.objective, direct->metrics.objective,
                            1e-10 * fabs(direct->metrics.objective));
    ck_assert(pl_run_hash(automatic) != pl_run_hash(gradients));
    pl_run_close(direct), pl_run_close(automatic), pl_run_close(gradients);
}
END_TEST

/* Elsewhere there is no factor, unless the body is so small that one is cheap. */
START_TEST(conjugate_gradients_are_enough_for_stout_bodies)
{
    for (int fineness = 1; fineness <= 2; fineness++) {
        const char *const linears[] = {"auto", fineness == 1 ? "direct" : "pcg"};
        uint64_t hash[2];
        for (int k = 0; k < 2; k++) {
            char solver[64];
            snprintf(solver, sizeof solver, "'iterations': 4, 'tolerance': 0, 'linear': '%s'",
                     linears[k]);
            pl_run *r = bodies_of(fineness, 1, solver);
            pl_run_frames(r, fineness == 1 ? 3 : 1);
            hash[k] = pl_run_hash(r);
            pl_run_close(r);
        }
        ck_assert_uint_eq(hash[0], hash[1]);
    }
}
END_TEST

/* Sessions from before `auto`, with the default of that time, go on. */
START_TEST(the_default_hashes_as_a_factor)
{
    pl_run *r = two_bodies(1, "'tolerance': 0"), *direct = two_bodies(1, "'linear': 'direct'"),
           *same = two_bodies(1, "'tolerance': 0, 'linear': 'direct'");
    ck_assert_int_eq(r->model->solver.linear, PL_LINEAR_AUTO);
    ck_assert_uint_eq(pl_model_hash(r->model), pl_model_hash(same->model));
    ck_assert_uint_ne(pl_model_hash(r->model), pl_model_hash(direct->model));
    pl_run_close(r), pl_run_close(direct), pl_run_close(same);
}
END_TEST

/* Statics of a kind: where inertia is next to nothing and the body hangs by one pin, H is all but
 * singular, and there still is an answer. */
START_TEST(a_step_of_a_quarter_of_an_hour)
{
    pl_run *r =
        pl_run_open(1, "{'pliant': 1, 'time': {'step': 1000, 'steps': 1},"
                       " 'solver': {'method': 'newton', 'iterations': 100, 'tolerance': 1e-10},"
                       " 'materials': {'m': {'young': 1e6}},"
                       " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [8, 2, 2]}}}],"
                       " 'pins': [{'select': {'side': '-x'}}]}");
    pl_run_frames(r, 1);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    double weight = 0;
    for (int64_t i = 0; i < r->model->vertices; i++)
        weight += r->model->mass[i] * 9.81;
    /* The pin holds the free vertices' weight; the vertices that it holds count with inertia. */
    ck_assert_double_gt(r->metrics.pins[0].newton[1], 0.9 * weight);
    ck_assert_double_le(r->metrics.pins[0].newton[1], weight * (1 + 1e-9));
    pl_run_close(r);
}
END_TEST

START_TEST(inverted_start_is_told)
{
    pl_run *r = pl_run_open(1, "{'pliant': 1, 'solver': {'method': 'newton'},"
                               " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}},"
                               "   'initial': {'shape': 'collapsed'}}]}");
    ck_assert_int_eq(pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL),
                     PL_FAILED);
    ck_assert_int_eq(r->failure.code, PL_FAILURE_INVERTED);
    ck_assert_int_eq(r->failure.element, 0);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("Newton");
    TCase *matrix = tcase_create("matrix");
    tcase_add_loop_test(matrix, matrix_is_the_derivative_of_the_gradient, 0, 2);
    suite_add_tcase(suite, matrix);
    TCase *t = tcase_create("Newton");
    tcase_add_loop_test(t, ends_fast, 0, MATERIAL_COUNT);
    tcase_add_loop_test(t, threads_and_instructions_do_not_change_a_bit, 0, 4);
    tcase_add_test(t, a_step_of_a_quarter_of_an_hour);
    tcase_add_test(t, inverted_start_is_told);
    suite_add_tcase(suite, t);
    TCase *linear = tcase_create("linear");
    tcase_add_test(linear, a_factor_takes_over_from_conjugate_gradients);
    tcase_add_test(linear, conjugate_gradients_are_enough_for_stout_bodies);
    tcase_add_test(linear, the_default_hashes_as_a_factor);
    suite_add_tcase(suite, linear);
    return run_suite(suite);
}
