/* Vertex block descent: a sweep never raises the objective, whatever the scene is made of, and sweeps end at Newton's
 * minimum; the bits do not depend on threads, instruction sets or interruptions. */
#include "engine/isa.h"
#include "engine/step/state.h"
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A deformed ball of an irregular mesh, held along two axes on one side. */
#define BALL(material)                                                                             \
    "'materials': {'m': {'young': 2e5, 'poisson': 0.4, " material "}},"                            \
    " 'bodies': [{'mesh': {'sphere': {'radius': 0.5, 'cells': 4}},"                                \
    "   'initial': {'shape': {'stretched': [1.3, 0.9, 0.8]}, 'angular_velocity': [3, 1, 2]}}],"    \
    " 'pins': [{'select': {'side': '-x'}, 'axes': ['x', 'y']}]"

static const char *const SCENES[] = {
    BALL("'model': 'neo_hookean'"),
    BALL("'model': 'corotated'"),
    BALL("'model': 'arap'"),
    BALL("'model': 'stvk'"),
    BALL("'model': 'hencky'"),
    BALL("'model': 'mooney_rivlin'"),
    BALL("'model': 'stable_neo_hookean'"),
    BALL("'model': 'neo_hookean_wang'"),
    BALL("'model': 'fung'"),
    BALL("'model': 'polynomial'"),
    BALL("'model': 'spline', 'splines': 'A'"),
    BALL("'model': 'neo_hookean', 'fibers': {'stiffness': 1e5, 'direction': [1, 1, 0]}"),
    BALL("'model': 'neo_hookean', 'invertible': true"),
    BALL("'model': 'neo_hookean', 'damping': {'viscosity': 40}"),
    BALL("'model': 'neo_hookean', 'damping': {'model': 'rayleigh', 'beta': 0.01}"),
    /* A sheet with hinges, and one with quadratic bending; a spring-like rope that bends; links. */
    "'materials': {'h': {'young': 1e5, 'thickness': 0.02, 'bending': {'model': 'hinge'}},"
    "   'q': {'young': 1e5, 'thickness': 0.02, 'bending': {}},"
    "   'r': {'young': 1e6, 'area': 1e-3, 'bending': {}}},"
    " 'bodies': [{'name': 'h', 'material': 'h', 'mesh': {'cloth': {'size': [1, 1], 'cells': [6, "
    "6]}},"
    "   'initial': {'shape': {'twisted': {'turns': 0.1, 'axis': [1, 0, 0]}}}},"
    "  {'name': 'q', 'material': 'q', 'mesh': {'cloth': {'size': [1, 1], 'cells': [6, 6]}},"
    "   'transform': {'translate': [0, 1, 0]},"
    "   'initial': {'shape': {'stretched': [1.1, 1, 0.95]}}},"
    "  {'name': 'r', 'material': 'r', 'mesh': {'rope': {'length': 1, 'segments': 8}},"
    "   'transform': {'translate': [0, 0.5, 0]}, 'initial': {'velocity': [0, 1, 1]}}],"
    " 'pins': [{'body': 'h', 'select': {'side': '-x'}}],"
    " 'attachments': [{'body': 'r', 'select': {'side': '-x'}, 'to': 'h', 'stiffness': 500}],"
    " 'contact': {'enabled': false}",
    /* An obstacle that pushes, without friction. */
    "'materials': {'m': {'young': 2e5}},"
    " 'bodies': [{'mesh': {'sphere': {'radius': 0.5, 'cells': 4}},"
    "   'transform': {'translate': [0, 0.49, 0]}, 'initial': {'velocity': [0.5, -2, 0]}}],"
    " 'obstacles': [{'plane': {}}]",
};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

static pl_run *step_of(const char *scene, const char *integrator, const char *solver)
{
    pl_run *r = pl_run_openf(2,
                             "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1, 'integrator': '%s'},"
                             " 'output': {'metrics': 'iteration'}, 'solver': {%s}, %s}",
                             integrator, solver, scene);
    pl_run_frames(r, 1);
    return r;
}

