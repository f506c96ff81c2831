/* Bodies that touch each other and themselves, against conservation laws and closed forms, without a
 * crossing in any frame by brute force in quadruple precision. */
#include "tests/support/long_form.h"
#include "tests/support/suite.h"
#include "tests/support/touching_surface.h"

#include "engine/isa.h"
#include "engine/model/model.h"
#include "engine/scene/settings.h"
#include "tests/support/contact_exact.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

#define CUBE                                                                                       \
    "{'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}}" /* 64 kg at the default density */
/* Descent and splitting. */
static const char *const BOTH[] = {"auto", "admm"};
#define NEWTON "'method': 'newton', 'iterations': 3000, 'tolerance': 1e-8"

/* Step `frames` frames; nothing may cross in any of them. */
static void run_frames(pl_run *r, int frames)
{
    touching_surface s = touching_surface_of(r);
    for (int k = 0; k < frames; k++) {
        pl_run_frames(r, 1);
        ck_assert_msg(touching_crossings(&s, r) == 0, "something crosses in frame %lld",
                      (long long)r->metrics.frame);
        ck_assert(!(r->metrics.contact.gap <= 0));
    }
    touching_surface_clear(&s);
}

static double momentum(const pl_run *r, int32_t body, int c)
{
    const double *v = pl_state_velocities(r->state);
    double sum = 0;
    for (int64_t i = r->model->first_vertex[body]; i < r->model->first_vertex[body + 1]; i++)
        sum += r->model->mass[i] * v[3 * i + c];
    return sum;
}

/* ---- head-on ---- */

/* Two cubes, one at 2 m/s and one at -1, slightly offset, meet after 0.067 s. */
static pl_run *head_on_of(const char *model, const char *integrator, const char *solver,
                          const char *more)
{
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2, 'integrator': '%s'},"
        " 'gravity': [0, 0, 0], 'solver': {%s},"
        " 'materials': {'m': {'model': '%s', 'young': 1e5, 'poisson': 0.3}},"
        " 'bodies': [{'name': 'a', 'mesh': " CUBE ", 'transform': {'translate': [-0.3, 0, 0]},"
        "   'initial': {'velocity': [2, 0, 0]}},"
        "  {'name': 'b', 'mesh': " CUBE ", 'transform': {'translate': [0.3, 0.03, 0.05]},"
        "   'initial': {'velocity': [-1, 0, 0]}}]%s}",
        integrator, solver, model, more);
}

static pl_run *head_on(const char *integrator, const char *solver, const char *more)
{
    return head_on_of("neo_hookean", integrator, solver, more);
}

/* x cross m (v - before), summed: the turn that forces made. Backward Euler's own loss of angular momentum is not in
 * it. */
static double turned(const pl_run *r, const double *before)
{
    const double *x = pl_run_x(r), *v = pl_state_velocities(r->state);
    double sum[3] = {0};
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i += 3)
        for (int c = 0; c < 3; c++) {
            const int64_t a = i + (c + 1) % 3, b = i + (c + 2) % 3;
            sum[c] += r->model->mass[i / 3] *
                      (x[a] * (v[b] - before[b]) - x[b] * (v[a] - before[a]));
        }
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
}

/* Momentum is conserved, because contact exchanges momentum only between the bodies; angular momentum less exactly,
 * because a row pushes along the normal that was measured before the solve. Contact and backward Euler create no
 * energy. The bodies separate. */
