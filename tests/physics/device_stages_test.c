/* What stages of a step begin and end with on the backend for devices, its kernels run on the host: the
 * integrators of the second order, restitution, factors on friction, what friction takes, and dissipation
 * functions, against the CPU's positions, velocities and metrics. */
#include "engine/backends/device/phases.h"
#include "engine/step/state.h"
#include "engine/backends/device/device.h"
#include "tests/support/device_run.h"
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* `tolerance` of positions, of a body of about one metre that goes at about one metre a second. */
static void hold_against_the_cpu(pl_run *cpu, pl_run *device, double tolerance)
{
    const pl_metrics *a = &cpu->metrics, *b = &device->metrics;
    double x = farthest(cpu, device);
    double v = greatest_difference(pl_state_velocities(cpu->state),
                                   pl_state_velocities(device->state), 3 * pl_run_vertices(cpu));
    ck_assert_msg(x <= tolerance, "positions are %g apart", x);
    ck_assert_msg(v <= 1e3 * tolerance, "velocities are %g apart", v);
    double loose = fmin(1e4 * tolerance, 5e-2);
    hold_numbers("dissipation", a->dissipation, b->dissipation, PL_DISSIPATION_COUNT, loose, 1e-9);
    if (tolerance > 1e-6)
        return; /* in single precision, the remainder of a force is no larger than a limp body's */
    hold_numbers("pin", a->pins[0].newton, b->pins[0].newton, 3, loose, 1e-9);
    for (int32_t k = 0; k < cpu->model->obstacle_count; k++)
        hold_numbers("obstacle", a->obstacles[k].newton, b->obstacles[k].newton, 3, loose, 1e-9);
}

/* ---- contact: a bar whose free end falls on an obstacle that moves ---- */

static const char *const INTEGRATORS[] = {"backward_euler",    "bdf2",    "trapezoidal",
                                          "implicit_midpoint", "tr_bdf2", "sdirk2"};
enum { INTEGRATOR_COUNT = sizeof INTEGRATORS / sizeof *INTEGRATORS };

static const char *const OBSTACLES[] = {
    "'plane': {'offset': -0.12}, 'motion': {'velocity': [0.5, 0.2, 0]}",
    "'sphere': {'center': [0.7, -0.6, 0.1], 'radius': 0.5}",
    "'sphere': {'center': [0.7, -0.6, 0.1], 'radius': 0.4}, 'margin': 0.1",
};

static pl_run *falling(precision p, const char *integrator, const char *solver,
                       const char *obstacle)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1,"
                        " 'time': {'step': 0.02, 'steps': 12, 'integrator': '%s'},"
                        " 'solver': {%s, 'initial_guess': 'velocity'},"
                        " 'materials': {'m': {'young': 1e5, 'poisson': 0.35}},"
                        " 'bodies': [{'material': 'm', 'mesh': {'box': {'size': [1, 0.2, 0.4],"
                        "   'cells': [6, 2, 3]}}, 'transform': {'translate': [0.5, 0.01, 0]},"
                        "   'friction': 0.4, 'initial': {'velocity': [0.2, -0.5, 0]}}],"
                        " 'pins': [{'select': {'side': '-x'},"
                        "           'motion': {'axis': [1, 0, 0], 'degrees_per_second': 100}}],"
                        " 'forces': [{'wind': {'velocity': [0, 0, 6]}}],"
                        " 'obstacles': [{%s, 'friction': 0.5, 'restitution': 0.6}]}",
                        integrator, solver, obstacle);
}

static void frames_are_the_same(pl_run *cpu, pl_run *device, double tolerance, bool counted)
{
    int64_t contacts = 0;
    for (int k = 0; k < 8; k++) {
        pl_run_frames(cpu, 1);
        pl_run_frames(device, 1);
        hold_against_the_cpu(cpu, device, tolerance);
        contacts += cpu->metrics.contacts;
        if (counted)
            ck_assert_int_eq(cpu->metrics.contacts, device->metrics.contacts);
    }
    ck_assert_str_eq(device->state->whole.backend->ops->name, "emulated");
    ck_assert_int_gt(contacts, 0);
    ck_assert_double_gt(cpu->metrics.dissipation[PL_DISSIPATION_FRICTION], 0);
    pl_run_close(cpu);
    pl_run_close(device);
}