static void descends_with(const char *scene, const char *integrator, const char *rho)
{
    pl_run *newton = step_of(scene, integrator,
                             "'method': 'newton', 'iterations': 200, 'tolerance': 1e-11");
    char solver[160];
    snprintf(solver, sizeof solver,
             "'method': 'vertex_block_descent', 'iterations': 10000, 'tolerance': 1e-6%s", rho);
    pl_run *r = step_of(scene, integrator, solver);
    const pl_metrics *m = &r->metrics;
    const double minimum = newton->metrics.objective, start = m->detail[0].objective;
    ck_assert_int_eq(newton->metrics.unconverged, 0);
    ck_assert_int_eq(m->unconverged, 0);
    ck_assert_int_gt(m->detail_count, 2);
    for (int64_t k = 1; k < m->detail_count; k++)
        ck_assert_msg(m->detail[k].objective <= m->detail[k - 1].objective + 1e-12 * fabs(start),
                      "%s: sweep %lld from %.17g to %.17g", scene, (long long)k,
                      m->detail[k - 1].objective, m->detail[k].objective);
    ck_assert_msg(fabs(m->objective - minimum) <= 1e-6 * (start - minimum),
                  "%s: %.17g, but the minimum is %.17g of %.17g", scene, m->objective, minimum,
                  start);
    pl_run_close(r);
    pl_run_close(newton);
}

static void descends(const char *scene, const char *integrator)
{
    descends_with(scene, integrator, "");
}

START_TEST(sweeps_descend_to_the_minimum)
{
    descends(SCENES[_i], "backward_euler");
}
END_TEST

/* One stage under each of the others that has one, and statics. */
START_TEST(under_other_integrators_too)
{
    static const char *const INTEGRATORS[] = {"implicit_midpoint", "trapezoidal", "bdf2"};
    descends(SCENES[0], INTEGRATORS[_i]);
}
END_TEST

/* Momentum that raises the objective is undone. */
START_TEST(momentum_descends_too)
{
    descends_with(SCENES[_i == 0 ? 0 : 7], "backward_euler", ", 'rho': 0.98");
}
END_TEST

/* A light tetrahedron of which one vertex is free, so that a sweep is a Newton step. It starts at the end of a step
 * with the velocity, 0.1 s later. It is 1 m high; its base is held. */
#define ONE(material, velocity)                                                                    \
    "{'pliant': 1, 'time': {'step': 0.1, 'steps': 1}, 'gravity': [0, 0, 0],"                       \
    " 'output': {'metrics': 'iteration'},"                                                         \
    " 'solver': {'method': 'vertex_block_descent', 'iterations': 60, 'tolerance': 1e-9,"           \
    "            'initial_guess': 'velocity'},"                                                    \
    " 'materials': {'m': {'young': 1e5, 'poisson': 0.3, 'density': 1, " material "}},"             \
    " 'bodies': [{'mesh': {'vertices': [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 1, 0.3]],"          \
    "   'tets': [[0, 2, 1, 3]]}, 'initial': {'velocity': [" velocity "]}}],"                       \
    " 'pins': [{'select': {'indices': [0, 1, 2]}}]}"

/* Newton's method converges quadratically: with a block that lacks its parts off the diagonal, or a step that is cut
 * short, it would not. */
START_TEST(a_sweep_over_one_vertex_is_a_newton_step)
{
    static const char *const STARTS[] = {
        ONE("'model': 'neo_hookean'", "3, -2, 1"),
        ONE("'model': 'stable_neo_hookean'", "3, -2, 1"),
        ONE("'model': 'corotated'", "3, -2, 1"),
    };
    pl_run *r = pl_run_open(1, STARTS[_i]);
    pl_run_frames(r, 1);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    const pl_metrics *m = &r->metrics;
    ck_assert_int_ge(m->detail_count, 3);
    for (int64_t k = 1; k + 1 < m->detail_count; k++) {
        const double now = m->detail[k].decrement / m->detail[0].decrement;
        const double next = m->detail[k + 1].decrement / m->detail[0].decrement;
        ck_assert_msg(now > 0.1 || next <= 10 * now * now + 1e-13, "sweep %lld: %g, then %g",
                      (long long)k, now, next);
    }
    pl_run_close(r);
}
END_TEST

