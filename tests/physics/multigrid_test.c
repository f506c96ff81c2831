/* Steps by multigrid against steps by the factor: the same answers as far as the tolerance promises, the decrements as
 * exact as multigrid promises, the same bits over threads and from saved states. PLIANT_LONG: on larger meshes. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include "engine/linear/multigrid.h"
#include "engine/model/factors.h"
#include "engine/model/reweigh.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const MATRICES[] = {"cholesky", "multigrid"};

/* The bar has 1,225 vertices, which make two levels, and 4,131 if the test may take long; the cubes 1,331 and 4,913. */
static int across(void)
{
    return getenv("PLIANT_LONG") ? 8 : 6;
}
static int of_cube(void)
{
    return getenv("PLIANT_LONG") ? 16 : 10;
}

static double largest_difference(const pl_run *a, const pl_run *b)
{
    double most = 0;
    for (int64_t i = 0; i < 3 * pl_run_vertices(a); i++)
        most = fmax(most, fabs(pl_run_x(a)[i] - pl_run_x(b)[i]));
    return most;
}

/* A step that moves vertices by `way` ends with a last iteration, or a decrement, of `tolerance` of the first. An
 * answer may be off by 1 / (1 - rate) times the last iteration: 50 at a rate of 0.98; both answers may. */
static void assert_agree(pl_run *const r[2], double tolerance, double way)
{
    ck_assert_ptr_nonnull(r[0]->model->factor[0]);
    ck_assert_ptr_null(r[1]->model->factor[0]);
    ck_assert_int_ge(pl_multigrid_describe(r[1]->model->multigrid[0]).levels, 2);
    ck_assert(r[0]->metrics.unconverged == 0 && r[1]->metrics.unconverged == 0);
    ck_assert_double_le(largest_difference(r[0], r[1]), 2 * 50 * tolerance * way);
}

/* A bar pulled at one end. `held`: pins by axes as well, which make three matrices. `global`: steps are global ones. */
typedef struct scene {
    const char *method, *material, *more;
    bool held, global;
} scene;

static const scene SCENES[] = {
    {"admm", "corotated", "", true, true},
    {"quasi_newton", "corotated", "", true, false},
    {"projective_dynamics", "arap", "", true, true},
    {"admm", "neo_hookean", "", false, true},
    {"admm", "arap", ", 'acceleration': 'nesterov'", false, true},
    {"admm", "corotated", ", 'acceleration': 'anderson'", false, true},
    {"quasi_newton", "neo_hookean", "", false, false},
    {"newton", "neo_hookean", ", 'linear': 'pcg'", true, false},
    {"newton", "neo_hookean", ", 'linear': 'auto'", false, false},
    {"auto", "neo_hookean", "", false, false},
    {"chebyshev_semi_iterative", "corotated", ", 'stiffness': 'fit'", false, false},
};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

/* Moves by a centimetre a step. */
static const double WAY = 0.01, TOLERANCE = 1e-5;

static pl_run *opened(const scene *s, const char *matrix)
{
    const int n = across();
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 4}, 'gravity': [0, -1, 0],"
        " 'solver': {'method': '%s', 'iterations': 2000, 'tolerance': %g, 'matrix': '%s'%s},"
        " 'output': {'metrics': 'iteration'},"
        " 'materials': {'m': {'model': '%s', 'young': 1e6, 'poisson': 0.3}},"
        " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [%d, %d, %d]}},"
        "             'material': 'm'}],"
        " 'pins': [{'select': {'side': '-x'}, 'axes': ['x'%s]}%s,"
        "          {'select': {'side': '+x'}, 'axes': ['x'],"
        "           'motion': {'velocity': [0.5, 0, 0]}}]}",
        s->method, TOLERANCE, matrix, s->more, s->material, n == 8 ? 50 : 4 * n, n, n,
        s->held ? ", 'z'" : ", 'y', 'z'",
        s->held ? ", {'select': {'side': '-y'}, 'axes': ['y']}" : "");
}

