/* Pins that hold some coordinates of a vertex, and their forces. */
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include "engine/backends/backend.h"
#include "engine/model/factors.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = {"admm", "quasi_newton", "newton"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* A body held everywhere along y and z slides along x as one particle, so x is backward Euler's discrete solution, h^2
 * g n (n + 1) / 2; y and z are unchanged to the last bit, and the pin pushes with the whole weight along them, and not
 * at all along x. */
START_TEST(slider)
{
    const double h = 0.01, g[3] = {3, -9.81, 2}, rho = 1000, volume = 2;
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': %g, 'steps': 20},"
                             " 'gravity': [%g, %g, %g],"
                             " 'solver': {'method': '%s', 'iterations': 20, 'tolerance': 1e-9},"
                             " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1],"
                             "             'cells': [4, 3, 3]}}}],"
                             " 'pins': [{'select': 'all', 'axes': ['y', 'z']}]}",
                             h, g[0], g[1], g[2], METHODS[_i]);
    size_t count = 3 * (size_t)pl_run_vertices(r);
    double *x0 = malloc(count * sizeof *x0);
    memcpy(x0, pl_run_x(r), count * sizeof *x0);
    ck_assert_int_eq(pl_factors_count(r->model), 2);
    for (int n = 1; n <= 20; n++) {
        pl_run_frames(r, 1);
        for (size_t i = 0; i < count; i += 3) {
            ck_assert_double_eq_tol(pl_run_x(r)[i], x0[i] + h * h * g[0] * n * (n + 1) / 2, 1e-11);
            ck_assert(pl_run_x(r)[i + 1] == x0[i + 1] && pl_run_x(r)[i + 2] == x0[i + 2]);
        }
        const double *push = r->metrics.pins[0].newton;
        ck_assert(push[0] == 0);
        ck_assert_double_eq_tol(push[1], -rho * volume * g[1], 1e-6 * rho * volume);
        ck_assert_double_eq_tol(push[2], -rho * volume * g[2], 1e-6 * rho * volume);
        ck_assert_double_lt(r->metrics.gradient_norm, 1e-5);
    }
    free(x0);
    pl_run_close(r);
}
END_TEST

/* Four pins that share vertices, three sets of held vertices and so three factors: pulled along x,
 * with planes of symmetry in y and z. */
static pl_run *pull(const char *method, const char *extra, int32_t threads)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 10}, 'gravity': [0, -1, 0],"
        " 'solver': {'method': '%s', 'iterations': 3000, 'tolerance': 1e-10%s},"
        " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}},"
        "             'initial': {'angular_velocity': [0, 1, 2]}}],"
        " 'pins': [{'select': {'side': '-x'}, 'axes': ['x']},"
        "          {'select': {'side': '+x'}, 'axes': ['x'], 'motion': {'velocity': [1, 5, 5]}},"
        "          {'select': {'side': '-y'}, 'axes': ['y']},"
        "          {'select': {'side': '-z'}, 'axes': ['z']}]}",
        method, extra);
}

/* Both methods, which treat pins in quite different places, find the same states: contradictions
 * between objective, gradient, right-hand side and factor would part them. */
START_TEST(methods_agree)
{
    pl_run *a = pull("admm", "", 1), *b = pull("quasi_newton", "", 1);
    ck_assert_int_eq(pl_factors_count(a->model), 3);
    for (int frame = 0; frame < 10; frame++) {
        pl_run_frames(a, 1);
        pl_run_frames(b, 1);
        ck_assert_int_eq(a->metrics.unconverged + b->metrics.unconverged, 0);
        for (int64_t i = 0; i < 3 * pl_run_vertices(a); i++)
            ck_assert_double_eq_tol(pl_run_x(a)[i], pl_run_x(b)[i], 1e-8);
        for (int p = 0; p < 4; p++)
            for (int c = 0; c < 3; c++) {
                double f = a->metrics.pins[p].newton[c];
                ck_assert_double_eq_tol(f, b->metrics.pins[p].newton[c], 1e-3);
                ck_assert(f == 0 || c == (p < 2 ? 0 : p - 1));
            }
    }
    pl_run_close(a);
    pl_run_close(b);
}
END_TEST

/* Newton's law of the whole body: what pins push with and the weight change its momentum. */
START_TEST(reactions_change_the_momentum)
{
    pl_run *r = pull(METHODS[_i], "", 1);
    double before[3] = {0}, h = 0.02;
    pl_metrics start;
    pl_state_measure(r->model, r->state, &start);
    memcpy(before, start.linear, sizeof before);
    for (int frame = 0; frame < 10; frame++) {
        pl_run_frames(r, 1);
        for (int c = 0; c < 3; c++) {
            double force = c == 1 ? -1000 : 0;
            for (int p = 0; p < 4; p++)
                force += r->metrics.pins[p].newton[c];
            ck_assert_double_eq_tol((r->metrics.linear[c] - before[c]) / h, force, 1e-3);
        }
        memcpy(before, r->metrics.linear, sizeof before);
    }
    pl_run_close(r);
}
END_TEST

