/* Obstacles as energies (Liu 2017, section 4.3), under methods that have no constraints. */
#include "engine/obstacles/shape.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WEIGHT = 0.064 * 500 * 9.81;

static pl_run *drop(int threads, const char *method, double stiffness, const char *obstacle)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 60},"
        " 'solver': {'method': '%s', 'iterations': 600, 'tolerance': 1e-6,"
        "            'contact_stiffness': %g},"
        " 'materials': {'m': {'young': 2e5, 'poisson': 0.3, 'density': 500}},"
        " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [3, 3, 3]}},"
        "             'transform': {'translate': [0, 0.22, 0]}}],"
        " 'obstacles': [{%s}]}",
        method, stiffness, obstacle);
}

static double lowest_y(const pl_run *r)
{
    double y = INFINITY;
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        y = fmin(y, pl_run_x(r)[3 * i + 1]);
    return y;
}

/* The largest distance between a vertex's positions in two runs. */
static double apart(const pl_run *a, const pl_run *b)
{
    double most = 0;
    for (int64_t i = 0; i < 3 * pl_run_vertices(a); i++)
        most = fmax(most, fabs(pl_run_x(a)[i] - pl_run_x(b)[i]));
    return most;
}

/* A vertex that carries F is F / k below a plane: ten times the stiffness is a tenth of the depth, and the run is a
 * tenth as far from the one with a constraint. */
START_TEST(energy_goes_to_the_constraint_as_it_stiffens)
{
    static const char floor[] = "'plane': {}";
    pl_run *hard = drop(1, "admm", 1, floor);
    pl_run *soft = drop(1, "newton", 10, floor), *stiff = drop(1, "newton", 100, floor);
    pl_run_frames(hard, 60), pl_run_frames(soft, 60), pl_run_frames(stiff, 60);
    ck_assert_double_lt(lowest_y(soft), 0);
    ck_assert_double_eq_tol(lowest_y(soft) / lowest_y(stiff), 10, 0.5);
    ck_assert_double_eq_tol(soft->metrics.obstacles[0].newton[1], WEIGHT, 1e-3 * WEIGHT);
    ck_assert_int_eq(soft->metrics.contacts, 16);
    ck_assert_int_eq(hard->metrics.contacts, 16);
    ck_assert_double_lt(apart(soft, hard), 4e-4);
    ck_assert_double_lt(apart(stiff, hard), 4e-5);
    pl_run_close(hard), pl_run_close(soft), pl_run_close(stiff);
}
END_TEST

static const char *const SHAPES[] = {
    "'plane': {}, 'friction': 0.5",
    "'box': {'center': [0, -0.001, 0], 'size': [3, 0.002, 3]}, 'friction': 0.6", /* 2 mm thin */
    "'sphere': {'center': [0, 0.5, 0], 'inside': true}, 'friction': 0.2",
    "'capsule': {'center': [0, -0.4, 0], 'axis': [1, 0, 0.2], 'radius': 0.4}, 'friction': 0.6",
    "'cone': {'center': [0, 0.217, 0], 'axis': [0, -1, 0], 'radius': 1, 'inside': true},"
    " 'friction': 0.2",
    "'torus': {'center': [0, -0.05, 0], 'radius': 0.12, 'tube': 0.05}, 'friction': 0.6",
    "'plane': {'offset': -0.1}, 'motion': {'velocity': [0.3, 0.2, 0]}, 'friction': 0.5",
};

/* Two methods, one objective: the same run, and a body that is held. */
START_TEST(methods_agree_on_every_shape)
{
    pl_run *a = drop(1, "quasi_newton", 10, SHAPES[_i]), *b = drop(1, "newton", 10, SHAPES[_i]);
    double force = 0;
    for (int k = 0; k < 60; k++) {
        pl_run_frames(a, 1), pl_run_frames(b, 1);
        ck_assert_int_eq(a->metrics.unconverged, 0);
        force += k < 30 ? 0 : a->metrics.obstacles[0].newton[1] / 30;
        if (k == 20)
            ck_assert_msg(apart(a, b) < 1e-5, "%s: %g", SHAPES[_i], apart(a, b));
    }
    ck_assert_double_eq_tol(force, WEIGHT, 0.05 * WEIGHT);
    pl_run_close(a), pl_run_close(b);
}
END_TEST

