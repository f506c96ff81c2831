/* Obstacles as hard constraints, and Coulomb friction on them. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static double lowest_y(const pl_run *r)
{
    double y = INFINITY;
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        y = fmin(y, pl_run_x(r)[3 * i + 1]);
    return y;
}

static double mean_x(const pl_run *r)
{
    double x = 0;
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        x += pl_run_x(r)[3 * i];
    return x / (double)pl_run_vertices(r);
}

/* Dropped from 10 cm and left to settle: the floor then carries the weight, and is not entered. */
START_TEST(block_comes_to_rest_on_a_plane)
{
    pl_run *r = pl_run_open(
        2, "{'pliant': 1, 'time': {'step': 0.04, 'steps': 120},"
           " 'solver': {'method': 'admm', 'iterations': 300, 'tolerance': 1e-6},"
           " 'materials': {'m': {'young': 1e5, 'poisson': 0.4}},"
           " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [4, 4, 4]}},"
           "             'transform': {'translate': [0, 0.6, 0]}}],"
           " 'obstacles': [{'name': 'floor', 'plane': {'normal': [0, 1, 0], 'offset': 0}}]}");
    pl_run_frames(r, 3);
    ck_assert_int_eq(r->metrics.contacts, 0);
    ck_assert_double_eq(r->metrics.obstacles[0].newton[1], 0);
    pl_run_frames(r, 117);
    double weight = 1000 * 9.81;
    ck_assert_double_eq_tol(r->metrics.obstacles[0].newton[1], weight, 1e-4 * weight);
    ck_assert_double_eq_tol(r->metrics.obstacles[0].newton[0], 0, 1e-4 * weight);
    ck_assert_int_eq(r->metrics.contacts, 25);
    ck_assert_double_gt(lowest_y(r), -1e-4);
    ck_assert_int_eq(r->metrics.inverted, 0);
    ck_assert_double_lt(r->metrics.kinetic, 1e-2); /* dropped with 1 kJ */
    pl_run_close(r);
}
END_TEST

/* A block that starts at 2 m/s on a floor with mu = 0.3 is slowed by mu g. Under backward Euler
 * every step takes h mu g off the velocity of a rigid block; a stiff one follows within a percent.
 */
START_TEST(friction_slows_a_sliding_block)
{
    const double mu = 0.3, g = 9.81, h = 0.01;
    pl_run *r = pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': %g, 'steps': 40},"
        " 'solver': {'method': 'admm', 'iterations': 600, 'tolerance': 1e-6},"
        " 'materials': {'m': {'young': 1e7, 'poisson': 0.3}},"
        " 'bodies': [{'mesh': {'box': {'size': [1, 0.2, 1], 'cells': [4, 1, 4]}},"
        "   'transform': {'translate': [0, 0.1, 0]}, 'initial': {'velocity': [2, 0, 0]}}],"
        " 'obstacles': [{'plane': {}, 'friction': %g}]}",
        h, mu);
    /* The block lands from its rest shape onto the plane in the first steps: take those off. */
    pl_run_frames(r, 5);
    double v0 = r->metrics.linear[0] / 200;
    pl_run_frames(r, 35);
    double slowed = v0 - r->metrics.linear[0] / 200;
    ck_assert_double_eq_tol(slowed, 35 * h * mu * g, 0.01 * 35 * h * mu * g);
    double weight = 200 * g;
    ck_assert_double_eq_tol(r->metrics.obstacles[0].newton[0], -mu * weight, 0.02 * mu * weight);
    pl_run_close(r);
}
END_TEST

/* The same on a slope of 20 degrees (gravity turned): tan 20 = 0.364. mu = 0.5 holds it, mu = 0.2
 * lets it go at g (sin - mu cos). */
START_TEST(friction_holds_or_lets_go_on_a_slope)
{
    const double g = 9.81, angle = 20 * M_PI / 180, h = 0.01;
    for (int slips = 0; slips < 2; slips++) {
        double mu = slips ? 0.2 : 0.5;
        pl_run *r = pl_run_openf(
            2,
            "{'pliant': 1, 'time': {'step': %g, 'steps': 60}, 'gravity': [%.17g, %.17g, 0],"
            " 'solver': {'method': 'admm', 'iterations': 600, 'tolerance': 1e-6},"
            " 'materials': {'m': {'young': 1e7, 'poisson': 0.3}},"
            " 'bodies': [{'mesh': {'box': {'size': [1, 0.2, 1], 'cells': [4, 1, 4]}},"
            "   'transform': {'translate': [0, 0.1, 0]}}],"
            " 'obstacles': [{'plane': {}, 'friction': %g}]}",
            h, g * sin(angle), -g * cos(angle), mu);
        pl_run_frames(r, 10);
        double x = mean_x(r), v = r->metrics.linear[0] / 200;
        pl_run_frames(r, 50);
        if (slips) {
            double gained = 0.5 * g * (sin(angle) - mu * cos(angle));
            ck_assert_double_eq_tol(r->metrics.linear[0] / 200 - v, gained, 0.02 * gained);
        } else {
            ck_assert_double_eq_tol(mean_x(r), x, 1e-4);
        }
        pl_run_close(r);
    }
}
END_TEST

