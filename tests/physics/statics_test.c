/* Equilibria without inertia: force over stretch, linear theory, and which scenes are allowed. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include "protocol/scene/scene_json.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = {"admm", "quasi_newton", "newton"};
static const char *const MODELS[] = {"neo_hookean", "corotated", "arap"};
enum { METHOD_COUNT = 3, MODEL_COUNT = 3 };

static const double MU = 3.5e4, LAMBDA = 1.2e5;

/* Principal stresses dPsi/ds of the three models at the stretches (s, t, t): along s, and along t.
 * They are energies of README's materials table, differentiated by hand. */
static void stress(int model, double s, double t, double *along, double *across)
{
    double J = s * t * t, volume = LAMBDA * (s + 2 * t - 3);
    switch (model) {
    case 0:
        *along = MU * (s - 1 / s) + LAMBDA * log(J) / s;
        *across = MU * (t - 1 / t) + LAMBDA * log(J) / t;
        break;
    case 1:
        *along = 2 * MU * (s - 1) + volume;
        *across = 2 * MU * (t - 1) + volume;
        break;
    default:
        *along = 2 * MU * (s - 1);
        *across = 2 * MU * (t - 1);
    }
}

/* The sides are free: t is where they carry no stress. Bisection. */
static double force_of(int model, double s, double *t)
{
    double lo = 0.1, hi = 10, along, across;
    for (int k = 0; k < 200; k++) {
        *t = (lo + hi) / 2;
        stress(model, s, *t, &along, &across);
        *(across > 0 ? &hi : &lo) = *t;
    }
    stress(model, s, *t, &along, &across);
    return along;
}

/* A cube of 1 m whose ends are held along x alone, and moved from step to step; planes of symmetry
 * hold it across. The stress is the same everywhere, so the reaction is dPsi/ds times 1 m^2, to 1e-6
 * of the force, for stretches of 0.6 to 1.8; the sides are at t. */
START_TEST(force_against_stretch)
{
    int model = _i % MODEL_COUNT;
    double young = MU * (3 * LAMBDA + 2 * MU) / (LAMBDA + MU),
           poisson = LAMBDA / (2 * (LAMBDA + MU));
    for (int way = -1; way <= 1; way += 2) {
        double most = way < 0 ? -0.4 : 0.8;
        pl_run *r = pl_run_openf(
            1,
            "{'pliant': 1, 'time': {'step': 1, 'steps': 4, 'integrator': 'quasi_static'},"
            " 'gravity': [0, 0, 0],"
            " 'solver': {'method': '%s', 'iterations': 4000, 'tolerance': 1e-8},"
            " 'materials': {'m': {'model': '%s', 'young': %.17g, 'poisson': %.17g}},"
            " 'bodies': [{'mesh': {'box': {'cells': [3, 3, 3]}}}],"
            " 'pins': [{'select': {'side': '-x'}, 'axes': ['x']},"
            "          {'select': {'side': '+x'}, 'axes': ['x'],"
            "           'motion': {'keyframes': [{'time': 4, 'translate': [%g, 0, 0]}]}},"
            "          {'select': {'side': '-y'}, 'axes': ['y']},"
            "          {'select': {'side': '-z'}, 'axes': ['z']}]}",
            METHODS[_i / MODEL_COUNT], MODELS[model], young, poisson, most);
        for (int k = 1; k <= 4; k++) {
            pl_run_frames(r, 1);
            double s = 1 + most * k / 4, t, force = force_of(model, s, &t);
            ck_assert_int_eq(r->metrics.unconverged, 0);
            ck_assert_double_eq_tol(r->metrics.pins[1].newton[0], force, 1e-6 * fabs(force));
            ck_assert_double_eq_tol(r->metrics.pins[0].newton[0], -force, 1e-6 * fabs(force));
            ck_assert(r->metrics.kinetic == 0 && r->metrics.linear[0] == 0);
            for (int64_t i = 0; i < pl_run_vertices(r); i++) {
                const double *rest = r->meshes[0].vertices + 3 * i;
                ck_assert_double_eq_tol(pl_run_x(r)[3 * i + 1], -0.5 + t * (rest[1] + 0.5), 1e-6);
            }
        }
        pl_run_close(r);
    }
}
END_TEST

/* A bar under a small load on its end: by Saint-Venant its middle, far from where equal shares are
 * not an even stress, moves by f L / (2 E A). Sides held, poisson 0: nothing happens across. */
START_TEST(point_load_is_linear_theory)
{
    const double E = 1e6, L = 4, force = 10;
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'time': {'step': 1, 'steps': 1, 'integrator': 'quasi_static'},"
        " 'gravity': [0, 0, 0],"
        " 'solver': {'method': '%s', 'iterations': 4000, 'tolerance': 1e-10},"
        " 'materials': {'m': {'young': %g, 'poisson': 0}},"
        " 'bodies': [{'mesh': {'box': {'size': [%g, 1, 1], 'cells': [16, 2, 2]}}}],"
        " 'pins': [{'select': {'side': '-x'}, 'axes': ['x']},"
        "          {'select': 'all', 'axes': ['y', 'z']}],"
        " 'forces': [{'name': 'pull', 'point': {'select': {'side': '+x'}, 'force': [%g, 0, 0]}}]}",
        METHODS[_i], E, L, force);
    pl_run_frames(r, 1);
    ck_assert_int_eq(r->metrics.unconverged, 0);
    double middle = 0;
    int count = 0;
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        if (fabs(r->meshes[0].vertices[3 * i]) < 1e-9) {
            middle += pl_run_x(r)[3 * i];
            count++;
        }
    ck_assert_int_eq(count, 9);
    ck_assert_double_eq_tol(middle / count, force * L / 2 / E, 2e-3 * force * L / 2 / E);
    ck_assert_double_eq_tol(r->metrics.pins[0].newton[0], -force, 1e-6 * force);
    ck_assert_double_eq(r->metrics.forces[0].newton[0], force);
    pl_run_close(r);
}
END_TEST

