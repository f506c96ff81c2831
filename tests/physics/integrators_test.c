/* Time integrators: their orders, their losses, and that nothing else in a step depends on the choice. */
#include "protocol/scene/control_json.h"
#include "tests/support/check_metrics.h"
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EULER, BDF2, TRAPEZOIDAL, MIDPOINT, TR_BDF2, SDIRK2, INTEGRATORS };
static const char *const NAMES[] = {"backward_euler",    "bdf2",    "trapezoidal",
                                    "implicit_midpoint", "tr_bdf2", "sdirk2"};

static double furthest(const double *a, const double *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* ---- orders ---- */

/* A mass at the end of a spring that is fixed at the other: x'' = g - k/m (|x| - l) x / |x|. */
static void pull(const double y[6], double rate[6])
{
    const double l = 1.2, m = 1e3 * 1e-4 * l / 2, k = 2e4 * 1e-4 / l;
    double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    for (int c = 0; c < 3; c++) {
        rate[c] = y[3 + c];
        rate[3 + c] = (c == 1 ? -9.81 : 0) - k / m * (length - l) * y[c] / length;
    }
}

static void runge_kutta(double y[6], double h)
{
    double k[4][6], at[6];
    pull(y, k[0]);
    for (int s = 1; s < 4; s++) {
        for (int c = 0; c < 6; c++)
            at[c] = y[c] + (s == 3 ? h : 0.5 * h) * k[s - 1][c];
        pull(at, k[s]);
    }
    for (int c = 0; c < 6; c++)
        y[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
}

/* The error after a second in `steps` steps. */
static double spring_error(int integrator, int steps, const double exact[6])
{
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': %.17g, 'steps': %d, 'integrator': '%s'},"
                     " 'solver': {'method': 'newton', 'iterations': 60, 'tolerance': 1e-12},"
                     " 'materials': {'m': {'young': 2e4, 'area': 1e-4, 'density': 1e3}},"
                     " 'bodies': [{'mesh': {'vertices': [0, 0, 0, 1.2, 0, 0], 'edges': [0, 1]},"
                     "   'initial': {'velocity': [0, 1, 0.3]}}],"
                     " 'pins': [{'select': {'indices': [0]}}], 'output': {'every': %d}}",
                     1.0 / steps, steps, NAMES[integrator], steps);
    pl_run_frames(r, 1);
    double worst = fmax(furthest(pl_run_x(r) + 3, exact, 3),
                        furthest(pl_state_velocities(r->state) + 3, exact + 3, 3));
    pl_run_close(r);
    return worst;
}

/* Over four halvings the error falls as h, or as h^2; the exact answer by Runge and Kutta's rule. */
START_TEST(errors_fall_with_the_order)
{
    double exact[6] = {1.2, 0, 0, 0, 1, 0.3};
    for (int k = 0; k < 100000; k++)
        runge_kutta(exact, 1e-5);
    int steps = _i == EULER ? 400 : 100;
    double first = spring_error(_i, steps, exact), before = first, now = first;
    for (int k = 1; k <= 4; k++) {
        before = now;
        now = spring_error(_i, steps << k, exact);
    }
    double order = log2(first / now) / 4, last = log2(before / now);
    double due = _i == EULER ? 1 : 2, tolerance = _i == EULER ? 0.1 : 0.15;
    ck_assert_msg(fabs(order - due) <= tolerance && fabs(last - due) <= tolerance,
                  "%s: order %g over four halvings, %g in the last", NAMES[_i], order, last);
}
END_TEST

/* A neo-Hookean bar held at one end by a rotating pin, for a second. */
static pl_run *turned_bar(int integrator, const char *solver, const char *model, int steps)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': %.17g, 'steps': %d, 'integrator': '%s'},"
        " 'solver': {%s}, 'materials': {'m': {'model': '%s', 'young': 4e5, 'poisson': 0.35}},"
        " 'bodies': [{'mesh': {'box': {'size': [1.5, 0.5, 0.5], 'cells': [3, 1, 1]}},"
        "   'initial': {'angular_velocity': [0, 0, 0.7], 'velocity': [0, 0.525, 0]}}],"
        " 'pins': [{'select': {'side': '-x'}, 'motion': {'axis': [0, 0, 1],"
        "   'degrees_per_second': %.17g, 'origin': [-0.75, 0, 0]}}],"
        " 'output': {'every': %d}}",
        0.4 / steps, steps, NAMES[integrator], solver, model, 0.7 * 180 / M_PI, steps);
    pl_run_frames(r, 1);
    return r;
}

