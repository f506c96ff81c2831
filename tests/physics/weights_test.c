/* ADMM's weights follow the state (engine/solvers/weights.h): what goes round in circles with weights of
 * the shear modulus at rest converges with the settings as they come. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>

/* Cubes pressed to 0.6 of their height between plates on which they glide, in four steps, to 1e-8. (With
 * constant weights the last step of each does not converge in 500 iterations.) */
static const char *const STIFFENING[] = {"'fung'", "'spline', 'splines': 'A'", "'mooney_rivlin'"};

START_TEST(pressed_cubes_converge)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 1, 'steps': 4, 'integrator': 'quasi_static'},"
        " 'gravity': [0, 0, 0], 'solver': {'method': 'admm', 'iterations': 500, 'tolerance':"
        " 1e-8},"
        " 'materials': {'m': {'model': %s, 'young': 1e5, 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}}}],"
        " 'pins': [{'select': {'side': '-x'}, 'axes': ['x']},"
        "  {'select': {'side': '+x'}, 'axes': ['x'],"
        "   'motion': {'keyframes': [{'time': 4, 'translate': [-0.4, 0, 0]}]}},"
        "  {'select': {'side': '-y'}, 'axes': ['y']}, {'select': {'side': '-z'}, 'axes': ['z']}]}",
        STIFFENING[_i]);
    for (int k = 0; k < 4; k++) {
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        ck_assert_int_lt(r->metrics.iterations, 100);
    }
    pl_run_close(r);
}
END_TEST

/* A ball falls on the ground at 5 m/s, soft enough to be flattened by that, bounces and comes down again:
 * 60 steps. (With constant weights 11 and 27 of these did not converge in 200 iterations.) */
static const double YOUNG[] = {2e5, 5e4};

START_TEST(soft_balls_that_hit_hard_converge)
{
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': 0.01, 'steps': 60},"
                             " 'solver': {'method': 'admm', 'iterations': 200, 'tolerance':"
                             " 1e-3},"
                             " 'materials': {'m': {'young': %g, 'poisson': 0.4}},"
                             " 'bodies': [{'mesh': {'sphere': {'radius': 0.4, 'cells': 6}},"
                             "             'transform': {'translate': [0, 0.5, 0]}, 'initial': "
                             "{'velocity': [0, -5, 0]}}],"
                             " 'obstacles': [{'plane': {}, 'friction': 0.3}]}",
                             YOUNG[_i]);
    int64_t unconverged = 0;
    double flattest = 1;
    for (int k = 0; k < 60; k++) {
        pl_run_frames(r, 1);
        unconverged += r->metrics.unconverged;
        double top = 0;
        for (int64_t i = 0; i < pl_run_vertices(r); i++)
            top = pl_run_x(r)[3 * i + 1] > top ? pl_run_x(r)[3 * i + 1] : top;
        flattest = top < flattest ? top : flattest;
    }
    ck_assert_int_le(unconverged, 2);
    ck_assert_double_lt(flattest, _i == 0 ? 0.7 : 0.5); /* of 0.8 */
    pl_run_close(r);
}
END_TEST

/* A sheet that nothing but gravity folds, free to stretch and within a limit: 100 steps. (With constant weights 74
 * and 77 of these did not converge in 1000 iterations, and it gained 14 J of 1.) */
static const char *const LIMITS[] = {"", ", 'strain_limit': {'low': 0, 'high': 1.02}"};

START_TEST(crumpling_sheets_converge)
{
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': 0.01, 'steps': 100},"
                             " 'solver': {'method': 'admm', 'iterations': 300, 'tolerance': 1e-3},"
                             " 'materials': {'m': {'young': 1e4, 'density': 300, 'thickness':"
                             " 0.001%s}}, 'bodies': [{'mesh': {'cloth': {'size': [1, 1], 'cells':"
                             " [6, 6]}}}], 'pins': [{'select': {'side': '-x'}}]}",
                             LIMITS[_i]);
    int64_t unconverged = 0, iterations = 0;
    for (int k = 0; k < 100; k++) {
        pl_run_frames(r, 1);
        unconverged += r->metrics.unconverged;
        iterations += r->metrics.iterations;
    }
    ck_assert_int_eq(unconverged, 0);
    ck_assert_int_lt(iterations, 100 * 100);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("weights");
    tcase_add_loop_test(t, pressed_cubes_converge, 0, 3);
    tcase_add_loop_test(t, crumpling_sheets_converge, 0, 2);
    tcase_add_loop_test(t, soft_balls_that_hit_hard_converge, 0, 2);
    return run_cases("weights", t);
}