START_TEST(a_head_on_collision)
{
    pl_run *r = head_on("backward_euler", NEWTON, "");
    const double scale = 64 * 3, energy = 64 * (4 + 1) / 2.0, arm = 0.3;
    const size_t bytes = 3 * (size_t)pl_run_vertices(r) * sizeof(double);
    double *slower = malloc(bytes);
    int touched = 0;
    for (int k = 0; k < 40; k++) {
        double before[2][3];
        memcpy(slower, pl_state_velocities(r->state), bytes);
        for (int c = 0; c < 3; c++)
            for (int b = 0; b < 2; b++)
                before[b][c] = momentum(r, b, c);
        run_frames(r, 1);
        touched += r->metrics.contact.pairs > 0;
        ck_assert_int_eq(r->metrics.unconverged, 0);
        ck_assert_double_le(r->metrics.kinetic + r->metrics.elastic, energy * (1 + 1e-10));
        ck_assert_double_le(turned(r, slower), 1e-4 * scale * arm);
        for (int c = 0; c < 3; c++) {
            const double impulse = 0.01 * touching_force(r, 0, 1, c);
            ck_assert_double_eq_tol(r->metrics.linear[c], c ? 0 : 64, 1e-10 * scale);
            ck_assert_double_eq_tol(momentum(r, 1, c) - before[1][c], impulse, 1e-5 * scale);
            ck_assert_double_eq_tol(momentum(r, 0, c) - before[0][c], -impulse, 1e-5 * scale);
        }
    }
    ck_assert_int_gt(touched, 3);
    ck_assert_int_eq(r->metrics.contact.pairs, 0);
    ck_assert_double_gt(momentum(r, 1, 0) - momentum(r, 0, 0), 0.2 * scale);
    ck_assert_double_gt(touching_mean(r, pl_run_x(r), 1, 0),
                        touching_mean(r, pl_run_x(r), 0, 0) + 0.4);
    free(slower);
    pl_run_close(r);
}
END_TEST

/* If the scene says so, they do not meet, and pass through each other. */
START_TEST(no_gap_is_told_before_a_step)
{
    pl_run *r = head_on("backward_euler", NEWTON, "");
    pl_state_measure(r->model, r->state, &r->metrics);
    ck_assert(r->metrics.contact.on && isnan(r->metrics.contact.gap));
    ck_assert_int_eq(r->metrics.contact.pairs, 0);
    pl_run_close(r);
}
END_TEST

START_TEST(who_does_not_touch_passes)
{
    static const char *const without[] = {
        ", 'contact': {'enabled': false}",
        ", 'contact': {'pairs': [{'between': ['b', 'a'], 'enabled': false}]}"};
    pl_run *r = head_on("backward_euler", NEWTON, without[_i]);
    pl_run_frames(r, 30);
    ck_assert_double_eq_tol(touching_mean(r, pl_run_x(r), 0, 0), 0.3, 1e-9);
    ck_assert_double_eq_tol(touching_mean(r, pl_run_x(r), 1, 0), 0, 1e-9);
    ck_assert_int_eq(r->metrics.contact.on, _i == 1);
    pl_run_close(r);
}
END_TEST

