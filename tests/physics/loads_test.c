/* Wind, point loads and pressure against closed forms and the balance of momentum. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = {"admm", "quasi_newton", "newton"};
enum { METHOD_COUNT = 3 };

/* A plate that falls on its face stops gaining speed when drag equals its weight: 1/2 rho C A v^2 = m g. The lagged
 * force has the same fixed point, up to rounding of the earlier steps: v - v_t shrinks by exp(-2 g t / v_t), so 2e-7 of
 * it is left after 4 s. Only the face that meets the air is pushed. */
START_TEST(terminal_velocity)
{
    const double g = 9.81, rho = 1.3, drag = 1.1, mass = 20 * 0.1;
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 200},"
                     " 'solver': {'method': '%s', 'iterations': 30, 'tolerance': 1e-9},"
                     " 'materials': {'m': {'young': 1e6, 'density': 20}},"
                     " 'bodies': [{'mesh': {'box': {'size': [1, 0.1, 1], 'cells': [4, 1, 4]}}}],"
                     " 'forces': [{'wind': {'velocity': [0, 0, 0], 'density': %g, 'drag': %g}}]}",
                     METHODS[_i], rho, drag);
    pl_run_frames(r, 200);
    double terminal = sqrt(2 * mass * g / (rho * drag));
    ck_assert_double_eq_tol(r->metrics.linear[1] / mass, -terminal, 1e-5 * terminal);
    ck_assert_double_eq_tol(r->metrics.forces[0].newton[1], mass * g, 1e-4 * mass * g);
    pl_run_close(r);
}
END_TEST

/* The change of momentum over a step is h times weight and applied force, whatever the body does inside. Of two bodies,
 * a force names only one. */
START_TEST(momentum_balance)
{
    const double h = 0.02, mass = 1000;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': %g, 'steps': 12}, 'gravity': [0, -1, 0],"
        " 'solver': {'method': '%s', 'iterations': 100, 'tolerance': 1e-9},"
        " 'bodies': [{'name': 'a', 'mesh': {'box': {'cells': [3, 3, 3]}}},"
        "            {'name': 'b', 'mesh': {'sphere': {'cells': 4}},"
        "             'transform': {'translate': [3, 0, 0]},"
        "             'initial': {'angular_velocity': [0, 1, 3], 'velocity': [1, 0, 0]}}],"
        " 'forces': [{'wind': {'velocity': [5, 1, 0], 'density': 100}},"
        "            {'point': {'body': 'a', 'select': {'side': '+x'}, 'force': [0, 0, 700]},"
        "             'from': 0.05, 'until': 0.15},"
        "            {'pressure': {'body': 'b', 'pressure': 3000}},"
        "            {'point': {'body': 'a', 'select': {'indices': [0, 5]}, 'force': [9, 0, 0],"
        "                       'share': 'each'}}]}",
        h, METHODS[_i]);
    pl_metrics start;
    pl_state_measure(r->model, r->state, &start);
    double before[3], weight = mass;
    for (int64_t t = 0; t < r->meshes[1].tet_count; t++) {
        const double *x = r->meshes[1].vertices;
        const int32_t *tet = r->meshes[1].tets + 4 * t;
        double e[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                e[c][k] = x[3 * tet[c + 1] + k] - x[3 * tet[0] + k];
        weight += mass / 6 *
                  (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                   e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                   e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]));
    }
    memcpy(before, start.linear, sizeof before);
    for (int step = 0; step < 12; step++) {
        pl_run_frames(r, 1);
        const pl_force *f = r->metrics.forces;
        double window = step * h >= 0.05 && step * h < 0.15 ? 700 : 0;
        ck_assert_double_eq_tol(f[1].newton[2], window, 1e-9);
        ck_assert_double_eq_tol(f[3].newton[0], 18, 1e-12);
        ck_assert_double_gt(f[0].newton[0], 100);
        for (int c = 0; c < 3; c++) {
            double sum = c == 1 ? -weight : 0;
            ck_assert_double_eq_tol(f[2].newton[c], 0, 1e-10 * 3000);
            for (int k = 0; k < 4; k++)
                sum += f[k].newton[c];
            ck_assert_double_eq_tol((r->metrics.linear[c] - before[c]) / h, sum, 1e-3);
        }
        memcpy(before, r->metrics.linear, sizeof before);
    }
    pl_run_close(r);
}
END_TEST

/* Blown up evenly to s, an elastic block carries dPsi/ds(s, s, s) = p s^2: the traction p on a face
 * that has grown by s^2. Neo-Hookean: mu (s - 1/s) + 3 lambda log(s) / s. The lagged load of each step
 * is that of the step before's size, and its fixed point this one. */