START_TEST(same_bits_on_any_threads)
{
    pl_run *one = pull(METHODS[_i], "", 1), *three = pull(METHODS[_i], "", 3);
    pl_run_frames(one, 3);
    pl_run_frames(three, 3);
    ck_assert(pl_run_hash(one) == pl_run_hash(three));
    pl_run_close(one);
    pl_run_close(three);
}
END_TEST

/* Holding all axes with three pins of one axis each equals holding all with one pin, to the bit. */
START_TEST(three_pins_make_one)
{
    static const char *const pins[] = {
        "{'select': {'side': '-x'}}",
        "{'select': {'side': '-x'}, 'axes': ['x']}, {'select': {'side': '-x'}, 'axes': ['z']},"
        "{'select': {'side': '-x'}, 'axes': ['y']}"};
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        pl_run *r = pl_run_openf(1,
                                 "{'pliant': 1, 'time': {'step': 0.02, 'steps': 5},"
                                 " 'solver': {'method': '%s'},"
                                 " 'bodies': [{'mesh': {'box': {'cells': [3, 3, 3]}}}],"
                                 " 'pins': [%s]}",
                                 METHODS[_i], pins[k]);
        ck_assert_int_eq(pl_factors_count(r->model), 1);
        pl_run_frames(r, 5);
        hash[k] = pl_run_hash(r);
        pl_run_close(r);
    }
    ck_assert(hash[0] == hash[1]);
}
END_TEST

/* A_k of the phases: solving undoes multiplying, and held rows pass through both. */
START_TEST(multiply_and_solve_are_inverse)
{
    pl_run_on_host();
    pl_run *r = pull("admm", "", 1);
    const pl_model *m = r->model;
    const pl_backend_ops *ops = pl_backend_find(m->solver.device);
    pl_backend *b;
    ck_assert_int_eq(ops->create(m, 1, NULL, &b), PL_OK);
    int64_t n = m->free_vertices;
    double *x = pl_host_alloc(b, 3 * n), *y = pl_host_alloc(b, 3 * n);
    for (int64_t i = 0; i < 3 * n; i++)
        x[i] = sin((double)i);
    ops->factored->multiply(b, pl_host_array(x), pl_host_array(y));
    int64_t held = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            if (pl_model_holds(m, m->free_vertex[i], k)) {
                ck_assert(y[k * n + i] == x[k * n + i]);
                held++;
            }
    ck_assert_int_eq(held, 4 * 25 - 2 * 3); /* except two corners, which have no row */
    ck_assert_int_eq(ops->matrix->solve(b, pl_host_array(y), pl_host_array(y)), PL_OK);
    for (int64_t i = 0; i < 3 * n; i++)
        ck_assert_double_eq_tol(y[i], x[i], 1e-9);
    ops->memory->release(b, pl_host_array(x));
    ops->memory->release(b, pl_host_array(y));
    ops->destroy(b);
    pl_run_close(r);
}
END_TEST

/* A bar whose end is swung by keyframes: the end is where they say at each step, and starts with
 * their velocity; it turns about the end's centre. */
START_TEST(keyframed_end)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.05, 'steps': 30}, 'gravity': [0, 0, 0],"
        " 'solver': {'method': '%s'},"
        " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}}],"
        " 'pins': [{'select': {'side': '-x'},"
        "           'motion': {'keyframes': ["
        "              {'time': 0.5, 'rotate': {'degrees': 60}},"
        "              {'time': 1, 'rotate': {'degrees': -60}, 'translate': [0, 1, 0]}]}}]}",
        METHODS[_i]);
    const double *v = pl_state_velocities(r->state), *rest = r->meshes[0].vertices;
    for (int step = 0; step <= 30; step++) {
        double t = 0.05 * step, degrees = t < 0.5 ? 120 * t : t < 1 ? 60 - 240 * (t - 0.5) : -60;
        double up = t < 0.5 ? 0 : t < 1 ? 2 * (t - 0.5) : 1, angle = degrees * M_PI / 180;
        for (int64_t i = 0; i < pl_run_vertices(r); i++) {
            const double *q = rest + 3 * i, *x = pl_run_x(r) + 3 * i;
            if (q[0] > -1 + 1e-9)
                continue;
            ck_assert_double_eq_tol(x[0], -1 - sin(angle) * q[1], 1e-12);
            ck_assert_double_eq_tol(x[1], cos(angle) * q[1] + up, 1e-12);
            ck_assert_double_eq_tol(x[2], q[2], 1e-12);
            if (step == 0)
                ck_assert_double_eq_tol(v[3 * i], -q[1] * 120 * M_PI / 180, 1e-12);
        }
        if (step < 30)
            pl_run_frames(r, 1);
    }
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pins");
    TCase *c = tcase_create("axes");
    tcase_add_loop_test(c, slider, 0, METHOD_COUNT);
    tcase_add_test(c, methods_agree);
    tcase_add_loop_test(c, reactions_change_the_momentum, 0, METHOD_COUNT);
    tcase_add_loop_test(c, same_bits_on_any_threads, 0, METHOD_COUNT);
    tcase_add_loop_test(c, three_pins_make_one, 0, METHOD_COUNT);
    tcase_add_test(c, multiply_and_solve_are_inverse);
    tcase_add_loop_test(c, keyframed_end, 0, METHOD_COUNT);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
