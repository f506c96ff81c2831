/* Vertex block descent: a sweep never raises the objective, whatever the scene is made of, and sweeps end at Newton's
 * minimum; the bits do not depend on threads, instruction sets or interruptions. */
#include "engine/isa.h"
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

static void descends(const char *scene, const char *integrator)
{
    pl_run *newton = step_of(scene, integrator,
                             "'method': 'newton', 'iterations': 200, 'tolerance': 1e-11");
    pl_run *r = step_of(scene, integrator,
                        "'method': 'vertex_block_descent', 'iterations': 10000, 'tolerance': 1e-6");
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

/* All at once: contact with friction between bodies and with an obstacle that moves, links that an obstacle carries,
 * damping, pins. */
static const char BUSY[] =
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 20},"
    " 'solver': {'method': 'vertex_block_descent', 'iterations': 30},"
    " 'materials': {'a': {'young': 1e5, 'damping': {'viscosity': 20}, 'friction': 0.3},"
    "   'b': {'model': 'fung', 'young': 1e5, 'invertible': true}},"
    " 'bodies': [{'material': 'a', 'mesh': {'box': {'size': [1, 0.4, 0.4], 'cells': [5, 2, 2]}},"
    "             'transform': {'translate': [0, 0.21, 0]}},"
    "            {'material': 'b', 'mesh': {'sphere': {'radius': 0.3, 'cells': 4}},"
    "             'transform': {'translate': [0.1, 0.74, 0]}, 'initial': {'velocity': [0, -3, "
    "0]}}],"
    " 'pins': [{'body': 'body-0', 'select': {'side': '-x'}, 'axes': ['x']}],"
    " 'attachments': [{'body': 'body-1', 'select': {'side': '+z'}, 'obstacle': 'obstacle-0',"
    "                  'stiffness': 50}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.4, 'motion': {'velocity': [0.2, 0, 0]}}]}";

START_TEST(bits_are_one_on_any_threads_and_instruction_set)
{
    uint64_t first = 0;
    for (int k = 0; k < 4 * PL_ISA_COUNT; k++) {
        setenv("PLIANT_ISA", pl_isa_name((pl_isa)(k / 4)), 1);
        pl_run *r = pl_run_open(1 + k % 4, BUSY);
        pl_run_frames(r, 12);
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
    pl_run *r = pl_run_open(1, BUSY), *other = pl_run_open(3, BUSY);
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
    TCase *t = tcase_create("vertex_block_descent");
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, sweeps_descend_to_the_minimum, 0, SCENE_COUNT);
    tcase_add_loop_test(t, under_other_integrators_too, 0, 3);
    tcase_add_test(t, bits_are_one_on_any_threads_and_instruction_set);
    tcase_add_test(t, a_saved_run_goes_on);
    tcase_add_test(t, halves_are_made_by_sweeps);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