START_TEST(same_answers_as_with_a_factor)
{
    const scene *s = &SCENES[_i];
    pl_run *r[2];
    for (int k = 0; k < 2; k++)
        r[k] = opened(s, MATRICES[k]);
    ck_assert_int_eq(pl_factors_count(r[1]->model), s->held ? 3 : 2);
    for (int frame = 0; frame < 2; frame++) {
        for (int k = 0; k < 2; k++)
            pl_run_frames(r[k], 1);
        assert_agree(r, TOLERANCE, WAY);
        const pl_metrics *a = &r[0]->metrics, *b = &r[1]->metrics;
        if (frame > 0)
            continue;
        /* The first decrement is of the same point: of a direction (g.Bg)^(1/2), of a global step its length. */
        const int64_t first = isnan(a->detail[0].decrement) ? 1 : 0;
        const double square = pow(b->detail[first].decrement / a->detail[first].decrement, 2);
        const double error = s->global ? 0.02 : PL_APPLY_ERROR;
        ck_assert_double_eq_tol(square, 1, error);
    }
    for (int k = 0; k < 2; k++)
        pl_run_close(r[k]);
}
END_TEST

/* 4,913 vertices, so that loops are shared by threads. */
static const char *const METHODS[] = {"admm", "projective_dynamics", "quasi_newton", "newton"};
static pl_run *of_threads(int32_t threads, int method)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 4},"
        " 'solver': {'method': '%s', 'iterations': 4, 'tolerance': 0, 'matrix': 'multigrid'%s},"
        " 'materials': {'m': {'model': 'arap', 'young': 1e6, 'poisson': 0.3}},"
        " 'bodies': [{'mesh': {'box': {'cells': [16, 16, 16]}}, 'material': 'm'}],"
        " 'pins': [{'select': {'side': '-x'}, 'axes': ['x', 'z']},"
        "          {'select': {'side': '-y'}, 'axes': ['y']},"
        "          {'select': {'side': '+x'}, 'axes': ['x'], 'motion': {'velocity': [0.5, 0, "
        "0]}}]}",
        METHODS[method], method == 3 ? ", 'linear': 'pcg'" : "");
}

START_TEST(threads_and_restarts_change_no_bit)
{
    pl_run *one = of_threads(1, _i);
    pl_run_frames(one, 1);
    const uint64_t bits = pl_run_hash(one);
    for (int32_t threads = 2; threads <= 4; threads++) {
        pl_run *more = of_threads(threads, _i);
        pl_run_frames(more, 1);
        ck_assert_uint_eq(pl_run_hash(more), bits);
        if (threads == 3)
            pl_run_go_on(one, more, 1);
        pl_run_close(more);
    }
    pl_run_close(one);
}
END_TEST

/* x of A x = b, to less than a thousandth for a multigrid. */
static double *solution(const pl_model *m, const double *b)
{
    double *x = calloc(3 * (size_t)m->free_vertices, sizeof *x);
    if (m->factor[0]) {
        pl_solve_work *w;
        ck_assert_int_eq(pl_solve_work_create(m->factor[0], 1, &w), PL_OK);
        ck_assert_int_eq(pl_factor_solve3(m->factor[0], w, b, x), PL_OK);
        pl_solve_work_destroy(w);
        return x;
    }
    pl_multigrid_work *w;
    pl_multigrid_result result;
    ck_assert_int_eq(pl_multigrid_work_create(m->multigrid[0], 1, &w), PL_OK);
    ck_assert_int_eq(pl_multigrid_solve3(m->multigrid[0], w, 1e-6, b, x, &result), PL_OK);
    pl_multigrid_work_destroy(w);
    return x;
}

/* The model with the weights of every third block of its first group raised to 16 times. */
static pl_model *heavier(const pl_model *m)
{
    const double **weight = calloc((size_t)m->group_count + 1, sizeof *weight);
    const int64_t count = m->groups[0].blocks * PL_BLOCK;
    double *raised = malloc((size_t)count * sizeof *raised);
    pl_model *out;
    for (int64_t i = 0; i < count; i++)
        raised[i] = m->groups[0].weight[i] * (i / PL_BLOCK % 3 == 0 ? 16 : 1);
    weight[0] = raised;
    ck_assert_int_eq(pl_model_reweigh(m, weight, &out), PL_OK);
    free(raised);
    free(weight);
    return out;
}