/* A hung bar under gravity stretches by rho g L^2 / (2 E), and its pin carries all of its weight. */
START_TEST(gravity_is_a_load)
{
    const double L = 2, E = 1e7, g = 9.81;
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 1, 'steps': 2, 'integrator': 'quasi_static'},"
                     " 'solver': {'method': '%s', 'iterations': 4000, 'tolerance': 1e-10},"
                     " 'materials': {'m': {'young': %g, 'poisson': 0}},"
                     " 'bodies': [{'mesh': {'box': {'size': [0.5, %g, 0.5], 'cells': [2, 16, 2]}},"
                     "             'initial': {'velocity': [3, 2, 1]}}],"
                     " 'pins': [{'select': {'side': '+y'}}]}",
                     METHODS[_i], E, L);
    for (int frame = 0; frame < 2; frame++) {
        pl_run_frames(r, 1);
        double bottom = 0, stretch = 1000 * g * L * L / (2 * E), weight = 1000 * g * L * 0.25;
        for (int64_t i = 0; i < pl_run_vertices(r); i++)
            if (r->meshes[0].vertices[3 * i + 1] < -L / 2 + 1e-9)
                bottom += pl_run_x(r)[3 * i + 1] / 9;
        ck_assert_double_eq_tol(-L / 2 - bottom, stretch, 0.02 * stretch);
        ck_assert_double_eq_tol(r->metrics.pins[0].newton[1], weight, 1e-6 * weight);
        ck_assert(r->metrics.kinetic == 0);
    }
    pl_run_close(r);
}
END_TEST

/* Scenes without an equilibrium are rejected, naming each piece and axis. */
static void refused(const char *pins, const char *got)
{
    char json[1024];
    snprintf(json, sizeof json,
             "{\"pliant\": 1, \"time\": {\"integrator\": \"quasi_static\"},"
             " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}},"
             "              {\"name\": \"b\", \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}}],"
             " \"pins\": [{\"body\": \"body-0\", \"select\": \"all\", \"axes\": [\"x\"]}%s]}",
             pins);
    pl_scene scene;
    pl_faults faults = {0};
    pl_mesh meshes[2];
    pl_mesh_limits limits = {1000, 1000};
    ck_assert_int_eq(pl_scene_decode(json, strlen(json), &scene, &faults), PL_DECODE_OK);
    for (int b = 0; b < 2; b++)
        ck_assert_int_eq(pl_body_load(&scene, b, NULL, &limits, &meshes[b], &faults), PL_OK);
    pl_estimate estimate;
    pl_status status = pl_scene_check(&scene, meshes, &estimate, NULL, &faults);
    ck_assert_int_eq(status, got ? PL_INVALID : PL_OK);
    if (got) {
        const pl_fault *last = &faults.items[faults.count - 1];
        ck_assert_str_eq(last->code, "not_held");
        ck_assert_str_eq(last->pointer, "/bodies/1");
        ck_assert_msg(strstr(last->got, got), "%s", last->got);
    }
    for (int b = 0; b < 2; b++)
        pl_mesh_clear(&meshes[b]);
    pl_scene_clear(&scene);
    pl_faults_clear(&faults);
}

START_TEST(what_floats_is_refused)
{
    static const char whole[] =
        ", {\"body\": \"body-0\", \"select\": {\"indices\": [0]}, \"axes\": [\"y\", \"z\"]}";
    char pins[512];
    refused("", "along x, y, z");
    snprintf(pins, sizeof pins, "%s, {\"body\": \"b\", \"select\": {\"indices\": [3]}}", whole);
    refused(pins, NULL);
    snprintf(pins, sizeof pins,
             "%s, {\"body\": \"b\", \"select\": {\"side\": \"-x\"}, \"axes\": [\"x\", \"z\"]}",
             whole);
    refused(pins, "along y");
}
END_TEST

/* A body that starts bent ends where no force is left, whatever the step. */
START_TEST(step_decides_nothing)
{
    double x[2] = {0};
    for (int k = 0; k < 2; k++) {
        pl_run *r = pl_run_openf(
            k + 1,
            "{'pliant': 1, 'time': {'step': %g, 'steps': 1, 'integrator': 'quasi_static'},"
            " 'solver': {'method': '%s', 'iterations': 500, 'tolerance': 1e-6},"
            " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}}],"
            " 'pins': [{'select': {'side': '-x'}}]}",
            k ? 1e-3 : 100.0, METHODS[_i]);
        pl_run_frames(r, 1);
        x[k] = pl_run_x(r)[3 * (pl_run_vertices(r) - 1) + 1];
        pl_run_close(r);
    }
    ck_assert(x[0] == x[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("statics");
    TCase *c = tcase_create("quasi_static");
    tcase_add_loop_test(c, force_against_stretch, 0, MODEL_COUNT * METHOD_COUNT);
    tcase_add_loop_test(c, point_load_is_linear_theory, 0, METHOD_COUNT);
    tcase_add_loop_test(c, gravity_is_a_load, 0, METHOD_COUNT);
    tcase_add_test(c, what_floats_is_refused);
    tcase_add_loop_test(c, step_decides_nothing, 0, METHOD_COUNT);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