/* An obstacle with an energy. */
START_TEST(descent_meets_obstacles_as_the_cpu)
{
    static const char solver[] = "'method': 'chebyshev_descent', 'iterations': 40, 'tolerance': 0";
    const char *integrator = INTEGRATORS[_i % INTEGRATOR_COUNT];
    const char *obstacle = OBSTACLES[_i / INTEGRATOR_COUNT];
    frames_are_the_same(falling(HOST, integrator, solver, obstacle),
                        falling(DOUBLE, integrator, solver, obstacle), 1e-9, true);
}
END_TEST

/* Whether a vertex that just touches is thrown back is decided by the last digit: in single precision what
 * is held is the whole, and the parts where nothing touches. */
START_TEST(single_precision_is_near)
{
    static const char solver[] = "'method': 'chebyshev_descent', 'iterations': 40, 'tolerance': 0";
    const char *integrator = INTEGRATORS[_i];
    pl_run *runs[] = {falling(HOST, integrator, solver, OBSTACLES[0]),
                      falling(SINGLE, integrator, solver, OBSTACLES[0])};
    double tolerance = 5e-6;
    for (int k = 0; k < 8; k++) {
        for (int r = 0; r < 2; r++)
            pl_run_frames(runs[r], 1);
        tolerance = runs[0]->metrics.contacts > 0 ? 1e-2 : tolerance;
        double x = farthest(runs[0], runs[1]);
        ck_assert_msg(x <= tolerance, "%s, frame %d: positions are %g apart", integrator, k, x);
    }
    ck_assert_int_gt(runs[0]->metrics.contacts, 0);
    hold_numbers("friction", runs[0]->metrics.dissipation + PL_DISSIPATION_FRICTION,
                 runs[1]->metrics.dissipation + PL_DISSIPATION_FRICTION, 1, 0.05, 1e-9);
    for (int r = 0; r < 2; r++)
        pl_run_close(runs[r]);
}
END_TEST

/* A constraint, which the CPU's factor and the device's iterations satisfy equally at their ends. */
START_TEST(constraints_are_met_as_on_the_cpu)
{
    static const char solver[] = "'method': 'admm', 'iterations': 600, 'tolerance': 1e-9";
    const char *integrator = INTEGRATORS[_i % INTEGRATOR_COUNT];
    const char *obstacle = OBSTACLES[_i < INTEGRATOR_COUNT ? 0 : 2];
    pl_run *cpu = falling(HOST, integrator, solver, obstacle);
    pl_run *device = falling(DOUBLE, integrator, solver, obstacle);
    /* With implicit midpoint, vertices leave the surface without a force, and the last digit of a multiplier decides
     * which of them count; it must not decide which are thrown back. */
    frames_are_the_same(cpu, device, 1e-9, strcmp(integrator, "implicit_midpoint") != 0);
}
END_TEST

/* Every compared setting affects the quantity that it is compared by. */
START_TEST(factors_and_restitution_count)
{
    static const char *const scenes[] = {"'friction': 0.5, 'restitution': 0.6", "'friction': 0.5",
                                         "'friction': 0.2, 'restitution': 0.6"};
    pl_run *runs[3];
    for (int k = 0; k < 3; k++) {
        choose(DOUBLE);
        runs[k] = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 0.02, 'steps': 12},"
            " 'solver': {'method': 'chebyshev_descent', 'iterations': 40, 'tolerance': 0},"
            " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}},"
            "   'friction': %s, 'initial': {'velocity': [1, -2, 0]}}],"
            " 'obstacles': [{'plane': {'offset': -0.21}, %s}]}",
            k == 2 ? "2.5" : "1", scenes[k]);
        pl_run_frames(runs[k], 8);
    }
    ck_assert_double_gt(farthest(runs[0], runs[1]), 1e-4);
    ck_assert_double_lt(farthest(runs[0], runs[2]), 1e-12);
    for (int k = 0; k < 3; k++)
        pl_run_close(runs[k]);
}
END_TEST