/* A model with other weights solves with their matrix, not with that at rest. */
START_TEST(weights_are_those_of_the_matrix)
{
    pl_run *r[2];
    double *x[2], *at_rest = NULL, off = 0, change = 0, size = 0;
    for (int k = 0; k < 2; k++) {
        r[k] = opened(&SCENES[3], MATRICES[k]);
        const int64_t n = 3 * r[k]->model->free_vertices;
        pl_model *other = heavier(r[k]->model);
        double *b = malloc((size_t)n * sizeof *b);
        for (int64_t i = 0; i < n; i++)
            b[i] = pl_model_holds(r[k]->model, r[k]->model->free_vertex[i % (n / 3)], 0)
                       ? 0
                       : sin((double)i);
        x[k] = solution(other, b);
        if (k == 0)
            at_rest = solution(r[k]->model, b);
        free(b);
        pl_model_reweighed_destroy(other, r[k]->model);
    }
    for (int64_t i = 0; i < 3 * r[0]->model->free_vertices; i++) {
        off = fmax(off, fabs(x[1][i] - x[0][i]));
        change = fmax(change, fabs(at_rest[i] - x[0][i]));
        size = fmax(size, fabs(x[0][i]));
    }
    ck_assert_double_le(off, 1e-4 * size);
    ck_assert_double_ge(change, 0.05 * size);
    for (int k = 0; k < 2; k++) {
        free(x[k]);
        pl_run_close(r[k]);
    }
    free(at_rest);
}
END_TEST

/* The weights of ADMM that follow the state make another matrix, with the same aggregates. */
#define FOLLOWING                                                                                  \
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 4}, 'gravity': [0, 0, 0],"                      \
    " 'solver': {'method': 'admm', 'iterations': 2000, 'tolerance': 1e-5, 'matrix': '%s'},"        \
    " 'materials': {'m': {'young': 1e6, 'poisson': 0.4}},"                                         \
    " 'bodies': [{'mesh': {'box': {'cells': [%d, %d, %d]}}, 'material': 'm'}],"                    \
    " 'pins': [{'select': {'side': '-x'}},"                                                        \
    "          {'select': {'side': '+x'}, 'motion': {'velocity': [-8, 0, 0]}}]}"

START_TEST(weights_that_follow)
{
    pl_run *r[2];
    const int n = of_cube();
    for (int k = 0; k < 2; k++) {
        r[k] = pl_run_openf(2, FOLLOWING, MATRICES[k], n, n, n);
        pl_run_frames(r[k], 2);
    }
    assert_agree(r, 1e-5, 0.16);
    pl_run *more = pl_run_openf(1, FOLLOWING, MATRICES[1], n, n, n);
    pl_run_go_on(r[1], more, 1); /* weights are saved, and made again */
    pl_run_close(more);
    for (int k = 0; k < 2; k++)
        pl_run_close(r[k]);
}
END_TEST

/* Without inertia: the matrix is regular by its pins only. It sags by less than a millimetre. */
START_TEST(statics)
{
    static const char *const METHODS_OF_STATICS[] = {"quasi_newton", "admm"};
    const int n = of_cube();
    pl_run *r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 1, 'steps': 1, 'integrator': 'quasi_static'},"
            " 'solver': {'method': '%s', 'iterations': 5000, 'tolerance': 1e-5,"
            "            'matrix': '%s'},"
            " 'materials': {'m': {'young': 1e6, 'poisson': 0.3}},"
            " 'bodies': [{'mesh': {'box': {'cells': [%d, %d, %d]}}, 'material': 'm'}],"
            " 'pins': [{'select': {'side': '-x'}}]}",
            METHODS_OF_STATICS[_i], MATRICES[k], n, n, n);
        pl_run_frames(r[k], 1);
    }
    assert_agree(r, 1e-5, 0.05);
    for (int k = 0; k < 2; k++)
        pl_run_close(r[k]);
}
END_TEST

/* Pins that invert elements in a whole step, and not in two halves, whose matrix is another. */
START_TEST(half_steps)
{
    pl_run *r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 0.04, 'steps': 2},"
            " 'solver': {'method': 'quasi_newton', 'iterations': 500, 'tolerance': 1e-6,"
            "            'matrix': '%s'},"
            " 'bodies': [{'mesh': {'box': {'cells': [10, 10, 10]}}}],"
            " 'pins': [{'select': {'side': '-x'}},"
            "          {'select': {'side': '+x'}, 'motion': {'velocity': [-4, 0, 0]}}]}",
            MATRICES[k]);
        pl_run_frames(r[k], 1);
        ck_assert_int_eq(r[k]->metrics.halved, 1);
    }
    assert_agree(r, 1e-6, 0.08);
    for (int k = 0; k < 2; k++)
        pl_run_close(r[k]);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("multigrid");
    tcase_add_loop_test(t, same_answers_as_with_a_factor, 0, SCENE_COUNT);
    tcase_add_loop_test(t, threads_and_restarts_change_no_bit, 0, 4);
    tcase_add_test(t, weights_are_those_of_the_matrix);
    tcase_add_test(t, weights_that_follow);
    tcase_add_loop_test(t, statics, 0, 2);
    tcase_add_test(t, half_steps);
    return run_cases("multigrid", t);
}
