/* Contact between bodies on the backend for devices, its kernels run on the host: positions, velocities, forces and
 * points against the CPU's, of every method; no crossing in any frame in either precision; bits after a restore. */
#include "engine/backends/device/device.h"
#include "tests/support/device_run.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"
#include "tests/support/touching_surface.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cube falls on one that is held at its bottom and turned, slides on it and tilts. */
static pl_run *cubes(precision p, const char *solver, const char *time, const char *contact)
{
    choose(p);
    return pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 60%s}, 'solver': {%s},"
        " 'output': {'fields': ['position', 'contacts']},"
        " 'materials': {'m': {'model': 'arap', 'young': 1e5, 'friction': 0.4}},"
        " 'bodies': [{'name': 'low', 'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, "
        "2]}},"
        "   'transform': {'rotate': {'axis': [0, 1, 0], 'degrees': 20}}},"
        "  {'name': 'high', 'mesh': {'box': {'size': [0.3, 0.3, 0.3], 'cells': [2, 2, 2]}},"
        "   'transform': {'translate': [0.1, 0.37, 0.05]}, 'initial': {'velocity': [0.3, -2, 0]}}],"
        " 'pins': [{'body': 'low', 'select': {'side': '-y'}}], 'contact': {%s}}",
        time, solver, contact);
}