static const char *const METHODS[] = {"'method': 'auto'",
                                      "'method': 'admm'",
                                      "'method': 'newton', 'linear': 'pcg'",
                                      "'method': 'quasi_newton'",
                                      "'method': 'lbfgs'",
                                      "'method': 'nonlinear_cg'",
                                      "'method': 'gradient_descent'",
                                      "'method': 'barzilai_borwein'",
                                      "'method': 'vertex_block_descent'",
                                      "'method': 'chebyshev_semi_iterative'",
                                      "'method': 'chebyshev_descent'"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* From the same step to the step after the impact, each method reaches Newton's result. */
START_TEST(methods_agree)
{
    pl_run *r = head_on("backward_euler", NEWTON, "");
    run_frames(r, 9);
    ck_assert_int_gt(r->metrics.contact.pairs, 0);
    for (int k = 0; k < METHOD_COUNT; k++) {
        /* These renew multipliers least often. */
        const bool seldom = strstr(METHODS[k], "chebyshev_descent") ||
                            strstr(METHODS[k], "vertex_block_descent");
        const double most = seldom ? 2e-5 : 1e-6;
        char solver[128];
        snprintf(solver, sizeof solver, "%s, 'iterations': 10000, 'tolerance': 1e-8", METHODS[k]);
        pl_run *m = head_on("backward_euler", solver, "");
        run_frames(m, 9);
        for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
            ck_assert_msg(fabs(pl_run_x(m)[i] - pl_run_x(r)[i]) < most, "%s: %g and %g", METHODS[k],
                          pl_run_x(m)[i], pl_run_x(r)[i]);
        pl_run_close(m);
    }
    pl_run_close(r);
}
END_TEST

/* The same with a material that projective dynamics supports. */
START_TEST(projective_dynamics_agrees)
{
    const char *solver = "'method': 'projective_dynamics', 'iterations': 10000, 'tolerance': 1e-8";
    pl_run *r = head_on_of("arap", "backward_euler", NEWTON, ""),
           *m = head_on_of("arap", "backward_euler", solver, "");
    run_frames(r, 8);
    run_frames(m, 8);
    ck_assert_int_eq(m->metrics.unconverged, 0);
    ck_assert_int_gt(m->metrics.contact.pairs, 0);
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
        ck_assert_double_eq_tol(pl_run_x(m)[i], pl_run_x(r)[i], 1e-5);
    pl_run_close(m);
    pl_run_close(r);
}
END_TEST

static const char *const INTEGRATORS[] = {"bdf2",    "trapezoidal", "implicit_midpoint",
                                          "tr_bdf2", "sdirk2",      "backward_euler"};

/* Steps that touch are backward Euler's: momentum is kept, and contact makes no energy. */
START_TEST(integrators)
{
    const double scale = 64 * 3, energy = 64 * (4 + 1) / 2.0;
    const char *solver = _i < 6 ? NEWTON
                                : "'method': 'admm', 'iterations': 5000, 'tolerance': 1e-7";
    const double most = _i < 6 ? 1e-8 : 1e-6; /* of momentum: what iterations leave of forces */
    const bool euler = _i % 6 == 5;
    pl_run *r = head_on(INTEGRATORS[_i % 6], solver, "");
    for (int k = 0; k < 18; k++) {
        run_frames(r, 1);
        if (k == 0)
            ck_assert_int_eq(r->metrics.by_euler, euler ? -1 : 0);
        if (r->metrics.contact.pairs > 0)
            ck_assert_int_eq(r->metrics.by_euler, euler ? -1 : 1);
        ck_assert_double_le(r->metrics.kinetic + r->metrics.elastic, energy * 1.001);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(r->metrics.linear[c], c ? 0 : 64, most * scale);
    }
    ck_assert_double_gt(momentum(r, 1, 0) - momentum(r, 0, 0), 0.2 * scale);
    pl_run_close(r);
}
END_TEST

/* ---- restitution ---- */

static const double BOUNCES[] = {0, 0.3, 0.7, 1};

/* Two sheets that meet flat are two masses: v1' = (m1 - e m2) v1 / (m1 + m2), v2' = (1 + e) m1 v1 / (m1 + m2). */
START_TEST(sheets_bounce)
{
    /* Each coefficient by both methods, then one of them under every other integrator. */
    const double e = _i < 8 ? BOUNCES[_i / 2] : 0.7, m1 = 0.16, m2 = 0.32;
    const char *const integrator = _i < 8 ? "backward_euler" : INTEGRATORS[_i - 8];
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.005, 'duration': 1, 'integrator': '%s'},"
        " 'gravity': [0, 0, 0],"
        " 'solver': {'method': '%s'}, 'contact': {'restitution': %g, 'friction': 0},"
        " 'materials': {'m': {'model': 'stvk', 'thickness': 0.001, 'young': 1e6},"
        "   'n': {'model': 'stvk', 'thickness': 0.002, 'young': 1e6}}, 'bodies': ["
        "  {'mesh': {'cloth': {'size': [0.4, 0.4], 'cells': [4, 4]}}, 'material': 'm',"
        "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 90}, 'translate': [0, 0.1, 0]},"
        "   'initial': {'velocity': [0, -1, 0]}},"
        "  {'mesh': {'cloth': {'size': [0.4, 0.4], 'cells': [4, 4]}}, 'material': 'n',"
        "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 90}}}]}",
        integrator, BOTH[_i % 2], e);
    run_frames(r, 60);
    const double left = momentum(r, 0, 1) / m1, right = momentum(r, 1, 1) / m2;
    ck_assert_double_eq_tol(left, -(m1 - e * m2) / (m1 + m2), 0.02);
    ck_assert_double_eq_tol(right, -(1 + e) * m1 / (m1 + m2), 0.02);
    ck_assert_double_eq_tol(m1 * left + m2 * right, -m1, 1e-3 * m1);
    const double lost = (1 - e * e) * m1 * m2 / (m1 + m2) / 2;
    ck_assert_double_eq_tol(m1 / 2 - r->metrics.kinetic - r->metrics.elastic, lost, 0.002);
    pl_run_close(r);
}
END_TEST

