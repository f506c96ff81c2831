/* Runs whose answer is known in closed form. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Backward Euler of a free fall, without anything to approximate:
 *     v(n) = v0 + n h g,  x(n) = x0 + n h v0 + h^2 g n (n + 1) / 2
 * for every vertex, to rounding, whatever the elastic solver does with a body that is at rest. */
START_TEST(free_fall_is_the_discrete_answer)
{
    const double h = 0.01, g = -9.81, v0[3] = {1, 2, -0.5};
    pl_run *r = pl_run_open(2,
                            "{'pliant': 1, 'time': {'step': 0.01, 'steps': 50},"
                            " 'solver': {'iterations': 10, 'tolerance': 0},"
                            " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 3, 3]}},"
                            "   'initial': {'velocity': [1, 2, -0.5]}}]}");
    size_t count = 3 * (size_t)pl_run_vertices(r);
    double *x0 = malloc(count * sizeof *x0);
    for (size_t i = 0; i < count; i++)
        x0[i] = pl_run_x(r)[i];
    for (int n = 1; n <= 50; n++) {
        pl_run_frames(r, 1);
        for (size_t i = 0; i < count; i++) {
            size_t c = i % 3;
            double expected = x0[i] + n * h * v0[c] + (c == 1 ? h * h * g * n * (n + 1) / 2 : 0);
            ck_assert_double_eq_tol(pl_run_x(r)[i], expected, 1e-12);
        }
    }
    ck_assert_int_eq(r->metrics.inverted, 0);
    free(x0);
    pl_run_close(r);
}
END_TEST

/* A bar of length L hung by its top stretches by rho g L^2 / (2 E) under its own weight: the force
 * at depth s is rho g A (L - s), the strain that over E A. Poisson 0, so that the clamp does not
 * squeeze; small strain, so that neo-Hookean is Hooke. One step of 100 s is the static answer: M /
 * h^2 is nothing. The bottom goes down by u(L) = rho g L^2 / (2 E). */
START_TEST(hanging_bar_stretches_by_its_weight)
{
    static const char *const methods[] = {"admm", "quasi_newton"};
    const double L = 2, E = 1e7, rho = 1000, g = 9.81;
    pl_run *r = pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 100, 'steps': 1}, 'gravity': [0, %g, 0],"
        " 'solver': {'method': '%s', 'iterations': 2000, 'tolerance': 1e-8},"
        " 'materials': {'m': {'young': %g, 'poisson': 0, 'density': %g}},"
        " 'bodies': [{'mesh': {'box': {'size': [0.5, %g, 0.5], 'cells': [4, 16, 4]}}}],"
        " 'pins': [{'name': 'top', 'select': {'side': '+y'}}]}",
        -g, methods[_i], E, rho, L);
    pl_run_frames(r, 1);
    double bottom = 0, stretch = rho * g * L * L / (2 * E);
    int64_t count = 0;
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        if (r->meshes[0].vertices[3 * i + 1] < -L / 2 + 1e-9) {
            bottom += pl_run_x(r)[3 * i + 1];
            count++;
        }
    ck_assert_int_eq(count, 25);
    ck_assert_double_eq_tol(-L / 2 - bottom / (double)count, stretch, 0.02 * stretch);
    /* The pin carries the bar: its force is the weight, less that of the half cell lumped on it. */
    double weight = rho * g * L * 0.25;
    ck_assert_double_eq_tol(r->metrics.pins[0].newton[1], weight, 1e-3 * weight);
    ck_assert_double_eq_tol(r->metrics.pins[0].newton[0], 0, 1e-6 * weight);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    pl_run_close(r);
}
END_TEST

/* Uniaxial stretch with free sides, Poisson 0: sides do not move and the Cauchy stress is that of
 * the model in one stretch s, P = mu (s - 1/s) + lambda log(s) / s with lambda = 0. The pins' pull
 * is P A. */