START_TEST(pressure_blows_up)
{
    const double mu = 3e4, lambda = 6e4, p = _i == 0 ? 2e4 : -2e4;
    double young = mu * (3 * lambda + 2 * mu) / (lambda + mu),
           poisson = lambda / (2 * (lambda + mu));
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 1, 'steps': 40, 'integrator': 'quasi_static'},"
        " 'gravity': [0, 0, 0], 'solver': {'method': 'quasi_newton', 'tolerance': 1e-10,"
        "                                  'iterations': 300},"
        " 'materials': {'m': {'young': %.17g, 'poisson': %.17g}},"
        " 'bodies': [{'mesh': {'box': {'size': [1, 2, 1], 'cells': [2, 3, 2]}}}],"
        " 'pins': [{'select': {'side': '-x'}, 'axes': ['x']},"
        "          {'select': {'side': '-y'}, 'axes': ['y']},"
        "          {'select': {'side': '-z'}, 'axes': ['z']}],"
        " 'forces': [{'pressure': {'pressure': %g}}]}",
        young, poisson, p);
    pl_run_frames(r, 40);
    double lo = 0.5, hi = 2, s = 1;
    for (int k = 0; k < 100; k++) {
        s = (lo + hi) / 2;
        double left = mu * (s - 1 / s) + 3 * lambda * log(s) / s - p * s * s;
        *(left > 0 ? &hi : &lo) = s;
    }
    ck_assert(_i == 0 ? s > 1.05 : s < 0.97);
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        for (int c = 0; c < 3; c++) {
            double corner = c == 1 ? -1 : -0.5, rest = r->meshes[0].vertices[3 * i + c];
            ck_assert_double_eq_tol(pl_run_x(r)[3 * i + c], corner + s * (rest - corner), 1e-7);
        }
    /* The pressure is on the held sides too, so the pins have nothing to carry. */
    ck_assert_double_eq_tol(r->metrics.pins[1].newton[1], 0, 1e-3 * fabs(p));
    pl_run_close(r);
}
END_TEST

/* A wind too strong for an explicit step: the plate takes the wind's speed and never exceeds it. */
START_TEST(strong_wind_is_stable)
{
    pl_run *r =
        pl_run_open(1, "{'pliant': 1, 'time': {'step': 0.1, 'steps': 30}, 'gravity': [0, 0, 0],"
                       " 'solver': {'tolerance': 1e-6},"
                       " 'materials': {'m': {'young': 1e5, 'density': 0.5}},"
                       " 'bodies': [{'mesh': {'box': {'size': [1, 0.1, 1], 'cells': [4, 1, 4]}}}],"
                       " 'forces': [{'wind': {'velocity': [0, 40, 0]}}]}");
    double last = 0;
    for (int step = 0; step < 30; step++) {
        pl_run_frames(r, 1);
        double speed = r->metrics.linear[1] / (0.5 * 0.1);
        ck_assert_double_le(speed, 40 + 1e-6);
        ck_assert_double_ge(speed, last - 1e-6);
        last = speed;
    }
    ck_assert_double_ge(last, 35);
    pl_run_close(r);
}
END_TEST

static const char *const BLOWN =
    "{'pliant': 1, 'time': {'step': 0.02, 'steps': 6},"
    " 'solver': {'method': '%s', 'iterations': 4, 'tolerance': 0},"
    " 'bodies': [{'mesh': {'box': {'size': [1, 3, 1], 'cells': [12, 12, 12]}},"
    "             'initial': {'angular_velocity': [1, 2, 3]}}],"
    " 'pins': [{'select': {'side': '-y'}, 'axes': ['y'],"
    "           'motion': {'keyframes': [{'time': 1, 'translate': [0, 1, 0]}],"
    "                      'interpolation': 'smooth'}}],"
    " 'forces': [{'wind': {'velocity': [9, 2, 1]}}, {'pressure': {'pressure': 500}}]}";

START_TEST(same_bits_on_any_threads)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        pl_run *r = pl_run_openf(k ? 3 : 1, BLOWN, METHODS[_i]);
        pl_run_frames(r, 2);
        hash[k] = pl_run_hash(r);
        pl_run_close(r);
    }
    ck_assert(hash[0] == hash[1]);
}
END_TEST

/* A state saved and restored continues with the same bits, and knows the last step's forces. */
START_TEST(restart)
{
    pl_run *a = pl_run_openf(1, BLOWN, METHODS[_i]), *b = pl_run_openf(2, BLOWN, METHODS[_i]);
    pl_run_frames(a, 2);
    void *bytes;
    size_t size;
    ck_assert_int_eq(pl_state_save(a->state, &bytes, &size), PL_OK);
    ck_assert(pl_model_hash(a->model) == pl_model_hash(b->model));
    ck_assert_int_eq(pl_state_restore(b->state, bytes, size), PL_OK);
    free(bytes);
    pl_metrics at;
    pl_state_measure(b->model, b->state, &at);
    ck_assert_mem_eq(at.forces, a->metrics.forces, 2 * sizeof *at.forces);
    ck_assert(at.forces[0].newton[0] != 0);
    pl_run_frames(a, 2);
    pl_run_frames(b, 2);
    ck_assert(pl_run_hash(a) == pl_run_hash(b));
    pl_run_close(a);
    pl_run_close(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loads");
    TCase *c = tcase_create("forces");
    tcase_add_loop_test(c, terminal_velocity, 0, METHOD_COUNT);
    tcase_add_loop_test(c, momentum_balance, 0, METHOD_COUNT);
    tcase_add_loop_test(c, pressure_blows_up, 0, 2);
    tcase_add_test(c, strong_wind_is_stable);
    tcase_add_loop_test(c, same_bits_on_any_threads, 0, 2);
    tcase_add_loop_test(c, restart, 0, 2);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