/* Blocks with restitution gain no energy and keep momentum. */
START_TEST(blocks_bounce)
{
    const double e = BOUNCES[1 + _i % 3], energy = 64 * (4 + 1) / 2.0;
    char more[64];
    snprintf(more, sizeof more, ", 'contact': {'restitution': %g}", e);
    const char *const solver = _i < 3 ? "'method': 'auto', 'tolerance': 1e-6"
                                      : "'method': 'admm', 'iterations': 2000, 'tolerance': 1e-6";
    pl_run *r = head_on("backward_euler", solver, more);
    for (int k = 0; k < 40; k++) {
        run_frames(r, 1);
        ck_assert_double_le(r->metrics.kinetic + r->metrics.elastic, energy * (1 + 1e-3));
    }
    ck_assert_double_eq_tol(momentum(r, 0, 0) + momentum(r, 1, 0), 64, 1e-6 * 64);
    ck_assert_double_gt(momentum(r, 1, 0), momentum(r, 0, 0));
    pl_run_close(r);
}
END_TEST

/* ---- at rest ---- */

/* `count` cubes on a floor, each `gap` above the one before and moved by `aside`. */
static pl_run *stack(int count, double gap, double aside, const char *time, const char *method)
{
    char bodies[2048] = "";
    for (int i = 0; i < count; i++)
        snprintf(bodies + strlen(bodies), sizeof bodies - strlen(bodies),
                 "%s{'mesh': " CUBE ", 'transform': {'translate': [%.17g, %.17g, %.17g]}}",
                 i ? ", " : "", aside * (i % 2), 0.2 + (0.4 + gap) * i, aside / 2 * i);
    return pl_run_openf(1,
                        "{'pliant': 1, 'time': {%s}, 'materials': {'m':"
                        "   {'young': 2e6, 'damping': {'model': 'viscous', 'viscosity': 4000}}},"
                        " 'solver': {'method': '%s', 'iterations': 300, 'tolerance': 1e-3},"
                        " 'bodies': [%s], 'obstacles': [{'plane': {}, 'friction': 0.5}]}",
                        time, method, bodies);
}

/* Each carries the weight of all above it; nothing moves any more. */
static void check_weights(pl_run *r, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        const double weight = 64 * g * (count - 1 - i);
        ck_assert_double_eq_tol(touching_force(r, i, i + 1, 1), weight, 0.01 * weight);
        ck_assert_double_eq_tol(touching_force(r, i, i + 1, 0), 0, 0.01 * weight);
        ck_assert_double_eq_tol(touching_force(r, i, i + 1, 2), 0, 0.01 * weight);
    }
    ck_assert_int_eq(r->metrics.contact.force_count, count - 1);
    ck_assert_double_le(r->metrics.kinetic, 1e-3);
}

START_TEST(a_stack_carries_its_weight)
{
    const int count = is_long_form() ? 4 : 3;
    pl_run *r = stack(count, 0.01, 0.02, "'step': 0.02, 'duration': 10", BOTH[_i]);
    run_frames(r, 60);
    check_weights(r, count);
    pl_run_close(r);
}
END_TEST

/* In 10 s after it came to rest, the gap changes by less than 1e-6 of a cube and no vertex drifts by 1e-4 of it. With
 * ADMM at this tolerance the cubes creep: 3e-4 m of two, 3e-3 m of five; at 1e-5 they stay as well. */
START_TEST(a_stack_stays)
{
    enum { SETTLED = 100 };
    const int64_t rest = is_long_form() ? 500 : 100;
    pl_run *r = stack(is_long_form() ? 5 : 2, 0.003, 0.02, "'step': 0.02, 'duration': 20", "auto");
    run_frames(r, SETTLED);
    const size_t bytes = 3 * (size_t)pl_run_vertices(r) * sizeof(double);
    double *x = malloc(bytes), off = 0;
    memcpy(x, pl_run_x(r), bytes);
    const double gap = r->metrics.contact.gap;
    for (int64_t k = 0; k < rest; k++) {
        pl_run_frames(r, 1);
        ck_assert_double_eq_tol(r->metrics.contact.gap, gap, 1e-6 * 0.4);
    }
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
        off = fmax(off, fabs(pl_run_x(r)[i] - x[i]));
    ck_assert_double_lt(off, 1e-4 * 0.4);
    free(x);
    pl_run_close(r);
}
END_TEST

