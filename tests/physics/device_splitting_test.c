/* Methods with the constant matrix on the backend for devices, its kernels run on the host: the minima equal Newton's,
 * and ADMM's constraints hold as on the CPU. The device solves by iterations instead of a factor, so the comparison is
 * at the methods' ends. */
#include "engine/backends/device/device_backend.h"
#include "engine/backends/device/phases.h"
#include "engine/step/state.h"
#include "protocol/scene/scene_json.h"
#include "tests/support/device_run.h"
#include "tests/support/long_form.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the minimum ---- */

static pl_run *untwisting(precision p, const char *material, const char *solver)
{
    choose(p);
    return pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1}, 'output': {'metrics': 'iteration'},"
        " 'solver': {%s},"
        " 'materials': {'m': {'young': 1e6, 'model': '%s', 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}},"
        "   'initial': {'shape': {'twisted': {'turns': 0.3, 'axis': [1, 0, 0]}}}}],"
        " 'pins': [{'select': {'side': '-x'}}, {'select': {'side': '+x'}, 'axes': ['x']}]}",
        solver, material);
}

static const struct {
    const char *material, *solver;
} METHODS[] = {
    {"arap", "'method': 'projective_dynamics', 'iterations': 2000"},
    {"neo_hookean", "'method': 'admm', 'iterations': 1000"},
    {"corotated", "'method': 'admm', 'acceleration': 'nesterov', 'iterations': 2000"},
    {"neo_hookean", "'method': 'quasi_newton', 'iterations': 1000"},
    {"neo_hookean", "'method': 'auto', 'iterations': 1000"},
    {"corotated", "'method': 'chebyshev_semi_iterative', 'iterations': 2000"},
    {"stable_neo_hookean", "'method': 'admm', 'iterations': 1000"},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

START_TEST(the_minimum_is_newton_s)
{
    const char *material = METHODS[_i / 2].material;
    precision p = _i % 2 ? SINGLE : DOUBLE;
    char solver[256];
    snprintf(solver, sizeof solver, "%s, 'tolerance': %s", METHODS[_i / 2].solver,
             p == SINGLE ? "1e-4" : "1e-6");
    pl_run *best = untwisting(HOST, material,
                              "'method': 'newton', 'iterations': 100, 'tolerance': 1e-12");
    pl_run_frames(best, 1);
    double start = best->metrics.detail[0].objective, minimum = best->metrics.objective;
    pl_run *device = untwisting(p, material, solver);
    ck_assert_str_eq(device->state->whole.backend->ops->name, "emulated");
    pl_run_frames(device, 1);
    double error = (objective_at(best, pl_run_x(device)) - minimum) / (start - minimum);
    ck_assert_int_eq(device->metrics.unconverged, 0);
    ck_assert_double_ge(error, -1e-12);
    ck_assert_double_le(error, p == SINGLE ? 1e-5 : 1e-9);
    pl_run_close(best);
    pl_run_close(device);
}
END_TEST

/* ---- constraints ---- */

static const char *const HELD[] = {
    "'materials': {'m': {'young': 1e5, 'poisson': 0.3, 'thickness': 0.01,"
    "                    'strain_limit': {'low': 0.95, 'high': 1.02}, 'bending': {}}},"
    "'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [6, 6]}}}],"
    "'pins': [{'select': {'side': '-x'}}]",
    "'materials': {'m': {'young': 1e4, 'strain_limit': {'low': 0.9, 'high': 1.05}}},"
    "'bodies': [{'material': 'm', 'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}}],"
    "'pins': [{'select': {'side': '-x'}}]",
    "'materials': {'m': {'young': 1e4, 'strain_limit': {'by': 'columns', 'low': 0.9, 'high': "
    "1.05}}},"
    "'bodies': [{'material': 'm', 'mesh': {'box': {'size': [2, 1, 1], 'cells': [4, 2, 2]}}}],"
    "'pins': [{'select': {'side': '-x'}}]",
    "'materials': {'m': {'young': 1e6, 'inextensible': 'rope'}},"
    "'bodies': [{'material': 'm', 'mesh': {'rope': {'length': 2, 'segments': 12}}}],"
    "'pins': [{'select': {'side': '-x'}}]",
    "'materials': {'m': {'young': 1e5}}, 'bodies': [{'material': 'm', 'mesh': {'box': {"
    "  'size': [1, 0.2, 0.4], 'cells': [6, 2, 3]}}, 'transform': {'translate': [0.5, 0.01, 0]},"
    "  'initial': {'velocity': [0.2, -0.5, 0]}}], 'pins': [{'select': {'side': '-x'}}],"
    "'obstacles': [{'plane': {'offset': -0.12}, 'motion': {'velocity': [0.5, 0.2, 0]},"
    "               'friction': 0.5}]",
    "'materials': {'m': {'young': 1e5}}, 'bodies': [{'material': 'm', 'mesh': {'box': {"
    "  'size': [1, 0.2, 0.4], 'cells': [6, 2, 3]}}, 'transform': {'translate': [0.5, 0.01, 0]},"
    "  'initial': {'velocity': [0.2, -0.5, 0]}}], 'pins': [{'select': {'side': '-x'}}],"
    "'obstacles': [{'mesh': {'vertices': [0.3,-0.3,-0.6, 1.3,-0.3,-0.6, 0.8,-0.3,0.9,"
    "  0.8,-0.07,0.02],"
    "  'triangles': [0,1,2, 0,3,1, 1,3,2, 2,3,0]}, 'friction': 0.5}]",
};
enum { HELD_COUNT = sizeof HELD / sizeof *HELD };

static pl_run *held(precision p, const char *scene, const char *solver)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 20},"
                        " 'solver': {'method': 'admm', 'iterations': 500, %s}, %s}",
                        solver, scene);
}