/* Far out, where log J bends the energy the other way, and close to the base, where it is steep, a full step would go
 * up or through the base. */
START_TEST(a_step_that_goes_too_far_is_cut)
{
    static const char *const STARTS[] = {
        ONE("'model': 'neo_hookean'", "60, 90, 1"),
        ONE("'model': 'neo_hookean'", "200, 0, 1"),
        ONE("'model': 'neo_hookean'", "30, -9.8, 1"),
        ONE("'model': 'neo_hookean_wang'", "60, 90, 1"),
        ONE("'model': 'stvk'", "1, -7, 1"),
    };
    pl_run *r = pl_run_open(1, STARTS[_i]);
    pl_run_frames(r, 1);
    const pl_metrics *m = &r->metrics;
    ck_assert_int_eq(m->unconverged, 0);
    for (int64_t k = 1; k < m->detail_count; k++)
        ck_assert_double_le(m->detail[k].objective,
                            m->detail[k - 1].objective * (1 + 1e-12) + 1e-9);
    pl_run_close(r);
}
END_TEST

/* Friction of an obstacle, and damping, against Newton's method over some steps. */
static const char *const SLIDES[] = {
    "'materials': {'m': {'young': 1e5}},"
    " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}},"
    "   'transform': {'translate': [0, 0.2, 0]}, 'initial': {'velocity': [1, -0.2, 0]}}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.3}]",
    "'materials': {'m': {'young': 1e5, 'damping': {'viscosity': 200}}},"
    " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}},"
    "   'initial': {'shape': {'stretched': [1.2, 1, 0.9]}}}]",
    "'materials': {'m': {'young': 1e5, 'model': 'corotated', 'damping': {'model': 'rayleigh',"
    "   'beta': 0.02}}},"
    " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}},"
    "   'initial': {'shape': {'stretched': [1.2, 1, 0.9]}}}]",
};

static pl_run *slide(const char *scene, const char *method)
{
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': 0.01, 'steps': 8}, 'solver':"
                             " {'method': '%s', 'iterations': 4000, 'tolerance': 1e-8}, %s}",
                             method, scene);
    pl_run_frames(r, 8);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    return r;
}

START_TEST(friction_and_damping_are_those_of_newton)
{
    pl_run_on_host();
    pl_run *r = slide(SLIDES[_i], "vertex_block_descent"), *newton = slide(SLIDES[_i], "newton");
    double off = 0;
    for (int64_t i = 0; i < 3 * r->model->vertices; i++)
        off = fmax(off, fabs(pl_run_x(r)[i] - pl_run_x(newton)[i]));
    ck_assert_msg(off <= 1e-6, "%g m apart", off);
    pl_run_close(r);
    pl_run_close(newton);
}
END_TEST

/* All at once: contact with friction between bodies and with an obstacle that moves, links that an obstacle carries,
 * damping, pins. */
#define BUSY(momentum)                                                                             \
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 20},"                                           \
    " 'solver': {'method': 'vertex_block_descent', 'iterations': 30" momentum "}," REST