/* Every descent method follows Newton's path, against every obstacle; methods that do not finish a step in these
 * iterations run without friction, which is found from a step's end. */
static const struct {
    const char *method;
    double apart; /* m, after a quarter of a second */
    bool slow;
} DESCENTS[] = {
    {"quasi_newton", 1e-5, false},
    {"auto", 1e-5, false},
    {"lbfgs", 1e-5, false},
    {"nonlinear_cg", 1e-5, false},
    {"gradient_descent", 1e-4, true},
    {"barzilai_borwein", 1e-4, false},
    {"vertex_block_descent", 1e-4, false},
    {"chebyshev_descent", 2e-5, false},
    {"chebyshev_semi_iterative", 1e-3, true},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

START_TEST(every_descent_method_is_held)
{
    const char *method = DESCENTS[_i / SHAPE_COUNT].method;
    char shape[256];
    snprintf(shape, sizeof shape, "%s", SHAPES[_i % SHAPE_COUNT]);
    if (DESCENTS[_i / SHAPE_COUNT].slow)
        *strstr(shape, ", 'friction'") = 0;
    pl_run *a = drop(1, method, 10, shape), *b = drop(1, "newton", 10, shape);
    int64_t contacts = 0;
    for (int k = 0; k < 12; k++) {
        pl_run_frames(a, 1), pl_run_frames(b, 1);
        contacts += a->metrics.contacts;
        ck_assert_double_lt(a->metrics.penetration[0], 5e-3);
    }
    ck_assert_int_gt(contacts, 15);
    ck_assert_msg(apart(a, b) < DESCENTS[_i / SHAPE_COUNT].apart, "%s, %s: %g apart", method, shape,
                  apart(a, b));
    pl_run_close(a), pl_run_close(b);
}
END_TEST

/* mu g takes the speed of a block that slides, as it does with the constraint. */
START_TEST(friction_slows_a_sliding_block)
{
    const double mu = 0.3, g = 9.81, h = 0.01;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': %g, 'steps': 40},"
        " 'solver': {'method': 'newton', 'tolerance': 1e-7, 'obstacles': 'energy'},"
        " 'materials': {'m': {'young': 1e7, 'poisson': 0.3}},"
        " 'bodies': [{'mesh': {'box': {'size': [1, 0.2, 1], 'cells': [3, 1, 3]}},"
        "   'transform': {'translate': [0, 0.1, 0]}, 'initial': {'velocity': [2, 0, 0]}}],"
        " 'obstacles': [{'plane': {}, 'friction': %g}]}",
        h, mu);
    pl_run_frames(r, 10);
    double v0 = r->metrics.linear[0] / 200;
    pl_run_frames(r, 30);
    double slowed = v0 - r->metrics.linear[0] / 200;
    ck_assert_double_eq_tol(slowed, 30 * h * mu * g, 0.01 * 30 * h * mu * g);
    ck_assert_double_eq_tol(r->metrics.obstacles[0].newton[0], -mu * 200 * g, 0.02 * mu * 200 * g);
    pl_run_close(r);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    pl_run *a = drop(1, "quasi_newton", 10, SHAPES[4]), *b = drop(3, "quasi_newton", 10, SHAPES[4]);
    pl_run_frames(a, 20), pl_run_frames(b, 20);
    ck_assert_uint_eq(pl_run_hash(a), pl_run_hash(b));
    pl_run_close(a), pl_run_close(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("obstacles as energies");
    TCase *t = tcase_create("energy");
    tcase_set_timeout(t, 180);
    tcase_add_test(t, energy_goes_to_the_constraint_as_it_stiffens);
    tcase_add_loop_test(t, methods_agree_on_every_shape, 0, sizeof SHAPES / sizeof *SHAPES);
    tcase_add_loop_test(t, every_descent_method_is_held, 0,
                        SHAPE_COUNT * sizeof DESCENTS / sizeof *DESCENTS);
    tcase_add_test(t, friction_slows_a_sliding_block);
    tcase_add_test(t, threads_change_no_bit);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