static void hold_force(const char *what, const double *f, const double *on_device, precision p)
{
    for (int c = 0; c < 3; c++) { /* NaNs in both count as equal */
        ck_assert_double_finite(f[c]);
        ck_assert_double_finite(on_device[c]);
    }
    double loose = p == SINGLE ? 2e-2 : 1e-4;
    hold_numbers(what, f, on_device, 3, loose, loose);
}

/* Every step is solved as far as the precision lets it, on both. */
START_TEST(constraints_are_the_cpu_s)
{
    precision p = _i % 2 ? SINGLE : DOUBLE;
    double loose = p == SINGLE ? 1e-3 : 1e-5;
    pl_run *cpu = held(HOST, HELD[_i / 2], "'tolerance': 1e-6");
    pl_run *device = held(p, HELD[_i / 2], p == SINGLE ? "'tolerance': 1e-4" : "'tolerance': 1e-6");
    pl_run_frames(cpu, 4);
    pl_run_frames(device, 4);
    ck_assert_int_eq(cpu->metrics.unconverged, 0);
    ck_assert_int_eq(device->metrics.unconverged, 0);
    ck_assert_double_le(farthest(cpu, device), loose);
    const pl_metrics *a = &cpu->metrics, *b = &device->metrics;
    ck_assert_double_eq_tol(a->max_stretch, b->max_stretch, 10 * loose);
    hold_force("pin", a->pins[0].newton, b->pins[0].newton, p);
    bool touches = cpu->model->obstacle_count > 0;
    ck_assert(!touches || a->contacts > 0);
    if (touches)
        hold_force("obstacle", a->obstacles[0].newton, b->obstacles[0].newton, p);
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

/* A given number of iterations gives the same residuals as on the CPU: they are of the computed values. */
START_TEST(residuals_are_the_cpu_s)
{
    static const char solver[] = "'tolerance': 1e-3";
    pl_run *cpu = held(HOST, HELD[4], solver), *device = held(DOUBLE, HELD[4], solver);
    pl_run_frames(cpu, 3);
    pl_run_frames(device, 3);
    const pl_metrics *a = &cpu->metrics, *b = &device->metrics;
    ck_assert_double_gt(a->primal_residual, 0);
    ck_assert_double_gt(a->dual_residual, 0);
    ck_assert_double_le(fabs(log(b->primal_residual / a->primal_residual)), log(4));
    ck_assert_double_le(fabs(log(b->dual_residual / a->dual_residual)), log(4));
    ck_assert_double_le(fabs(log(b->decrement / a->decrement)), log(4));
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

/* ---- weights, bits, bytes ---- */

static pl_run *pressed(precision p, const char *material)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 12}, 'gravity': [0, 0, 0],"
                        " 'solver': {'method': 'admm', 'iterations': 4000, 'tolerance': 1e-9},"
                        " 'materials': {'m': {'young': 1e5, %s}},"
                        " 'bodies': [{'material': 'm', 'mesh': {'box': {'cells': [4, 4, 4]}}}],"
                        " 'pins': [{'select': {'side': '-x'}},"
                        "  {'select': {'side': '+x'}, 'motion': {'velocity': [-3, 0, 0]}}]}",
                        material);
}