/* A ball dropped beside the top of a fixed sphere rolls off it: never inside, and it gets away. */
START_TEST(ball_leaves_a_sphere_obstacle)
{
    pl_run *r = pl_run_open(2,
                            "{'pliant': 1, 'time': {'step': 0.01, 'steps': 120},"
                            " 'solver': {'method': 'admm', 'iterations': 200, 'tolerance': 1e-4},"
                            " 'materials': {'m': {'young': 2e5, 'poisson': 0.4}},"
                            " 'bodies': [{'mesh': {'sphere': {'radius': 0.4, 'cells': 6}},"
                            "             'transform': {'translate': [0.15, 1.5, 0]}}],"
                            " 'obstacles': [{'sphere': {'center': [0, 0, 0], 'radius': 1}}]}");
    int64_t most = 0;
    for (int k = 0; k < 120; k++) {
        pl_run_frames(r, 1);
        most = r->metrics.contacts > most ? r->metrics.contacts : most;
        for (int64_t i = 0; i < pl_run_vertices(r); i++) {
            const double *p = pl_run_x(r) + 3 * i;
            ck_assert_double_gt(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), 1 - 2e-3);
        }
    }
    ck_assert_int_gt(most, 0);
    ck_assert_double_gt(mean_x(r), 0.5);
    ck_assert_int_eq(r->metrics.inverted, 0);
    pl_run_close(r);
}
END_TEST

/* A floor that rises at 0.5 m/s carries the block along: a moved obstacle is where its motion says. */
START_TEST(moving_obstacle_lifts_a_block)
{
    pl_run *r = pl_run_open(1,
                            "{'pliant': 1, 'time': {'step': 0.02, 'steps': 50},"
                            " 'solver': {'method': 'admm', 'iterations': 300, 'tolerance': 1e-6},"
                            " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [3, 3, 3]}},"
                            "             'transform': {'translate': [0, 0.5, 0]}}],"
                            " 'obstacles': [{'plane': {}, 'motion': {'velocity': [0, 0.5, 0]}}]}");
    pl_run_frames(r, 50);
    ck_assert_double_gt(lowest_y(r), 0.5 - 1e-3);
    ck_assert_double_lt(lowest_y(r), 0.5 + 0.05);
    pl_run_close(r);
}
END_TEST

/* Two planes meeting in a wedge are two constraints: a block falls into it and breaks neither. */
START_TEST(wedge_of_two_planes_holds_a_block)
{
    pl_run *r = pl_run_open(2,
                            "{'pliant': 1, 'time': {'step': 0.02, 'steps': 150},"
                            " 'solver': {'method': 'admm', 'iterations': 200, 'tolerance': 1e-5},"
                            " 'materials': {'m': {'young': 2e5, 'poisson': 0.4}},"
                            " 'bodies': [{'mesh': {'box': {'size': [1, 1, 1], 'cells': [4, 4, 4]}},"
                            "             'transform': {'rotate': {'axis': [0, 0, 1], 'degrees': "
                            "45}, 'translate': [0, 0.9, 0]}}],"
                            " 'obstacles': [{'plane': {'normal': [1, 1, 0], 'offset': 0}},"
                            "               {'plane': {'normal': [-1, 1, 0], 'offset': 0}}]}");
    pl_run_frames(r, 150);
    for (int64_t i = 0; i < pl_run_vertices(r); i++) {
        const double *p = pl_run_x(r) + 3 * i;
        ck_assert_double_gt((p[1] - fabs(p[0])) / sqrt(2), -1e-3);
    }
    double weight = 1000 * 9.81;
    double up = r->metrics.obstacles[0].newton[1] + r->metrics.obstacles[1].newton[1];
    ck_assert_double_eq_tol(up, weight, 2e-2 * weight);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contact");
    TCase *t = tcase_create("contact");
    tcase_set_timeout(t, 180);
    tcase_add_test(t, block_comes_to_rest_on_a_plane);
    tcase_add_test(t, friction_slows_a_sliding_block);
    tcase_add_test(t, friction_holds_or_lets_go_on_a_slope);
    tcase_add_test(t, ball_leaves_a_sphere_obstacle);
    tcase_add_test(t, moving_obstacle_lifts_a_block);
    tcase_add_test(t, wedge_of_two_planes_holds_a_block);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