#define REST                                                                                       \
    " 'materials': {'a': {'young': 1e5, 'damping': {'viscosity': 20}, 'friction': 0.3},"           \
    "   'b': {'model': 'fung', 'young': 1e5, 'invertible': true}},"                                \
    " 'bodies': [{'material': 'a', 'mesh': {'box': {'size': [1, 0.4, 0.4], 'cells': [5, 2, 2]}},"  \
    "             'transform': {'translate': [0, 0.21, 0]}},"                                      \
    "            {'material': 'b', 'mesh': {'sphere': {'radius': 0.3, 'cells': 4}},"               \
    "             'transform': {'translate': [0.1, 0.74, 0]}, 'initial': {'velocity': [0, -3, "    \
    "0]}}],"                                                                                       \
    " 'pins': [{'body': 'body-0', 'select': {'side': '-x'}, 'axes': ['x']}],"                      \
    " 'attachments': [{'body': 'body-1', 'select': {'side': '+z'}, 'obstacle': 'obstacle-0',"      \
    "                  'stiffness': 50}],"                                                         \
    " 'obstacles': [{'plane': {}, 'friction': 0.4, 'motion': {'velocity': [0.2, 0, 0]}}]}"

START_TEST(bits_are_one_on_any_threads_and_instruction_set)
{
    uint64_t first = 0;
    const int counts = is_long_form() ? 4 : 2; /* of threads */
    for (int k = 0; k < counts * PL_ISA_COUNT; k++) {
        setenv("PLIANT_ISA", pl_isa_name((pl_isa)(k / counts)), 1);
        pl_run *r = pl_run_open(1 + 2 * (k % counts), BUSY(", 'rho': 0.9"));
        pl_run_frames(r, is_long_form() ? 20 : 3);
        ck_assert_int_gt(r->metrics.contact.pairs, 0);
        first = k == 0 ? pl_run_hash(r) : first;
        ck_assert_uint_eq(pl_run_hash(r), first);
        pl_run_close(r);
    }
    unsetenv("PLIANT_ISA");
}
END_TEST

START_TEST(a_saved_run_goes_on)
{
    static const char *const runs[] = {BUSY(""), BUSY(", 'rho': 0.9")};
    pl_run *r = pl_run_open(1, runs[_i]), *other = pl_run_open(3, runs[_i]);
    pl_run_frames(r, 8);
    pl_run_go_on(r, other, 6);
    pl_run_close(r);
    pl_run_close(other);
}
END_TEST

/* A step that may not end unconverged is made as two halves. */
START_TEST(halves_are_made_by_sweeps)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.04, 'steps': 3}, 'gravity': [0, 0, 0],"
           " 'solver': {'method': 'vertex_block_descent', 'iterations': 13, 'tolerance': 1e-3,"
           "            'on_not_converged': 'fail'},"
           " 'materials': {'m': {'young': 2e4, 'poisson': 0.3}},"
           " 'bodies': [{'mesh': {'sphere': {'radius': 0.5, 'cells': 4}},"
           "             'initial': {'shape': {'stretched': [1.2, 1, 0.9]}}}]}");
    pl_run_frames(r, 1);
    ck_assert_int_gt(r->metrics.halved, 0);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vertex_block_descent");
    TCase *t = tcase_create("descent"), *steps = tcase_create("steps"),
          *bits = tcase_create("bits");
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, sweeps_descend_to_the_minimum, 0, SCENE_COUNT);
    tcase_add_loop_test(t, under_other_integrators_too, 0, 3);
    tcase_add_loop_test(t, momentum_descends_too, 0, 2);
    tcase_set_timeout(steps, 240);
    tcase_add_loop_test(steps, a_sweep_over_one_vertex_is_a_newton_step, 0, 3);
    tcase_add_loop_test(steps, a_step_that_goes_too_far_is_cut, 0, 5);
    tcase_add_loop_test(steps, friction_and_damping_are_those_of_newton, 0, 3);
    tcase_add_test(steps, halves_are_made_by_sweeps);
    tcase_set_timeout(bits, 240);
    tcase_add_test(bits, bits_are_one_on_any_threads_and_instruction_set);
    tcase_add_loop_test(bits, a_saved_run_goes_on, 0, 2);
    suite_add_tcase(suite, t);
    suite_add_tcase(suite, steps);
    suite_add_tcase(suite, bits);
    return run_suite(suite);
}