/* With the same coordinates where they meet, the surfaces begin in each other's planes, and edges and corners on each
 * other: only the solids themselves tell which side is whose. */
START_TEST(blocks_with_equal_coordinates)
{
    const int count = is_long_form() ? 3 : 2;
    pl_run *r = stack(count, 0, 0, "'step': 0.02, 'duration': 10", BOTH[_i]);
    run_frames(r, 50);
    check_weights(r, count);
    pl_run_close(r);
}
END_TEST

/* Statics has no time to come to rest in: one step, whose first decrement is 5 cm. */
START_TEST(statics)
{
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 1, 'steps': 2, 'integrator': 'quasi_static'},"
        " 'solver': {'method': '%s', 'iterations': 5000, 'tolerance': 1e-6},"
        " 'materials': {'m': {'young': 1e6}}, 'bodies': ["
        "  {'name': 'a', 'mesh': " CUBE "},"
        "  {'name': 'b', 'mesh': " CUBE ", 'transform': {'translate': [0.45, 0, 0]}}],"
        " 'gravity': [0, 0, 0], 'pins': [{'body': 'a', 'select': {'side': '-x'}},"
        "  {'body': 'b', 'select': {'side': '+x'}, 'motion': {'keyframes': [{'time': 0},"
        "    {'time': 1, 'translate': [-0.1, 0, 0]}, {'time': 2, 'translate': [-0.1, 0, 0]}]}}]}",
        _i ? "admm" : "newton");
    for (int k = 0; k < 2; k++) { /* pressed by 5 cm: so are the pins, and equally */
        run_frames(r, 1);
        const double force = touching_force(r, 0, 1, 0);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        ck_assert_double_gt(force, 1e3);
        ck_assert_double_eq_tol(r->metrics.pins[0].newton[0], force, 1e-4 * force);
        ck_assert_double_eq_tol(r->metrics.pins[1].newton[0], -force, 1e-4 * force);
    }
    pl_run_close(r);
}
END_TEST

/* ---- friction ---- */

/* A block on a larger one that is held, tilted by rotating gravity. */
static pl_run *slope(double degrees, double mu, const char *method)
{
    const double angle = degrees * M_PI / 180;
    return pl_run_openf(1,
                        "{'pliant': 1, 'time': {'step': 0.01, 'duration': 1},"
                        " 'solver': {'method': '%s', 'iterations': 2000, 'tolerance': 1e-5}, "
                        "'gravity': [%.17g, %.17g, 0],"
                        " 'contact': {'thickness': 0.002},"
                        " 'materials': {'m': {'young': 1e7, 'poisson': 0, 'friction': %g}},"
                        " 'bodies': [{'name': 'base', 'mesh': {'box': {'size': [2, 0.2, 0.6],"
                        "    'cells': [1, 1, 1]}}, 'transform': {'translate': [0, 0.1, 0]}},"
                        "  {'mesh': {'box': {'size': [0.4, 0.2, 0.4], 'cells': [2, 1, 2]}},"
                        "   'transform': {'translate': [-0.6, 0.302, 0.03]}}],"
                        " 'pins': [{'body': 'base', 'select': 'all'}]}",
                        method, g * sin(angle), -g * cos(angle), mu);
}