/* ---- dissipation ---- */

static const char *const SOLIDS[] = {
    "'damping': {'model': 'strain_rate', 'viscosity': 100, 'bulk_viscosity': 50,"
    "            'second_order': false}",
    "'damping': {'model': 'strain_rate', 'viscosity': 100, 'second_order': true}",
    "'damping': {'model': 'viscous', 'viscosity': 100, 'mass': 2,"
    "            'strain_spline': [[0.9, 0.5], [1.1, 3]]}",
    "'damping': {'model': 'viscous', 'viscosity': 100, 'momentum': 'nonrigid'}",
    "'damping': {'model': 'rayleigh', 'beta': 0.02, 'second_order': false}",
    "'damping': {'model': 'rayleigh', 'beta': 0.02, 'second_order': true}",
    "'damping': {'model': 'rayleigh_lagged', 'beta': 0.02}",
    "'damping': {'model': 'rayleigh_lagged', 'beta': 0.02, 'momentum': 'velocity_gradient'}",
    "'damping': {'model': 'principal_strain', 'beta': 0.02, 'second_order': false}",
    "'damping': {'model': 'principal_strain', 'beta': 0.02, 'second_order': true}",
    "'damping': {'model': 'power_law', 'coefficient': 30, 'power': 0.5, 'smoothing': 0.1,"
    "            'second_order': false}",
    "'damping': {'model': 'power_law', 'coefficient': 30, 'power': 0.5, 'smoothing': 0.1,"
    "            'second_order': true}",
    "'air_damping': 50, 'damping': {'model': 'rate_spline', 'viscosity': 50,"
    "            'rate_spline': [[0, 1], [1, 3]]}",
};
enum { SOLID_COUNT = sizeof SOLIDS / sizeof *SOLIDS };

static pl_run *damped_by(precision p, const char *integrator, const char *solver,
                         const char *damping)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 8, 'integrator': '%s'},"
                        " 'output': {'metrics': 'iteration'}, 'solver': {%s},"
                        " 'materials': {'m': {'young': 1e5, 'poisson': 0.35, %s}},"
                        " 'bodies': [{'material': 'm', 'mesh': {'box': {'size': [1, 0.5, 0.5],"
                        "   'cells': [3, 2, 2]}}, 'initial': {'velocity': [0, 1, 0]}}],"
                        " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'},"
                        "   'motion': {'axis': [1, 0, 0], 'degrees_per_second': 200}}]}",
                        integrator, solver, damping);
}

static pl_run *damped(precision p, const char *solver, const char *damping)
{
    return damped_by(p, "bdf2", solver, damping);
}

static const char *const SHEETS[] = {
    "'materials': {'m': {'model': 'neo_hookean', 'young': 1e5, 'poisson': 0.3, 'thickness': 0.01,"
    "  'air_damping': 5, 'damping': {'model': 'strain_rate', 'viscosity': 200}}},"
    "'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [5, 5]}},"
    "            'initial': {'velocity': [0, 1, 0]}}]",
    "'materials': {'m': {'model': 'neo_hookean', 'young': 1e5, 'poisson': 0.3, 'thickness': 0.01,"
    "  'damping': {'model': 'power_law', 'coefficient': 100, 'power': 2}}},"
    "'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [5, 5]}},"
    "            'initial': {'velocity': [0, 1, 0]}}]",
    "'materials': {'m': {'model': 'neo_hookean', 'young': 1e5, 'poisson': 0.3, 'thickness': 0.01,"
    "  'damping': {'model': 'power_law', 'coefficient': 100, 'power': 2, 'second_order': true}}},"
    "'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [5, 5]}},"
    "            'initial': {'velocity': [0, 1, 0]}}]",
    "'materials': {'m': {'young': 1e6, 'area': 1e-4, 'damping': {'model': 'rate_spline',"
    "  'viscosity': 1e3, 'rate_spline': [[0, 1], [1, 3]], 'second_order': true}}},"
    "'bodies': [{'material': 'm', 'mesh': {'rope': {'length': 1, 'segments': 12}},"
    "            'initial': {'velocity': [0, 1, 0], 'shape': {'stretched': [1.2, 1, 1]}}}]",
    "'materials': {'m': {'model': 'corotated', 'young': 1e5, 'poisson': 0.3, 'thickness': 0.01,"
    "  'damping': {'model': 'rayleigh', 'beta': 0.02}}},"
    "'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [5, 5]}},"
    "            'initial': {'velocity': [0, 1, 0]}}]",
    "'materials': {'m': {'young': 1e6, 'area': 1e-4, 'air_damping': 5,"
    "  'damping': {'model': 'viscous', 'viscosity': 1e4, 'mass': 1}}},"
    "'bodies': [{'material': 'm', 'mesh': {'rope': {'length': 1, 'segments': 12}},"
    "            'initial': {'velocity': [0, 1, 0]}}]",
    "'materials': {'m': {'young': 1e6, 'area': 1e-4,"
    "  'damping': {'model': 'rayleigh', 'beta': 0.02}}},"
    "'bodies': [{'material': 'm', 'mesh': {'rope': {'length': 1, 'segments': 12}},"
    "            'initial': {'velocity': [0, 1, 0], 'shape': {'stretched': [1.2, 1, 1]}}}]",
};
enum { SHEET_COUNT = sizeof SHEETS / sizeof *SHEETS };