#define NEWTON "'method': 'newton', 'iterations': 60, 'tolerance': 1e-11"

/* The same of elements, pinned and moved, over two halvings against steps 16 times finer. */
START_TEST(errors_of_a_bar_fall_with_the_order)
{
    int steps = _i == EULER ? 64 : 96;
    pl_run *fine = turned_bar(TR_BDF2, NEWTON, "neo_hookean", 16 * 96);
    double error[3];
    for (int k = 0; k < 3; k++) {
        pl_run *r = turned_bar(_i, NEWTON, "neo_hookean", steps << k);
        error[k] = furthest(pl_run_x(r), pl_run_x(fine), 3 * pl_run_vertices(r));
        pl_run_close(r);
    }
    pl_run_close(fine);
    double order = log2(error[0] / error[2]) / 2, due = _i == EULER ? 1 : 2;
    ck_assert_msg(fabs(order - due) <= (_i == EULER ? 0.1 : 0.15), "%s: %g %g %g, order %g",
                  NAMES[_i], error[0], error[1], error[2], order);
}
END_TEST

/* Under every integrator every method that supports the terms reaches Newton's positions. */
START_TEST(every_method_takes_every_integrator)
{
    static const char *const METHODS[] = {
        "'method': 'admm', 'iterations': 2000, 'tolerance': 1e-8",
        "'method': 'auto', 'tolerance': 1e-8",
        "'method': 'quasi_newton', 'iterations': 2000, 'tolerance': 1e-8",
        "'method': 'chebyshev_descent', 'iterations': 5000, 'tolerance': 1e-7",
        "'method': 'lbfgs', 'iterations': 3000, 'tolerance': 1e-7",
        "'method': 'nonlinear_cg', 'iterations': 3000, 'tolerance': 1e-7",
        "'method': 'gradient_descent', 'iterations': 10000, 'tolerance': 1e-6",
        "'method': 'barzilai_borwein', 'iterations': 10000, 'tolerance': 1e-6",
        "'method': 'vertex_block_descent', 'iterations': 10000, 'tolerance': 1e-7",
        "'method': 'chebyshev_semi_iterative', 'iterations': 2000, 'tolerance': 1e-7",
        "'method': 'projective_dynamics', 'iterations': 4000, 'tolerance': 1e-7"};
    enum { COUNT = sizeof METHODS / sizeof *METHODS };
    for (int k = 0; k < COUNT; k++) {
        const char *model = k == COUNT - 1 ? "arap" : "neo_hookean";
        pl_run *newton = turned_bar(_i, NEWTON, model, 8);
        pl_run *r = turned_bar(_i, METHODS[k], model, 8);
        double off = furthest(pl_run_x(r), pl_run_x(newton), 3 * pl_run_vertices(r));
        ck_assert_msg(off < 1e-6, "%s, %s: off by %g", NAMES[_i], METHODS[k], off);
        pl_run_close(r);
        pl_run_close(newton);
    }
}
END_TEST

/* ---- closed forms ---- */

/* A throw, x = x0 + v t + g t^2 / 2: exact for second order, except for the start of BDF2, which permanently adds g h^2
 * / 4; backward Euler adds g h t / 2. From halfway on a control sets another gravity: the velocity is then v + g t1 +
 * g' t2. */
START_TEST(a_body_falls_as_it_must)
{
    const double h = 0.05;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': %g, 'steps': 20, 'integrator': '%s'},"
        " 'solver': {'iterations': 100, 'tolerance': 1e-10},"
        " 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}, 'initial': {'velocity': [2, 3, 0]}}]}",
        h, NAMES[_i]);
    double y0 = pl_run_x(r)[1];
    pl_run_frames(r, 10);
    double t = 10 * h, late = _i == EULER  ? 0.5 * 9.81 * h * t
                              : _i == BDF2 ? 0.25 * 9.81 * h * h
                                           : 0;
    ck_assert_double_eq_tol(pl_run_x(r)[1] - y0, 3 * t - 0.5 * 9.81 * t * t - late, 1e-6);
    char control[] = "{\"gravity\": [0, 4, 1]}";
    pl_change change;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_control_decode(control, strlen(control), &r->scene, &change, &faults),
                     PL_DECODE_OK);
    ck_assert_int_eq(pl_model_change(r->model, &change, pl_state_time(r->state)), PL_OK);
    pl_change_clear(&change);
    pl_run_frames(r, 10);
    double mass = 1000, *p = r->metrics.linear;
    /* BDF2 has an impulse of 2/3 h in the first step after a jump, and 1/3 of each before it later. */
    double missing = _i == BDF2 ? h / 2 : 0;
    ck_assert_double_eq_tol(p[0] / mass, 2, 1e-9);
    ck_assert_double_eq_tol(p[1] / mass, 3 - 9.81 * (t + missing) + 4 * (t - missing), 1e-4);
    ck_assert_double_eq_tol(p[2] / mass, t - missing, 1e-4);
    pl_run_close(r);
}
END_TEST