/* It slips at 16.70 degrees for mu = 0.3. */
START_TEST(a_block_sticks_or_slides)
{
    static const struct {
        double degrees, mu;
    } cases[] = {{10, 0.3}, {16.55, 0.3}, {16.85, 0.3}, {25, 0.3}, {20, 0}, {30, 0.5}};
    const double degrees = cases[_i / 2].degrees, mu = cases[_i / 2].mu,
                 angle = degrees * M_PI / 180;
    const double mass = 32, a = g * (sin(angle) - mu * cos(angle));
    pl_run *r = slope(degrees, mu, _i % 2 ? "admm" : "newton");
    run_frames(r, 10);
    const double before = momentum(r, 1, 0) / mass, x = touching_mean(r, pl_run_x(r), 1, 0);
    const double rubbed = r->metrics.contact.friction_work;
    run_frames(r, 20);
    const double gained = (momentum(r, 1, 0) / mass - before) / 0.2;
    if (a < 0) {
        ck_assert_double_eq_tol(touching_mean(r, pl_run_x(r), 1, 0), x, 1e-6);
        ck_assert_double_eq_tol(touching_force(r, 0, 1, 0), -mass * g * sin(angle),
                                0.01 * mass * g);
    } else {
        ck_assert_double_eq_tol(gained, a, 0.02 * a);
        ck_assert_double_eq_tol(touching_force(r, 0, 1, 0), -mu * mass * g * cos(angle),
                                0.01 * mass * g);
        const double work = mu * mass * g * cos(angle) * (touching_mean(r, pl_run_x(r), 1, 0) - x);
        ck_assert_double_eq_tol(r->metrics.contact.friction_work - rubbed, work,
                                0.02 * work + 1e-6);
    }
    ck_assert_double_eq_tol(touching_force(r, 0, 1, 1), mass * g * cos(angle), 0.01 * mass * g);
    pl_run_close(r);
}
END_TEST

/* ---- with itself ---- */

/* A sheet that falls on its edge crumples into a pile of folds. */
static pl_run *falling_sheet(int threads)
{
    return pl_run_open(threads,
                       "{'pliant': 1, 'time': {'step': 0.02, 'duration': 2},"
                       " 'solver': {'iterations': 300, 'tolerance': 1e-3},"
                       " 'materials': {'c': {'young': 1e5, 'density': 300, 'thickness': 0.002,"
                       "   'bending': {'model': 'hinge'}}},"
                       " 'bodies': [{'mesh': {'cloth': {'size': [0.4, 0.8], 'cells': [5, 10]}},"
                       "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 8},"
                       "     'translate': [0, 0.5, 0]}}],"
                       " 'obstacles': [{'plane': {}, 'friction': 0.5, 'margin': 0.005}]}");
}

START_TEST(a_cloth_falls_on_itself)
{
    pl_run *r = falling_sheet(1);
    int64_t most = 0;
    for (int k = 0; k < 30; k++) {
        run_frames(r, 1);
        const int64_t pairs = r->metrics.contact.pairs;
        most = pairs > most ? pairs : most;
        ck_assert(!(r->metrics.contact.gap < 0.0018)); /* 90 % of its thickness */
        ck_assert_int_eq(r->metrics.contact.force_count, 0);
    }
    ck_assert_int_gt(most, 50);
    ck_assert_double_le(touching_mean(r, pl_run_x(r), 0, 1), 0.1);
    pl_run_close(r);
}
END_TEST

/* A rope falls into a heap: its segments stay a thickness apart, which is twice its radius. */
START_TEST(a_rope_falls_on_itself)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2},"
           " 'solver': {'iterations': 500, 'tolerance': 1e-3},"
           " 'materials': {'r': {'young': 1e6, 'density': 1000, 'area': 1e-4, 'bending': {}}},"
           " 'bodies': [{'mesh': {'rope': {'length': 1.5, 'segments': 40}}, 'transform':"
           "   {'rotate': {'axis': [0, 0, 1], 'degrees': 88}, 'translate': [0, 1, 0]}}],"
           " 'obstacles': [{'plane': {}, 'friction': 0.5}]}");
    const double thickness = 2 * sqrt(1e-4 / M_PI);
    int touched = 0;
    for (int k = 0; k < 80; k++) {
        pl_run_frames(r, 1);
        exact_point x[41];
        for (int i = 0; i < 3 * 41; i++)
            x[i / 3][i % 3] = pl_run_x(r)[i];
        for (int a = 0; a < 40; a++)
            for (int b = a + 2; b < 40; b++) {
                double d = (double)exact_edge_edge(&x[a], &x[b], NULL);
                ck_assert_msg(d > 0.9 * thickness, "frame %d: %d and %d are %g apart", k, a, b, d);
                touched += d < 1.1 * thickness;
            }
    }
    ck_assert_int_gt(touched, 100);
    pl_run_close(r);
}
END_TEST