/* Elements that are pressed hard get other weights, and so another matrix (solvers/weights.h). */
START_TEST(weights_follow_the_state)
{
    pl_run *cpu = pressed(HOST, "'model': 'neo_hookean', 'poisson': 0.3");
    pl_run *device = pressed(DOUBLE, "'model': 'neo_hookean', 'poisson': 0.3");
    bool changed = false;
    for (int k = 0; k < 9; k++) {
        pl_run_frames(cpu, 1);
        pl_run_frames(device, 1);
        changed = changed || device->state->whole.backend->model != device->model;
    }
    ck_assert(changed);
    ck_assert_double_le(farthest(cpu, device), 1e-6);
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

/* Solves are recorded once for each combination of arrays and set of weights, and replayed: same bits as launched
 * one by one. */
START_TEST(recorded_solves_are_plain_launches)
{
    const char *solver = METHODS[_i].solver;
    uint64_t hash[2];
    for (int plain = 0; plain < 2; plain++) {
        if (plain)
            pl_device_refuse_recordings();
        pl_run *r = _i == 1 ? pressed(DOUBLE, "'model': 'neo_hookean', 'poisson': 0.3")
                            : untwisting(DOUBLE, METHODS[_i].material, solver);
        const pl_device *d = pl_device_of(r->state->whole.backend);
        bool changed = false;
        for (int k = 0; k < (_i == 1 ? 9 : 1); k++) {
            pl_run_frames(r, 1);
            changed = changed || d->base.model != r->model;
        }
        hash[plain] = pl_run_hash(r);
        const pl_device_solves *solves = &d->system.solves;
        ck_assert_int_gt(solves->launched, 0);
        ck_assert_int_eq(solves->replayed > 0, plain == 0);
        ck_assert_int_eq(changed, _i == 1);
        if (plain == 0) { /* each combination was launched before it was recorded */
            ck_assert_int_eq(solves->recorded, solves->launched);
            ck_assert_int_le(solves->recorded, PL_DEVICE_SOLVES);
        }
        ck_assert_int_eq(pl_device_recording_error() != NULL, plain == 1);
        pl_run_close(r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

/* Two runs are equal, and so is one continued from bytes, including duals and levels of weights. */
START_TEST(same_bits_every_time)
{
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *runs[2];
    for (int k = 0; k < 2; k++)
        runs[k] = held(p, HELD[4], "'tolerance': 1e-3");
    pl_run_frames(runs[0], 8);
    void *bytes;
    size_t size;
    pl_run_frames(runs[1], 4);
    ck_assert_int_eq(pl_state_save(runs[1]->state, &bytes, &size), PL_OK);
    pl_run_frames(runs[1], 2);
    ck_assert_int_eq(pl_state_restore(runs[1]->state, bytes, size), PL_OK);
    free(bytes);
    pl_run_frames(runs[1], 4);
    ck_assert_int_gt(runs[0]->metrics.contacts, 0);
    ck_assert_uint_eq(pl_run_hash(runs[0]), pl_run_hash(runs[1]));
    for (int k = 0; k < 2; k++)
        pl_run_close(runs[k]);
}
END_TEST

/* A model for a device has no factor, and none is made for its halves. */
START_TEST(nothing_is_factored)
{
    choose(DOUBLE);
    pl_run *r = held(DOUBLE, HELD[1], "'tolerance': 1e-3");
    ck_assert_ptr_null(r->model->factor[0]);
    pl_run_frames(r, 1);
    pl_run_close(r);
}
END_TEST

/* ---- statics ---- */

/* True if a model has two boxes, the first held by pins and the other by an attachment. */
static pl_status build_statics(const char *pins, double young, pl_faults *faults)
{
    char text[1024];
    pl_scene scene = {0};
    pl_mesh meshes[2] = {0};
    pl_mesh_limits limits = {1 << 20, 1 << 22};
    pl_model *model = NULL;
    snprintf(text, sizeof text,
             "{'pliant': 1, 'time': {'step': 1, 'steps': 1, 'integrator': 'quasi_static'},"
             " 'solver': {'method': 'admm', 'device': 'gpu'},"
             " 'materials': {'m': {'young': 1e5}, 'stiff': {'young': %g}},"
             " 'bodies': [{'name': 'a', 'material': 'm', 'mesh': {'box': {'cells': [2, 2, 2]}}},"
             "  {'name': 'b', 'material': 'stiff', 'mesh': {'box': {'cells': [2, 2, 2]}},"
             "   'transform': {'translate': [1.2, 0, 0]}}],"
             " 'attachments': [{'body': 'b', 'select': {'side': '-x'}, 'to': 'a',"
             "                  'stiffness': 1}], 'pins': [%s]}",
             young, pins);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    ck_assert_int_eq(pl_scene_decode(text, strlen(text), &scene, faults), PL_DECODE_OK);
    for (int b = 0; b < 2; b++)
        ck_assert_int_eq(pl_body_load(&scene, b, NULL, &limits, &meshes[b], faults), PL_OK);
    pl_status status = pl_model_create(&scene, meshes, &model, faults);
    if (status == PL_OK)
        pl_model_destroy(model);
    for (int b = 0; b < 2; b++)
        pl_mesh_clear(&meshes[b]);
    pl_scene_clear(&scene);
    return status;
}

/* A matrix without a factor is the same fault as on the CPU; a matrix that is singular only without the pins, three of
 * which hold one axis each, is not a fault. */
START_TEST(singular_matrices_are_faults)
{
    static const char held[] = "{'body': 'a', 'select': {'side': '-x'}}";
    static const char planes[] = "{'body': 'a', 'select': {'side': '-x'}, 'axes': ['x']},"
                                 "{'body': 'a', 'select': {'side': '-y'}, 'axes': ['y']},"
                                 "{'body': 'a', 'select': {'side': '-z'}, 'axes': ['z']}";
    pl_faults faults = {0};
    ck_assert_int_eq(build_statics(held, 1e5, &faults), PL_OK);
    ck_assert_int_eq(build_statics(planes, 1e5, &faults), PL_OK);
    ck_assert_int_eq(build_statics(held, 1e15, &faults), PL_INVALID);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].code, "singular_matrix");
    pl_faults_clear(&faults);
}
END_TEST

int main(void)
{
    /* To close its memory after each launch takes longer than all else. */
    if (!is_long_form())
        pl_device_leave_open();
    TCase *t = tcase_create("emulated");
    tcase_add_loop_test(t, the_minimum_is_newton_s, 0, 2 * METHOD_COUNT);
    tcase_add_loop_test(t, constraints_are_the_cpu_s, 0, 2 * HELD_COUNT);
    tcase_add_test(t, residuals_are_the_cpu_s);
    tcase_add_test(t, weights_follow_the_state);
    tcase_add_loop_test(t, recorded_solves_are_plain_launches, 0, METHOD_COUNT);
    tcase_add_loop_test(t, same_bits_every_time, 0, 2);
    tcase_add_test(t, nothing_is_factored);
    tcase_add_test(t, singular_matrices_are_faults);
    return run_cases("device_splitting", t);
}