static const char *const METHODS[] = {
    "'method': 'quasi_newton'",
    "'method': 'lbfgs'",
    "'method': 'nonlinear_cg'",
    "'method': 'chebyshev_descent'",
    "'method': 'chebyshev_semi_iterative'",
    "'method': 'admm'",
    "'method': 'projective_dynamics'",
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* Frames of both, whose positions stay `near`, m. Returns in how many of them the two touched. */
static int hold_frames(pl_run *cpu, pl_run *device, double near)
{
    touching_surface s = touching_surface_of(device);
    int touched = 0;
    for (int k = 0; k < (is_long_form() ? 14 : 5); k++) {
        pl_run_frames(cpu, 1);
        pl_run_frames(device, 1);
        const double way = farthest(cpu, device);
        ck_assert_msg(way <= near, "frame %d: positions are %g apart", k, way);
        ck_assert_msg(touching_crossings(&s, device) == 0, "something crosses in frame %d", k);
        ck_assert_int_le(device->metrics.unconverged, cpu->metrics.unconverged);
        touched += device->metrics.contact.force_count > 0;
    }
    touching_surface_clear(&s);
    return touched;
}

static void hold_forces(const pl_run *cpu, const pl_run *device, double share)
{
    const pl_contact_metrics *a = &cpu->metrics.contact, *b = &device->metrics.contact;
    ck_assert_int_eq(a->force_count, b->force_count);
    for (int32_t k = 0; k < a->force_count; k++)
        hold_numbers("force", a->forces[k].newton, b->forces[k].newton, 3, share, 1e-6);
}

START_TEST(methods_touch_as_on_the_cpu)
{
    char solver[256];
    snprintf(solver, sizeof solver, "%s, 'iterations': 3000, 'tolerance': 1e-5", METHODS[_i]);
    pl_run *cpu = cubes(HOST, solver, "", ""), *device = cubes(DOUBLE, solver, "", "");
    ck_assert_str_eq(device->state->whole.backend->ops->name, "emulated");
    ck_assert_int_gt(hold_frames(cpu, device, 1e-4), 3);
    hold_forces(cpu, device, 1e-2);
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

START_TEST(single_precision_touches)
{
    char solver[256];
    snprintf(solver, sizeof solver, "%s, 'iterations': 2000, 'tolerance': 3e-3", METHODS[_i]);
    pl_run *cpu = cubes(HOST, solver, "", ""), *device = cubes(SINGLE, solver, "", "");
    ck_assert_int_gt(hold_frames(cpu, device, 2e-3), 3);
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

/* Restitution and an integrator whose steps are repeated where they touch. */
START_TEST(bodies_bounce_as_on_the_cpu)
{
    static const char solver[] = "'method': 'quasi_newton', 'iterations': 3000, 'tolerance': 1e-5";
    static const char time[] = ", 'integrator': 'bdf2'", contact[] = "'restitution': 0.5";
    pl_run *cpu = cubes(HOST, solver, time, contact),
           *device = cubes(DOUBLE, solver, time, contact);
    ck_assert_int_gt(hold_frames(cpu, device, 1e-4), 0);
    const double *v = pl_state_velocities(cpu->state), *w = pl_state_velocities(device->state);
    ck_assert_double_le(greatest_difference(v, w, 3 * pl_run_vertices(cpu)), 1e-3);
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

START_TEST(points_are_those_of_the_cpu)
{
    static const char solver[] = "'method': 'admm', 'iterations': 5000, 'tolerance': 1e-8";
    pl_run *runs[] = {cubes(HOST, solver, "", ""), cubes(DOUBLE, solver, "", "")};
    const pl_contact_point *points[2];
    int64_t count[2];
    for (int r = 0; r < 2; r++) {
        pl_run_frames(runs[r], is_long_form() ? 10 : 3);
        points[r] = pl_state_contacts(runs[r]->state, &count[r]);
    }
    ck_assert_int_gt(count[0], 0);
    ck_assert_int_eq(count[0], count[1]);
    for (int64_t k = 0; k < count[0]; k++)
        hold_numbers("point", points[0][k].place, points[1][k].place, 3, 1e-4, 1e-6);
    for (int r = 0; r < 2; r++)
        pl_run_close(runs[r]);
}
END_TEST

/* In both precisions, of descent and of splitting. */
START_TEST(a_restored_state_goes_on_alike)
{
    static const char *const SOLVERS[] = {"'method': 'quasi_newton'", "'method': 'admm'"};
    const precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *whole = cubes(p, SOLVERS[_i / 2], "", ""), *again = cubes(p, SOLVERS[_i / 2], "", "");
    size_t size;
    pl_run_frames(whole, is_long_form() ? 8 : 4);
    ck_assert_int_gt(whole->metrics.contact.pairs, 0);
    void *saved;
    ck_assert_int_eq(pl_state_save(whole->state, &saved, &size), PL_OK);
    ck_assert_int_eq(pl_state_restore(again->state, saved, size), PL_OK);
    pl_run_frames(whole, 3);
    pl_run_frames(again, 3);
    ck_assert_mem_eq(pl_run_x(whole), pl_run_x(again),
                     3 * (size_t)pl_run_vertices(whole) * sizeof(double));
    free(saved);
    pl_run_close(whole);
    pl_run_close(again);
}
END_TEST

/* Rows of every kind at once: a cloth that folds over a rope and over itself. */
START_TEST(sheets_and_ropes_touch)
{
    const precision p = _i ? SINGLE : DOUBLE;
    choose(p);
    pl_run *r = pl_run_open(
        1,
        "{'pliant': 1, 'time': {'step': 0.005, 'steps': 60},"
        " 'solver': {'method': 'admm', 'iterations': 300, 'tolerance': 1e-3},"
        " 'materials': {'c': {'model': 'arap', 'young': 1e5, 'thickness': 1e-3, 'density': 400},"
        "   'r': {'young': 1e6, 'area': 1e-4}},"
        " 'bodies': [{'material': 'c', 'mesh': {'cloth': {'size': [0.4, 0.4], 'cells': [6, 6]}},"
        "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 90}, 'translate': [0, 0.05, 0]},"
        "   'initial': {'velocity': [0, -1, 0]}},"
        "  {'material': 'r', 'name': 'rope', 'mesh': {'rope': {'length': 0.6, 'segments': 9}},"
        "   'transform': {'translate': [0, 0, 0]}}],"
        " 'pins': [{'body': 'rope', 'select': {'box': {'min': [-9, -9, -9], 'max': [9, 9, 9]}}}]}");
    touching_surface s = touching_surface_of(r);
    int64_t pairs = 0;
    for (int k = 0; k < 30; k++) {
        pl_run_frames(r, 1);
        ck_assert_msg(touching_crossings(&s, r) == 0, "something crosses in frame %d", k);
        pairs += r->metrics.contact.pairs;
    }
    ck_assert_int_gt(pairs, 100);
    touching_surface_clear(&s);
    pl_run_close(r);
}
END_TEST

/* The host reads nothing of a device whose memory is closed between launches; otherwise this crashes. */
START_TEST(memory_of_the_device_is_left_alone)
{
    static const char *const SOLVERS[] = {"'method': 'quasi_newton', 'iterations': 20",
                                          "'method': 'admm', 'iterations': 20"};
    pl_run *r = cubes(DOUBLE, SOLVERS[_i], "", "'restitution': 0.5");
    pl_run_frames(r, 2);
    ck_assert_int_gt(r->metrics.contact.pairs, 0);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device_touching");
    TCase *closed = tcase_create("closed"), *t = tcase_create("touching");
    tcase_add_loop_test(closed, memory_of_the_device_is_left_alone, 0, 2);
    suite_add_tcase(suite, closed);
    tcase_add_checked_fixture(t, pl_device_leave_open, NULL);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, methods_touch_as_on_the_cpu, 0, METHOD_COUNT);
    tcase_add_loop_test(t, single_precision_touches, 0, METHOD_COUNT);
    tcase_add_test(t, bodies_bounce_as_on_the_cpu);
    tcase_add_test(t, points_are_those_of_the_cpu);
    tcase_add_loop_test(t, a_restored_state_goes_on_alike, 0, 4);
    tcase_add_loop_test(t, sheets_and_ropes_touch, 0, 2);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