/* ---- the same bits ---- */

/* A ball, a sheet and a rope fall on a block. */
static pl_run *mixed(int threads, const char *method)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2},"
        " 'solver': {'method': '%s', 'iterations': 300, 'tolerance': 1e-3},"
        " 'contact': {'friction': 0.4},"
        " 'materials': {'m': {'young': 2e5}, 'c': {'young': 1e5, 'density': 300,"
        "    'thickness': 0.004}, 'r': {'young': 1e7, 'area': 2e-4, 'bending': {}}},"
        " 'bodies': [{'mesh': {'box': {'size': [0.5, 0.2, 0.5], 'cells': [2, 1, 2]}},"
        "   'transform': {'translate': [0, 0.1, 0]}, 'material': 'm'},"
        "  {'mesh': {'cloth': {'size': [0.6, 0.6], 'cells': [4, 4]}}, 'material': 'c',"
        "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 85},"
        "     'translate': [0, 0.24, 0]}, 'initial': {'velocity': [0, -1, 0]}},"
        "  {'mesh': {'rope': {'length': 0.6, 'segments': 6}}, 'material': 'r',"
        "   'transform': {'translate': [0, 0.29, 0]}, 'initial': {'velocity': [0, -2, 0]}},"
        "  {'mesh': {'sphere': {'radius': 0.15, 'cells': 2}}, 'material': 'm',"
        "   'transform': {'translate': [0.05, 0.47, 0]}, 'initial': {'velocity': [0, -3, 0]}}],"
        " 'obstacles': [{'plane': {}, 'friction': 0.5}]}",
        method);
}

START_TEST(threads_and_instruction_sets_change_no_bit)
{
    uint64_t due = 0;
    for (int k = 0; k < PL_ISA_COUNT; k++) {
        setenv("PLIANT_ISA", pl_isa_name((pl_isa)k), 1);
        pl_run *r = mixed(1 + k, BOTH[_i]);
        pl_run_frames(r, 7);
        if (k == 0) {
            due = pl_run_hash(r);
            ck_assert_int_ge(r->metrics.contact.force_count, 2);
        }
        ck_assert_uint_eq(pl_run_hash(r), due);
        pl_run_close(r);
    }
    unsetenv("PLIANT_ISA");
}
END_TEST

START_TEST(a_restored_state_goes_on_alike)
{
    pl_run *r = mixed(1, BOTH[_i]), *other = mixed(2, BOTH[_i]);
    run_frames(r, 7);
    ck_assert_int_gt(r->metrics.contact.pairs, 0);
    pl_run_go_on(r, other, 5);
    ck_assert_double_eq(other->metrics.contact.friction_work, r->metrics.contact.friction_work);
    ck_assert_int_eq(other->metrics.contact.pairs, r->metrics.contact.pairs);
    pl_run_close(other);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("touching");
    tcase_set_timeout(t, 900);
    tcase_add_test(t, a_head_on_collision);
    tcase_add_test(t, no_gap_is_told_before_a_step);
    tcase_add_loop_test(t, who_does_not_touch_passes, 0, 2);
    tcase_add_test(t, methods_agree);
    tcase_add_test(t, projective_dynamics_agrees);
    tcase_add_loop_test(t, integrators, 0, 12);
    tcase_add_loop_test(t, sheets_bounce, 0, 13);
    tcase_add_loop_test(t, blocks_bounce, 0, 6);
    tcase_add_loop_test(t, a_stack_carries_its_weight, 0, 2);
    tcase_add_test(t, a_stack_stays);
    tcase_add_loop_test(t, blocks_with_equal_coordinates, 0, 2);
    tcase_add_loop_test(t, statics, 0, 2);
    tcase_add_loop_test(t, a_block_sticks_or_slides, 0, 12);
    tcase_add_test(t, a_cloth_falls_on_itself);
    tcase_add_test(t, a_rope_falls_on_itself);
    tcase_add_loop_test(t, threads_and_instruction_sets_change_no_bit, 0, 2);
    tcase_add_loop_test(t, a_restored_state_goes_on_alike, 0, 2);
    return run_cases("touching", t);
}