static pl_run *damped_sheet(precision p, const char *solver, const char *scene)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 8},"
                        " 'output': {'metrics': 'iteration'}, 'solver': {%s}, %s,"
                        " 'pins': [{'select': {'side': '-x'}}]}",
                        solver, scene);
}

/* Both are closed. */
static void damping_is_the_same(pl_run *cpu, pl_run *device, double tolerance)
{
    for (int k = 0; k < 3; k++) {
        pl_run_frames(cpu, 1);
        pl_run_frames(device, 1);
        hold_against_the_cpu(cpu, device, tolerance);
    }
    ck_assert_double_gt(cpu->metrics.dissipated, 1e-6);
    pl_run_close(cpu);
    pl_run_close(device);
}

/* Where two principal stretches meet their function has a crease, and a step more than one minimum. */
static double single_of(int row)
{
    bool creased = row < SOLID_COUNT && strstr(SOLIDS[row], "principal_strain");
    return creased ? 2e-3 : 3e-4;
}

/* Of a row of solids, or of sheets after them. */
static void damping_is_that_of_the_cpu(precision p, const char *solver, int row, double tolerance)
{
    if (row < SOLID_COUNT)
        damping_is_the_same(damped(HOST, solver, SOLIDS[row]), damped(p, solver, SOLIDS[row]),
                            tolerance);
    else
        damping_is_the_same(damped_sheet(HOST, solver, SHEETS[row - SOLID_COUNT]),
                            damped_sheet(p, solver, SHEETS[row - SOLID_COUNT]), tolerance);
}

/* By energies and gradients, of a fixed number of iterations. */
START_TEST(dissipation_is_the_cpu_s)
{
    static const char solver[] = "'method': 'chebyshev_descent', 'iterations': 48, 'tolerance': 0";
    precision p = _i % 2 ? SINGLE : DOUBLE;
    double tolerance = p == SINGLE ? single_of(_i / 2) : 1e-9;
    damping_is_that_of_the_cpu(p, solver, _i / 2, tolerance);
}
END_TEST

/* By proximal operators, where iterations end. */
START_TEST(dissipation_is_split_as_on_the_cpu)
{
    precision p = _i % 2 ? SINGLE : DOUBLE;
    const char *solver = p == SINGLE ? "'method': 'admm', 'iterations': 300, 'tolerance': 1e-5"
                                     : "'method': 'admm', 'iterations': 600, 'tolerance': 1e-9";
    double tolerance = p == SINGLE ? single_of(_i / 2) : 1e-8;
    damping_is_that_of_the_cpu(p, solver, _i / 2, tolerance);
}
END_TEST