START_TEST(pulled_bar_pulls_back)
{
    const double E = 2e5, s = 1.25, area = 0.25;
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 50, 'steps': 2}, 'gravity': [0, 0, 0],"
                     " 'solver': {'iterations': 4000, 'tolerance': 1e-10},"
                     " 'materials': {'m': {'young': %g, 'poisson': 0}},"
                     " 'bodies': [{'mesh': {'box': {'size': [1, 0.5, 0.5], 'cells': [8, 4, 4]}},"
                     "             'initial': {'shape': {'stretched': [%g, 1, 1]}}}],"
                     " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'}}]}",
                     E, s);
    pl_run_frames(r, 2);
    double mu = E / 2, pull = mu * (s - 1 / s) * area;
    ck_assert_double_eq_tol(r->metrics.pins[1].newton[0], pull, 1e-6 * pull);
    ck_assert_double_eq_tol(r->metrics.pins[0].newton[0], -pull, 1e-6 * pull);
    pl_run_close(r);
}
END_TEST

/* A pin follows x(t) = R(t) (x - o) + o + v t exactly, at every frame, converged or not. */
START_TEST(pins_follow_their_motion)
{
    pl_run *r = pl_run_open(
        2, "{'pliant': 1, 'time': {'step': 0.02, 'steps': 25}, 'solver': {'iterations': 3, "
           "'tolerance': 0},"
           " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [6, 3, 3]}}}],"
           " 'pins': [{'select': {'side': '-x'}},"
           "  {'select': {'side': '+x'}, 'motion': {'axis': [1, 0, 0], 'degrees_per_second': 90,"
           "   'velocity': [0.3, 0, 0]}}]}");
    size_t count = 3 * (size_t)pl_run_vertices(r);
    double *x0 = malloc(count * sizeof *x0);
    for (size_t i = 0; i < count; i++)
        x0[i] = pl_run_x(r)[i];
    for (int k = 1; k <= 25; k++) {
        pl_run_frames(r, 1);
        double t = 0.02 * k, angle = M_PI / 2 * t;
        for (size_t i = 0; i < count / 3; i++) {
            const double *a = x0 + 3 * i, *b = pl_run_x(r) + 3 * i;
            if (fabs(a[0] + 1) < 1e-9)
                for (int c = 0; c < 3; c++)
                    ck_assert_double_eq(b[c], a[c]);
            if (fabs(a[0] - 1) < 1e-9) {
                ck_assert_double_eq_tol(b[0], a[0] + 0.3 * t, 1e-13);
                ck_assert_double_eq_tol(b[1], cos(angle) * a[1] - sin(angle) * a[2], 1e-13);
                ck_assert_double_eq_tol(b[2], sin(angle) * a[1] + cos(angle) * a[2], 1e-13);
            }
        }
    }
    free(x0);
    pl_run_close(r);
}
END_TEST

/* With nothing around it a body keeps its linear momentum m v to rounding, and backward Euler at
 * convergence its angular momentum about the origin only from above: it can lose, never gain. */
START_TEST(free_body_keeps_its_momentum)
{
    pl_run *r =
        pl_run_open(2, "{'pliant': 1, 'time': {'step': 0.01, 'steps': 30}, 'gravity': [0, 0, 0],"
                       " 'solver': {'iterations': 300, 'tolerance': 1e-8},"
                       " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [6, 3, 3]}},"
                       "  'initial': {'velocity': [1, 0, 0], 'angular_velocity': [0, 0, 2]}}]}");
    pl_metrics start;
    pl_state_measure(r->model, r->state, &start);
    ck_assert_double_eq_tol(start.linear[0], 2000, 1e-9);
    pl_run_frames(r, 30);
    ck_assert_double_eq_tol(r->metrics.linear[0], 2000, 1e-7);
    ck_assert_double_eq_tol(r->metrics.linear[1], 0, 1e-7);
    ck_assert_double_lt(r->metrics.angular[2], start.angular[2] * (1 + 1e-9));
    ck_assert_double_gt(r->metrics.angular[2], start.angular[2] * 0.9);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("closed forms");
    TCase *t = tcase_create("closed forms");
    tcase_add_test(t, free_fall_is_the_discrete_answer);
    tcase_add_loop_test(t, hanging_bar_stretches_by_its_weight, 0, 2);
    tcase_add_test(t, pulled_bar_pulls_back);
    tcase_add_test(t, pins_follow_their_motion);
    tcase_add_test(t, free_body_keeps_its_momentum);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