/* A spring that hangs at rest stays there, and its pin carries the weights of both ends under every
 * integrator; with a load on it that too. */
START_TEST(pins_carry_what_hangs_on_them)
{
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 0.05, 'steps': 10, 'integrator': '%s'},"
                     " 'solver': {'iterations': 500, 'tolerance': 1e-12},"
                     " 'materials': {'m': {'young': 1e4, 'area': 1e-4, 'density': 1e3}},"
                     " 'bodies': [{'mesh': {'vertices': [0, 0, 0, 0, -1, 0], 'edges': [0, 1]},"
                     "   'initial': {'shape': {'stretched': [1, %.17g, 1]}}}],"
                     " 'forces': [{'point': {'select': {'indices': [1]}, 'force': [0, -0.2, 0]}}],"
                     " 'pins': [{'select': {'indices': [0]}}]}",
                     NAMES[_i], 1 + (0.05 * 9.81 + 0.2) / 1);
    double y = pl_run_x(r)[4];
    for (int k = 0; k < 10; k++) {
        pl_run_frames(r, 1);
        ck_assert_double_eq_tol(pl_run_x(r)[4], y, 1e-9);
        ck_assert_double_eq_tol(r->metrics.pins[0].newton[1], 0.1 * 9.81 + 0.2, 1e-7);
    }
    pl_run_close(r);
}
END_TEST

/* ---- energy (Brown 2018, figure 6) ---- */

/* A beam that spins at 3 rad/s about an axis across it and swings along its length, at pi / L (E / rho)^(1/2) = 6 rad/s
 * in its first mode, in free space. It begins with the mean stretch of such a spin, rho w^2 L^2 / (12 E) = 0.2, and as
 * narrow as that makes it: with the stretch alone, a fourth of it would be a swing across at 30 rad/s, which a step of
 * 40 ms is meant to damp. */
static pl_run *spinning_beam(const char *integrator, double h, double seconds)
{
    return pl_run_openf(1,
                        "{'pliant': 1, 'time': {'step': %.17g, 'duration': %g, 'integrator': '%s'},"
                        " 'gravity': [0, 0, 0], 'solver': {" NEWTON "},"
                        " 'materials': {'m': {'young': 14590, 'poisson': 0.3, 'density': 1000}},"
                        " 'bodies': [{'mesh': {'box': {'size': [2, 0.4, 0.4], 'cells': [5, 1, 1]}},"
                        "   'initial': {'angular_velocity': [0, 3, 0],"
                        "               'shape': {'stretched': [1.2, 0.95, 0.95]}}}]}",
                        h, seconds, integrator);
}

typedef struct kept {
    double energy, angular; /* greatest relative change of a frame */
} kept;

static kept keep(const char *integrator, double h, double seconds)
{
    pl_run *r = spinning_beam(integrator, h, seconds);
    pl_state_measure(r->model, r->state, &r->metrics);
    double energy = r->metrics.kinetic + r->metrics.elastic, angular = r->metrics.angular[1];
    kept out = {0, 0};
    for (int64_t k = 0; k < r->scene.time.steps; k++) {
        pl_run_frames(r, 1);
        double e = r->metrics.kinetic + r->metrics.elastic;
        out.energy = fmax(out.energy, fabs(e / energy - 1));
        out.angular = fmax(out.angular, fabs(r->metrics.angular[1] / angular - 1));
    }
    pl_run_close(r);
    return out;
}