/* And where they end is Newton's minimum, whichever way they take: of tetrahedra, and of sheets and ropes. */
static pl_run *damped_once(precision p, const char *solver, int row)
{
    return row < SOLID_COUNT ? damped_by(p, "backward_euler", solver, SOLIDS[row])
                             : damped_sheet(p, solver, SHEETS[row - SOLID_COUNT]);
}

START_TEST(damped_minima_are_newton_s)
{
    static const struct {
        const char *solver;
        precision precision;
    } rows[] = {
        {"'method': 'lbfgs', 'iterations': 3000, 'tolerance': 1e-8", DOUBLE},
        {"'method': 'lbfgs', 'iterations': 3000, 'tolerance': 1e-5", SINGLE},
        {"'method': 'admm', 'iterations': 1000, 'tolerance': 1e-5", SINGLE},
    };
    pl_run *best = damped_once(HOST, "'method': 'newton', 'iterations': 200, 'tolerance': 1e-12",
                               _i);
    pl_run_frames(best, 1);
    double start = best->metrics.detail[0].objective, minimum = best->metrics.objective;
    ck_assert_double_gt(best->metrics.dissipated, 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        pl_run *device = damped_once(rows[k].precision, rows[k].solver, _i);
        pl_run_frames(device, 1);
        double error = (objective_at(best, pl_run_x(device)) - minimum) / (start - minimum);
        ck_assert_msg(error >= -1e-11, "%s: %g", rows[k].solver, error);
        ck_assert_msg(error <= (rows[k].precision == SINGLE ? 1e-5 : 1e-9), "%s: %g",
                      rows[k].solver, error);
        pl_run_close(device);
    }
    pl_run_close(best);
}
END_TEST

/* With terms that dissipate admm suffers most from solves that are not to the end: it may take somewhat more
 * iterations than with a factor. */
START_TEST(inexact_solves_cost_few_iterations)
{
    static const char *const ropes[] = {
        "'power_law', 'coefficient': 300, 'power': 0.5",
        "'power_law', 'coefficient': 300, 'power': 2",
        "'viscous', 'viscosity': 1e4",
    };
    char scene[512];
    snprintf(
        scene, sizeof scene,
        "'materials': {'m': {'young': 1e6, 'area': 1e-4, 'damping': {'model': %s}}},"
        "'bodies': [{'material': 'm', 'mesh': {'rope': {'length': 1, 'segments': 12}},"
        "            'initial': {'velocity': [0, 1, 0], 'shape': {'stretched': [1.2, 1, 1]}}}]",
        ropes[_i]);
    static const char solver[] = "'method': 'admm', 'iterations': 1000, 'tolerance': 1e-6";
    pl_run *cpu = damped_sheet(HOST, solver, scene), *device = damped_sheet(DOUBLE, solver, scene);
    for (int k = 0; k < 3; k++) {
        pl_run_frames(cpu, 1);
        pl_run_frames(device, 1);
        ck_assert_int_eq(device->metrics.unconverged, 0);
        ck_assert_int_le(2 * device->metrics.iterations, 5 * cpu->metrics.iterations);
    }
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

int main(void)
{
    /* To close its memory after each launch takes longer than all else. */
    if (!is_long_form())
        pl_device_leave_open();
    Suite *suite = suite_create("device_stages");
    TCase *t = tcase_create("emulated");
    tcase_add_loop_test(t, descent_meets_obstacles_as_the_cpu, 0, 3 * INTEGRATOR_COUNT);
    tcase_add_loop_test(t, single_precision_is_near, 0, INTEGRATOR_COUNT);
    tcase_add_loop_test(t, constraints_are_met_as_on_the_cpu, 0, 2 * INTEGRATOR_COUNT);
    tcase_add_loop_test(t, dissipation_is_the_cpu_s, 0, 2 * (SOLID_COUNT + SHEET_COUNT));
    tcase_add_loop_test(t, dissipation_is_split_as_on_the_cpu, 0, 2 * (SOLID_COUNT + SHEET_COUNT));
    tcase_add_loop_test(t, damped_minima_are_newton_s, 0, SOLID_COUNT + SHEET_COUNT);
    tcase_add_loop_test(t, inexact_solves_cost_few_iterations, 0, 3);
    tcase_add_test(t, factors_and_restitution_count);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