START_TEST(a_spinning_beam_keeps_its_energy)
{
    double seconds = is_long_form() ? 10 : 2;
    kept tr = keep("tr_bdf2", 0.04, seconds);
    kept euler = keep("backward_euler", 0.02, seconds), bdf2 = keep("bdf2", 0.02, seconds);
    ck_assert_double_le(tr.energy, 0.01);
    ck_assert_double_le(tr.angular, 0.001);
    ck_assert_double_lt(tr.energy, bdf2.energy);
    ck_assert_double_lt(bdf2.energy, euler.energy);
    ck_assert_double_lt(tr.angular, bdf2.angular);
    ck_assert_double_lt(bdf2.angular, euler.angular);
}
END_TEST

/* The energy that a swing of z = w h keeps in a step: |R(iz)|^2 of the integrator's amplification factor R. BDF2's is
 * the root near 1 of (3/2 - iz) R^2 - 2 R + 1/2 = 0. */
static double keeps(int integrator, double z)
{
    const double a = 1 - sqrt(0.5), w = (sqrt(2) - 1) / 2;
    const double complex s = I * z;
    double complex r = 1;
    if (integrator == EULER)
        r = 1 / (1 - s);
    else if (integrator == BDF2)
        r = (2 + csqrt(1 + 2 * s)) / (3 - 2 * s);
    else if (integrator == TR_BDF2)
        r = ((1 + w) * (1 + a * s) / (1 - a * s) - w) / (1 - a * s);
    else if (integrator == SDIRK2)
        r = (1 + (1 - 2 * a) * s) / ((1 - a * s) * (1 - a * s));
    return creal(r) * creal(r) + cimag(r) * cimag(r);
}

/* A mass on a spring, moving along it, is linear: it swings at w = (k / m)^(1/2) = 6 rad/s. Its loss matches the
 * integrator's theory at 20, 40 and 160 ms, from the 50th step, when BDF2 has forgotten its start, to the 150th. To be
 * independent of the phase, the energy is averaged over a whole turn. */
START_TEST(a_swing_loses_what_theory_says)
{
    static const double STEPS[] = {0.02, 0.04, 0.16};
    for (int k = 0; k < 3; k++) {
        const double h = STEPS[k], w = 6, density = 1e3, length = 1;
        double young = w * w * density * length * length / 2, mean[2] = {0, 0};
        pl_run *r = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': %.17g, 'steps': 250, 'integrator': '%s'},"
            " 'gravity': [0, 0, 0], 'solver': {'method': 'newton', 'iterations': 60,"
            "   'tolerance': 1e-13},"
            " 'materials': {'m': {'young': %.17g, 'area': 1e-4, 'density': %g}},"
            " 'bodies': [{'mesh': {'vertices': [0, 0, 0, 1, 0, 0], 'edges': [0, 1]},"
            "   'initial': {'velocity': [0.5, 0, 0]}}], 'pins': [{'select': {'indices': [0]}}]}",
            h, NAMES[_i], young, density);
        int turn = (int)lround(M_PI / (w * h)) * 2;
        for (int n = 1; n <= 150 + turn; n++) {
            pl_run_frames(r, 1);
            double e = r->metrics.kinetic + r->metrics.elastic;
            mean[0] += n > 50 && n <= 50 + turn ? e : 0;
            mean[1] += n > 150 ? e : 0;
        }
        double due = pow(keeps(_i, w * h), 100), kept_part = mean[1] / mean[0];
        ck_assert_msg(fabs(kept_part - due) <= 0.02 * (1 - due) + 1e-7,
                      "%s at %g s: it keeps %.9g, theory %.9g", NAMES[_i], h, kept_part, due);
        pl_run_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("integrators");
    TCase *t = tcase_create("integrators");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, errors_fall_with_the_order, 0, INTEGRATORS);
    tcase_add_loop_test(t, errors_of_a_bar_fall_with_the_order, 0, INTEGRATORS);
    tcase_add_loop_test(t, every_method_takes_every_integrator, 0, INTEGRATORS);
    tcase_add_loop_test(t, a_body_falls_as_it_must, 0, INTEGRATORS);
    tcase_add_loop_test(t, pins_carry_what_hangs_on_them, 0, INTEGRATORS);
    tcase_add_test(t, a_spinning_beam_keeps_its_energy);
    tcase_add_loop_test(t, a_swing_loses_what_theory_says, 0, INTEGRATORS);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
