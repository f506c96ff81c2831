/* The backend for devices (engine/backends/device), its kernels run on the host: the CPU's numbers to rounding, for
 * every supported material and element with every supported method; the same bits every time; unsupported features are
 * rejected with the reason. */
#include "engine/backends/device/device_backend.h"
#include "engine/backends/device/phases.h"
#include "engine/step/state.h"
#include "tests/support/device_run.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What positions may be apart, of the body's size, after some steps of a fixed number of iterations. */
static double tolerance_of(precision p)
{
    return p == SINGLE ? 2e-4 : 1e-9;
}

/* A force of three components. */
static void hold_force(const char *what, const double *f, const double *on_device, precision p)
{
    for (int c = 0; c < 3; c++) { /* NaNs in both count as equal */
        ck_assert_double_finite(f[c]);
        ck_assert_double_finite(on_device[c]);
    }
    hold_numbers(what, f, on_device, 3, p == SINGLE ? 1e-2 : 1e-6, 1e-9);
}

static void hold_against_the_cpu(pl_run *cpu, pl_run *device, precision p, double size)
{
    ck_assert_double_le(farthest(cpu, device), tolerance_of(p) * size);
    const pl_metrics *a = &cpu->metrics, *b = &device->metrics;
    double loose = p == SINGLE ? 5e-3 : 1e-7;
    ck_assert_double_eq_tol(a->elastic, b->elastic, loose * fabs(a->elastic) + 1e-9);
    ck_assert_double_eq_tol(a->kinetic, b->kinetic, loose * fabs(a->kinetic) + 1e-9);
    ck_assert_double_eq_tol(a->max_stretch, b->max_stretch, loose);
    ck_assert_int_eq(a->inverted, b->inverted);
    ck_assert_int_eq(a->iterations, b->iterations);
    hold_force("pin", a->pins[0].newton, b->pins[0].newton, p);
    ck_assert_int_eq(a->contacts, b->contacts);
    for (int32_t k = 0; k < cpu->model->obstacle_count; k++) {
        hold_force("obstacle", a->obstacles[k].newton, b->obstacles[k].newton, p);
        ck_assert_double_eq_tol(a->penetration[k], b->penetration[k], tolerance_of(p) * size);
    }
}

/* Both are closed. */
static void three_frames_are_the_same(pl_run *cpu, pl_run *device, precision p)
{
    for (int k = 0; k < 3; k++) {
        pl_run_frames(cpu, 1);
        pl_run_frames(device, 1);
        hold_against_the_cpu(cpu, device, p, 2);
    }
    pl_run_close(cpu);
    pl_run_close(device);
}

/* ---- materials of tetrahedra ---- */

static const char *const MATERIALS[] = {
    "'model': 'neo_hookean'",
    "'model': 'corotated'",
    "'model': 'arap'",
    "'model': 'stvk'",
    "'model': 'stable_neo_hookean'",
    "'model': 'neo_hookean_wang'",
    "'model': 'mooney_rivlin'",
    "'model': 'fung'",
    "'model': 'polynomial'",
    "'model': 'hencky'",
    "'model': 'spline', 'splines': 'A'",
    "'model': 'neo_hookean', 'invertible': true",
    "'model': 'arap', 'fibers': {'stiffness': 1e5, 'direction': [1, 1, 0]}",
};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof *MATERIALS };

static pl_run *bar(precision p, const char *solver, const char *material, const char *detail)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 8},"
                        " 'solver': {%s, 'tolerance': 0, 'initial_guess': 'velocity'},"
                        " 'output': {'metrics': '%s'},"
                        " 'materials': {'m': {'young': 1e5, 'poisson': 0.35, %s}},"
                        " 'bodies': [{'material': 'm',"
                        "   'mesh': {'box': {'size': [2, 1, 1], 'cells': [6, 3, 3]}}}],"
                        " 'pins': [{'select': {'side': '-x'}},"
                        "          {'select': {'side': '+x'}, 'motion': {'axis': [1, 0, 0],"
                        "           'degrees_per_second': 200}}],"
                        " 'forces': [{'wind': {'velocity': [0, 0, 6]}}]}",
                        solver, detail, material);
}

START_TEST(materials_are_the_cpu_s)
{
    static const char solver[] = "'method': 'chebyshev_descent', 'iterations': 48";
    const char *material = MATERIALS[_i / 2];
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *cpu = bar(HOST, solver, material, "frame"), *device = bar(p, solver, material, "frame");
    ck_assert_str_eq(device->state->whole.backend->ops->name, "emulated");
    three_frames_are_the_same(cpu, device, p);
}
END_TEST

/* 1 / P of a bent, stretched and rotated bar, [3 free_vertices] on the heap. Converged iterations would reveal little
 * of it. */
static double *jacobi_of(pl_run *run)
{
    pl_backend *b = run->state->whole.backend;
    int64_t n = pl_run_vertices(run), rows = 3 * run->model->free_vertices;
    double *bent = malloc(3 * (size_t)n * sizeof *bent);
    for (int64_t v = 0; v < n; v++) {
        const double *x = run->model->x0 + 3 * v;
        double angle = 0.7 * x[0], y = 1.2 * x[1] + 0.1 * x[2] * x[2], z = 0.9 * x[2];
        bent[3 * v] = 1.1 * x[0] + 0.2 * x[1] * x[1];
        bent[3 * v + 1] = cos(angle) * y - sin(angle) * z;
        bent[3 * v + 2] = sin(angle) * y + cos(angle) * z;
    }
    const pl_backend_stage stage = {.scalars = {.inertia = run->model->inertia}};
    pl_array *x = pl_run_upload(run, bent, 3 * n), *inverse = b->ops->memory->alloc(b, rows);
    b->ops->descent->jacobi(b, &stage, x, inverse);
    double *out = pl_run_download(run, inverse, rows);
    b->ops->memory->release(b, x);
    b->ops->memory->release(b, inverse);
    free(bent);
    return out;
}

START_TEST(preconditioners_are_the_cpu_s)
{
    static const char solver[] = "'method': 'chebyshev_descent', 'iterations': 48";
    const char *material = MATERIALS[_i / 2];
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *cpu = bar(HOST, solver, material, "frame"), *device = bar(p, solver, material, "frame");
    double *a = jacobi_of(cpu), *b = jacobi_of(device);
    for (int64_t i = 0; i < 3 * cpu->model->free_vertices; i++)
        ck_assert_double_eq_tol(b[i], a[i], (p == SINGLE ? 1e-4 : 1e-11) * a[i]);
    free(a);
    free(b);
    pl_run_close(cpu);
    pl_run_close(device);
}
END_TEST

/* ---- methods ---- */

static const char *const METHODS[] = {
    "'method': 'chebyshev_descent', 'iterations': 60, 'phases': 3",
    "'method': 'chebyshev_descent', 'iterations': 60, 'preconditioner': 'none'",
    "'method': 'gradient_descent', 'iterations': 40",
    "'method': 'barzilai_borwein', 'iterations': 40",
    "'method': 'nonlinear_cg', 'iterations': 30",
    "'method': 'lbfgs', 'iterations': 30, 'window': 20",
    "'method': 'lbfgs', 'iterations': 30, 'line_search': 'wolfe', 'preconditioner': 'constant'",
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

START_TEST(methods_are_the_cpu_s)
{
    pl_run *cpu = bar(HOST, METHODS[_i], "'model': 'corotated'", "frame");
    pl_run *device = bar(DOUBLE, METHODS[_i], "'model': 'corotated'", "frame");
    three_frames_are_the_same(cpu, device, DOUBLE);
}
END_TEST

/* Iterations in a row equal those checked one by one; two runs are equal; and so is one continued from bytes: all to
 * the bit. */
START_TEST(same_bits_every_time)
{
    static const char solver[] = "'method': 'chebyshev_descent', 'iterations': 45, 'phases': 2";
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *runs[3];
    for (int k = 0; k < 3; k++) {
        runs[k] = bar(p, solver, MATERIALS[_i], k == 1 ? "iteration" : "frame");
        pl_run_frames(runs[k], k == 2 ? 2 : 4);
    }
    ck_assert_int_eq(runs[1]->metrics.detail_count, 46);
    ck_assert_uint_eq(pl_run_hash(runs[0]), pl_run_hash(runs[1]));
    void *bytes;
    size_t size;
    ck_assert_int_eq(pl_state_save(runs[2]->state, &bytes, &size), PL_OK);
    pl_run_frames(runs[2], 1);
    ck_assert_int_eq(pl_state_restore(runs[2]->state, bytes, size), PL_OK);
    free(bytes);
    pl_run_frames(runs[2], 2);
    ck_assert_uint_eq(pl_run_hash(runs[0]), pl_run_hash(runs[2]));
    for (int k = 0; k < 3; k++)
        pl_run_close(runs[k]);
}
END_TEST

/* ---- the minimum ---- */

static pl_run *untwisting(precision p, const char *solver)
{
    choose(p);
    return pl_run_openf(
        2,
        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1}, 'output': {'metrics': 'iteration'},"
        " 'solver': {%s},"
        " 'materials': {'m': {'young': 1e6, 'model': 'neo_hookean', 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}},"
        "   'initial': {'shape': {'twisted': {'turns': 0.3, 'axis': [1, 0, 0]}}}}],"
        " 'pins': [{'select': {'side': '-x'}}]}",
        solver);
}

START_TEST(the_minimum_is_newton_s)
{
    static const char *const solvers[] = {
        "'method': 'chebyshev_descent', 'iterations': 5000, 'tolerance': %s",
        "'method': 'lbfgs', 'iterations': 3000, 'tolerance': %s",
        "'method': 'nonlinear_cg', 'iterations': 3000, 'tolerance': %s",
    };
    precision p = _i % 2 ? SINGLE : DOUBLE;
    char solver[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(solver, sizeof solver, solvers[_i / 2], p == SINGLE ? "1e-5" : "1e-8");
#pragma GCC diagnostic pop
    pl_run *best = untwisting(HOST, "'method': 'newton', 'iterations': 100, 'tolerance': 1e-12");
    pl_run_frames(best, 1);
    double start = best->metrics.detail[0].objective, minimum = best->metrics.objective;
    pl_run *device = untwisting(p, solver);
    pl_run_frames(device, 1);
    ck_assert_int_eq(device->metrics.unconverged, 0);
    double error = (objective_at(best, pl_run_x(device)) - minimum) / (start - minimum);
    ck_assert_double_ge(error, -1e-12);
    ck_assert_double_le(error, p == SINGLE ? 1e-5 : 1e-9);
    pl_run_close(best);
    pl_run_close(device);
}
END_TEST

/* ---- cloth, ropes, attachments ---- */

static const char *const SHEETS[] = {
    "'materials': {'m': {'model': 'neo_hookean', 'young': 1e5, 'poisson': 0.3, 'thickness': 0.01,"
    "                    'bending': {}}},"
    "'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [8, 8]}}}],"
    "'pins': [{'select': {'side': '-x'}}]",
    "'materials': {'m': {'model': 'neo_hookean', 'young': 1e5, 'poisson': 0.3, 'thickness': 0.01,"
    "                    'bending': {'model': 'hinge'}}},"
    "'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [8, 8]}}}],"
    "'pins': [{'select': {'side': '-x'}}]",
    "'materials': {'m': {'young': 1e6, 'bending': {}}},"
    "'bodies': [{'material': 'm', 'mesh': {'rope': {'length': 2, 'segments': 20}}}],"
    "'pins': [{'select': {'side': '-x'}}]",
    "'bodies': [{'name': 'a', 'mesh': {'box': {'cells': [2, 2, 2]}}},"
    "           {'name': 'b', 'mesh': {'box': {'cells': [2, 2, 2]}},"
    "            'transform': {'translate': [1.2, 0, 0]}}],"
    "'pins': [{'body': 'a', 'select': {'side': '-x'}}],"
    "'attachments': [{'body': 'b', 'select': {'side': '-x'}, 'to': 'a',"
    "                 'stiffness': 1e5}]",
};
enum { SHEET_COUNT = sizeof SHEETS / sizeof *SHEETS };

static pl_run *sheet(precision p, const char *scene)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 8},"
                        " 'solver': {'method': 'chebyshev_descent', 'iterations': 64,"
                        "            'tolerance': 0, 'initial_guess': 'velocity'}, %s}",
                        scene);
}

START_TEST(sheets_are_the_cpu_s)
{
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *cpu = sheet(HOST, SHEETS[_i / 2]), *device = sheet(p, SHEETS[_i / 2]);
    three_frames_are_the_same(cpu, device, p);
}
END_TEST

/* ---- obstacles ---- */

/* Each holds up the free end of a bar that is let go just above it, with friction. */
static const char *const OBSTACLES[] = {
    "'plane': {'offset': -0.12}, 'motion': {'velocity': [0.5, 0.2, 0]}",
    "'sphere': {'center': [0.7, -0.6, 0.1], 'radius': 0.5}",
    "'sphere': {'center': [0.5, 0.9, 0], 'radius': 1.12, 'inside': true}",
    "'box': {'center': [0.8, -0.25, 0], 'size': [0.5, 0.3, 0.7], 'rounding': 0.02,"
    "        'rotate': {'axis': [0, 1, 0], 'degrees': 20}},"
    " 'motion': {'axis': [0, 0, 1], 'degrees_per_second': 30}",
    "'cylinder': {'center': [0.8, -0.3, 0], 'axis': [0, 0.2, 1], 'radius': 0.2, 'height': 0.3}",
    "'capsule': {'center': [0.8, -0.3, 0], 'axis': [0, 0.2, 1], 'radius': 0.2, 'height': 0.2}",
    "'cone': {'center': [0.8, -0.36, 0], 'axis': [0.1, -1, 0], 'radius': 0.3, 'height': 0.5}",
    "'torus': {'center': [0.8, -0.2, 0], 'radius': 0.12, 'tube': 0.09}",
    "'heightfield': {'center': [0.5, -0.34, 0], 'spacing': 0.5,"
    "  'heights': [[0.2, 0.2, 0.2], [0.2, 0.25, 0.22], [0.2, 0.23, 0.22]]}",
    "'mesh': {'vertices': [0.5,-0.5,-0.3, 1.1,-0.5,-0.3, 0.8,-0.5,0.4, 0.8,-0.1,0.02],"
    "  'triangles': [0,1,2, 0,3,1, 1,3,2, 2,3,0]}",
    "'plane': {'offset': -0.17}, 'margin': 0.05",
    "'mesh': {'vertices': [0.5,-0.5,-0.3, 1.1,-0.5,-0.3, 0.8,-0.5,0.4, 0.8,-0.2,0.02],"
    "  'triangles': [0,1,2, 0,3,1, 1,3,2, 2,3,0]}, 'margin': 0.1",
};
enum { OBSTACLE_COUNT = sizeof OBSTACLES / sizeof *OBSTACLES };

static pl_run *falling(precision p, const char *method, const char *obstacle)
{
    choose(p);
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.02, 'steps': 8},"
                        " 'solver': {%s, 'tolerance': 0, 'initial_guess': 'velocity'},"
                        " 'materials': {'m': {'young': 1e5, 'poisson': 0.35}},"
                        " 'bodies': [{'material': 'm', 'mesh': {'box': {'size': [1, 0.2, 0.4],"
                        "   'cells': [10, 2, 4]}}, 'transform': {'translate': [0.5, 0.01, 0]},"
                        "   'initial': {'velocity': [0.2, -0.5, 0]}}],"
                        " 'pins': [{'select': {'side': '-x'}}],"
                        " 'obstacles': [{%s, 'friction': 0.5}]}",
                        method, obstacle);
}

START_TEST(obstacles_are_the_cpu_s)
{
    static const char method[] = "'method': 'chebyshev_descent', 'iterations': 48";
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *cpu = falling(HOST, method, OBSTACLES[_i / 2]);
    pl_run *device = falling(p, method, OBSTACLES[_i / 2]);
    pl_run_frames(cpu, 5);
    ck_assert_int_gt(cpu->metrics.contacts, 0);
    pl_run_frames(device, 5);
    three_frames_are_the_same(cpu, device, p);
}
END_TEST

/* Changes between two steps also change the device: gravity, a pin without a motion, an obstacle with one. */
START_TEST(changes_are_the_cpu_s)
{
    static const char method[] = "'method': 'chebyshev_descent', 'iterations': 48";
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run *runs[2] = {falling(HOST, method, OBSTACLES[0]), falling(p, method, OBSTACLES[0])};
    for (int k = 0; k < 2; k++) {
        pl_change_motion pin = {.motion = {.present = true, .velocity = {0.1, 0.2, 0}}};
        pl_change_motion below = {
            .motion = {.present = true, .axis = {0, 0, 1}, .degrees_per_second = 60}};
        pl_change change = {.has_gravity = true,
                            .gravity = {1, -4, 0},
                            .pin_count = 1,
                            .obstacle_count = 1,
                            .pins = &pin,
                            .obstacles = &below};
        pl_run_frames(runs[k], 2);
        ck_assert_int_eq(pl_model_change(runs[k]->model, &change, pl_state_time(runs[k]->state)),
                         PL_OK);
        pl_run_frames(runs[k], 3);
    }
    ck_assert_int_gt(runs[0]->metrics.contacts, 0);
    three_frames_are_the_same(runs[0], runs[1], p);
}
END_TEST

/* Recorded launches do what plain ones do, to the bit, whatever changes between them: weights in every run,
 * an obstacle that moves and gravity between steps; and where nothing but weights changes they are recorded
 * once for each array that positions are in, and each length of a run. */
START_TEST(recordings_are_plain_launches)
{
    static const char method[] = "'method': 'chebyshev_descent', 'iterations': 48";
    const char *obstacle = _i == 0 ? "'plane': {'offset': -0.12}" : OBSTACLES[0];
    uint64_t hash[2];
    for (int plain = 0; plain < 2; plain++) {
        if (plain)
            pl_device_refuse_recordings();
        pl_run *r = falling(DOUBLE, method, obstacle);
        pl_change change = {.has_gravity = true, .gravity = {1, -4, 0}};
        pl_run_frames(r, 3);
        if (_i == 1)
            ck_assert_int_eq(pl_model_change(r->model, &change, pl_state_time(r->state)), PL_OK);
        pl_run_frames(r, 4);
        ck_assert_int_gt(r->metrics.contacts, 0);
        hash[plain] = pl_run_hash(r);
        const pl_device_runs *runs = &pl_device_of(r->state->whole.backend)->runs;
        ck_assert_int_eq(runs->launched > 1, plain == 1); /* the first is never recorded */
        ck_assert_int_eq(runs->replayed > 0, plain == 0);
        if (plain == 0 && _i == 0)
            ck_assert_int_le(runs->recorded, PL_DEVICE_RUNS);
        ck_assert_int_eq(pl_device_recording_error() != NULL, plain == 1);
        pl_run_close(r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

/* ---- frames ---- */

/* The numbers of a frame as the CPU has them of the same positions and velocities. */
static void convert_on_the_cpu(pl_run *r, bool single, bool velocities, void *out, size_t size)
{
    pl_run *cpu = falling(HOST, "'method': 'chebyshev_descent'", OBSTACLES[0]);
    pl_state_enter(cpu->state, 3, pl_state_positions(r->state), pl_state_velocities(r->state));
    ck_assert_int_eq(pl_state_fetch(cpu->state, single, velocities), PL_OK);
    const void *values = pl_state_fetched(cpu->state, false);
    ck_assert_ptr_nonnull(values);
    memcpy(out, values, size);
    pl_run_close(cpu);
}

typedef struct watcher {
    pl_state *state;
    int asked, early; /* before anything had come */
    const void *values;
} watcher;

static void watch(void *context)
{
    watcher *w = context;
    w->asked++;
    w->values = w->values ? w->values : pl_state_fetched(w->state, false);
    w->early += w->values == NULL;
}

/* A frame's numbers are those of the state that was fetched, equal to the CPU's to the bit, however late they arrive;
 * unless a device holds them back, they arrive during the next step. */
START_TEST(frames_come_while_the_next_step_runs)
{
    precision p = _i & 1 ? SINGLE : DOUBLE;
    bool single = _i & 2, velocities = _i & 4;
    pl_run *r = falling(p, "'method': 'chebyshev_descent', 'iterations': 24", OBSTACLES[0]);
    size_t size = (size_t)(3 * pl_run_vertices(r)) * (velocities ? 2 : 1) * (single ? 4 : 8);
    char *then = malloc(size);
    pl_run_frames(r, 3);
    convert_on_the_cpu(r, single, velocities, then, size);
    pl_device_hold_transfers(true);
    ck_assert_int_eq(pl_state_fetch(r->state, single, velocities), PL_OK);
    ck_assert_int_eq(pl_device_transfers_under_way(), 1);
    pl_run_frames(r, 2);
    ck_assert_int_eq(pl_device_transfers_under_way(), 1);
    ck_assert_ptr_null(pl_state_fetched(r->state, false));
    ck_assert_mem_eq(pl_state_fetched(r->state, true), then, size);
    ck_assert_int_eq(pl_device_transfers_under_way(), 0);

    /* Asked again before it has come: what comes is of the later state. */
    ck_assert_int_eq(pl_state_fetch(r->state, single, velocities), PL_OK);
    pl_run_frames(r, 1);
    convert_on_the_cpu(r, single, velocities, then, size);
    ck_assert_int_eq(pl_state_fetch(r->state, single, velocities), PL_OK);
    ck_assert_int_eq(pl_device_transfers_under_way(), 1);

    watcher w = {.state = r->state};
    pl_state_meanwhile(r->state, watch, &w);
    pl_device_hold_transfers(false);
    pl_run_frames(r, 1);
    ck_assert_int_gt(w.early, 0);
    ck_assert_int_gt(w.asked, w.early);
    ck_assert_mem_eq(w.values, then, size);
    pl_state_meanwhile(r->state, NULL, NULL);
    w.asked = 0;
    pl_run_frames(r, 1);
    ck_assert_int_eq(w.asked, 0);
    free(then);
    pl_run_close(r);
}
END_TEST

/* ---- unsupported features ---- */

static const struct {
    const char *solver, *scene, *reason;
} LACKING[] = {
    {"'method': 'newton'", "'bodies': [{'mesh': {'box': {}}}]", "Hessian"},
    {"'method': 'vertex_block_descent'", "'bodies': [{'mesh': {'box': {}}}]", "after another"},
};
enum { LACKING_COUNT = sizeof LACKING / sizeof *LACKING };

START_TEST(what_it_lacks_is_refused)
{
    pl_run_on_host();
    pl_run *r = pl_run_openf(1, "{'pliant': 1, 'solver': {%s}, %s}", LACKING[_i].solver,
                             LACKING[_i].scene);
    const char *why = pl_backend_refuses(&pl_backend_device_f64, r->model);
    ck_assert_ptr_nonnull(why);
    ck_assert_ptr_nonnull(strstr(why, LACKING[_i].reason));
    r->model->solver.device = PL_DEVICE_GPU;
    pl_backend_register(&pl_backend_device_f64);
    pl_state *state;
    ck_assert_int_eq(pl_state_create(r->model, 1, &state), PL_UNSUPPORTED);
    pl_backend_register(NULL);
    ck_assert_int_eq(pl_state_create(r->model, 1, &state), PL_UNSUPPORTED);
    r->model->solver.device = PL_DEVICE_CPU;
    pl_run_close(r);
}
END_TEST

/* ---- carries.h says the same to users ---- */

static const struct {
    const char *solver, *scene, *pointer; /* NULL: a GPU has it all */
} GPU_SCENES[] = {
    {"'method': 'admm'", "'bodies': [{'mesh': {'box': {}}}], 'obstacles': [{'plane': {}}]", NULL},
    {"'method': 'quasi_newton'", "'bodies': [{'mesh': {'box': {}}}]", NULL},
    {"'method': 'chebyshev_semi_iterative'", "'bodies': [{'mesh': {'box': {}}}]", NULL},
    {"'method': 'projective_dynamics'",
     "'materials': {'m': {'model': 'arap'}}, 'bodies': [{'material': 'm', 'mesh': {'box': {}}}]",
     NULL},
    {"'method': 'newton'", "'bodies': [{'mesh': {'box': {}}}]", "/solver/method"},
    {"'method': 'vertex_block_descent'", "'bodies': [{'mesh': {'box': {}}}]", "/solver/method"},
    {"'method': 'lbfgs'", "'bodies': [{'mesh': {'box': {}}}], 'obstacles': [{'plane': {}}]", NULL},
    {"'method': 'lbfgs'",
     "'materials': {'a/b': {'bending': {'model': 'hinge'}}},"
     "'bodies': [{'material': 'a/b', 'mesh': {'cloth': {}}}]",
     NULL},
    {"'method': 'admm'",
     "'materials': {'m': {'strain_limit': {}}}, 'bodies': [{'material': 'm', 'mesh': {'cloth': "
     "{}}}]",
     NULL},
    {"'method': 'admm'",
     "'materials': {'m': {'strain_limit': {}}}, 'bodies': [{'material': 'm', 'mesh': {'box': {}}}]",
     NULL},
    {"'method': 'admm'",
     "'materials': {'m': {'inextensible': 'rope'}}, 'bodies': [{'material': 'm', 'mesh': {'rope': "
     "{}}}]",
     NULL},
    {"'method': 'chebyshev_descent'", "'bodies': [{'mesh': {'box': {}}}]", NULL},
    {"'method': 'admm'",
     "'time': {'step': 0.01, 'steps': 2, 'integrator': 'tr_bdf2'},"
     "'bodies': [{'mesh': {'box': {}}, 'friction': 0.5}],"
     "'obstacles': [{'plane': {}, 'restitution': 0.5}]",
     NULL},
    {"'method': 'gradient_descent'",
     "'materials': {'m': {'bending': {'model': 'quadratic'}}},"
     "'bodies': [{'material': 'm', 'mesh': {'cloth': {}}}]",
     NULL},
    {"'method': 'nonlinear_cg'",
     "'materials': {'m': {'bending': {}}}, 'bodies': [{'material': 'm', 'mesh': {'rope': {}}}]",
     NULL},
    {"'method': 'lbfgs'",
     "'materials': {'m': {'fibers': {'direction': [1, 0, 0], 'stiffness': 1e4}},"
     " 'unused': {'bending': {'model': 'hinge'}, 'strain_limit': {}}},"
     "'bodies': [{'material': 'm', 'mesh': {'box': {}}}]",
     NULL},
    {"'method': 'lbfgs'",
     "'materials': {'m': {'bending': {}, 'damping': {'model': 'strain_rate', 'viscosity': 1}}},"
     "'bodies': [{'material': 'm', 'mesh': {'cloth': {}}}]",
     "/materials/m/damping"},
    {"'method': 'lbfgs'",
     "'materials': {'m': {'fibers': {'direction': [1, 0, 0], 'stiffness': 1e4},"
     " 'damping': {'model': 'rayleigh', 'beta': 0.01}}},"
     "'bodies': [{'material': 'm', 'mesh': {'box': {}}}]",
     "/materials/m/damping/model"},
    {"'method': 'admm'",
     "'materials': {'m': {'damping': {'model': 'strain_rate', 'viscosity': 1, 'form': 'merged'}}},"
     "'bodies': [{'material': 'm', 'mesh': {'box': {}}}]",
     "/materials/m/damping/form"},
    {"'method': 'lbfgs'",
     "'materials': {'m': {}, 'unused': {'bending': {}, 'fibers': {'direction': [1, 0, 0],"
     "'stiffness': 1e4}, 'damping': {'model': 'rayleigh', 'beta': 0.01}}},"
     "'bodies': [{'material': 'm', 'mesh': {'box': {}}}]",
     NULL},
};
enum { GPU_SCENE_COUNT = sizeof GPU_SCENES / sizeof *GPU_SCENES };

START_TEST(scenes_are_refused_where_the_device_refuses)
{
    pl_run_on_host();
    const char *pointer = GPU_SCENES[_i].pointer;
    pl_run *r = pl_run_openf(1, "{'pliant': 1, 'solver': {%s}, %s}", GPU_SCENES[_i].solver,
                             GPU_SCENES[_i].scene);
    pl_estimate estimate;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_OK);
    r->scene.solver.device = PL_DEVICE_GPU;
    pl_status status = pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults);
    const char *why = pl_backend_refuses(&pl_backend_device_f32, r->model);
    ck_assert_int_eq(status, pointer ? PL_INVALID : PL_OK);
    ck_assert_msg((why != NULL) == (pointer != NULL), "%s", why ? why : "it is taken");
    bool there = pointer == NULL;
    for (size_t i = 0; i < faults.count; i++) {
        ck_assert_str_eq(faults.items[i].code, "unsupported");
        ck_assert_str_ne(faults.items[i].hint, "");
        there = there || strcmp(faults.items[i].pointer, pointer) == 0;
    }
    ck_assert(there);
    /* Features rejected because of elements are rejected whatever the method. */
    if (pointer && strcmp(pointer, "/solver/method") != 0)
        ck_assert_ptr_nonnull(pl_backend_device_f32.refuses(r->model));
    pl_faults_clear(&faults);
    r->scene.solver.device = PL_DEVICE_CPU;
    pl_run_close(r);
}
END_TEST

/* The GPU memory estimated by a preflight is what a session uses, or somewhat more. */
START_TEST(its_memory_is_estimated)
{
    static const char *const scenes[] = {
        "'solver': {'method': 'chebyshev_descent'},"
        "'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [40, 20, 20]}}}]",
        "'solver': {'method': 'lbfgs', 'window': 30}, 'materials': {'m': {'model': 'spline',"
        "'splines': 'A'}}, 'obstacles': [{'plane': {'offset': -2}}], 'bodies': [{'material': 'm',"
        "'mesh': {'box': {'size': [2, 1, 1], 'cells': [40, 20, 20]}}}]",
        "'solver': {'method': 'chebyshev_descent'}, 'materials': {'m': {'thickness': 0.01,"
        "'bending': {}}}, 'bodies': [{'material': 'm', 'mesh': {'cloth': {'size': [1, 1],"
        "'cells': [120, 120]}}}]",
        "'solver': {'method': 'admm'},"
        "'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [40, 20, 20]}}}]",
        "'solver': {'method': 'projective_dynamics'}, 'materials': {'m': {'model': 'arap'}},"
        "'bodies': [{'material': 'm', 'mesh': {'box': {'size': [2, 1, 1], 'cells': [32, 16, "
        "16]}}}]",
        "'solver': {'method': 'chebyshev_descent'}, 'time': {'step': 0.01, 'steps': 2,"
        "'integrator': 'tr_bdf2'}, 'bodies': [{'mesh': {'box': {'size': [2, 1, 1],"
        "'cells': [40, 20, 20]}}}]",
        "'solver': {'method': 'gradient_descent'}, 'output': {'precision': 'double', 'fields':"
        "['position', 'velocity']}, 'materials': {'m': {'thickness': 0.01}}, 'bodies': [{"
        "'material': 'm', 'mesh': {'cloth': {'size': [1, 1], 'cells': [120, 120]}}}]",
    };
    precision p = _i % 2 ? SINGLE : DOUBLE;
    pl_run_on_host();
    pl_run *r = pl_run_openf(1, "{'pliant': 1, %s}", scenes[_i / 2]);
    pl_estimate estimate;
    pl_faults faults = {0};
    r->scene.solver.device = PL_DEVICE_GPU;
    r->scene.solver.precision = p == SINGLE ? PL_PRECISION_SINGLE : PL_PRECISION_DOUBLE;
    ck_assert_int_eq(pl_scene_check(&r->scene, r->meshes, &estimate, NULL, &faults), PL_OK);
    const pl_backend_ops *device = p == SINGLE ? &pl_backend_device_f32 : &pl_backend_device_f64;
    r->model->solver.device = PL_DEVICE_GPU;
    pl_backend_register(device);
    size_t before = pl_device_handed_out();
    pl_state *state;
    ck_assert_int_eq(pl_state_create(r->model, 1, &state), PL_OK);
    const pl_output *output = &r->scene.output;
    ck_assert_int_eq(pl_state_fetch(state, output->precision == PL_OUTPUT_SINGLE,
                                    output->fields & PL_OUTPUT_VELOCITY),
                     PL_OK);
    double taken = (double)(pl_device_handed_out() - before);
    ck_assert_double_gt(estimate.device_bytes, 0.95 * taken);
    ck_assert_double_lt(estimate.device_bytes, 1.5 * taken);
    pl_state_destroy(state);
    pl_backend_register(NULL);
    r->model->solver.device = r->scene.solver.device = PL_DEVICE_CPU;
    pl_run_close(r);
}
END_TEST

/* A checkpoint of one precision cannot be used with another. */
START_TEST(precision_decides_bits)
{
    static const struct {
        pl_device_kind device;
        pl_precision precision;
    } rows[] = {{PL_DEVICE_GPU, PL_PRECISION_AUTO},
                {PL_DEVICE_GPU, PL_PRECISION_SINGLE},
                {PL_DEVICE_GPU, PL_PRECISION_DOUBLE},
                {PL_DEVICE_CPU, PL_PRECISION_AUTO},
                {PL_DEVICE_CPU, PL_PRECISION_DOUBLE}};
    uint64_t hash[5];
    pl_run_on_host();
    pl_run *r = pl_run_open(1,
                            "{'pliant': 1, 'bodies': [{'mesh': {'box': {'cells': [1, 1, 1]}}}]}");
    for (int i = 0; i < 5; i++) {
        pl_faults faults = {0};
        pl_model *model;
        r->scene.solver.device = rows[i].device;
        r->scene.solver.precision = rows[i].precision;
        ck_assert_int_eq(pl_model_create(&r->scene, r->meshes, &model, &faults), PL_OK);
        hash[i] = pl_model_hash(model);
        pl_model_destroy(model);
    }
    ck_assert(hash[0] == hash[1] && hash[3] == hash[4]);
    ck_assert(hash[1] != hash[2] && hash[2] != hash[3] && hash[1] != hash[3]);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device");
    TCase *t = tcase_create("emulated");
    tcase_add_loop_test(t, materials_are_the_cpu_s, 0, 2 * MATERIAL_COUNT);
    tcase_add_loop_test(t, preconditioners_are_the_cpu_s, 0, 2 * MATERIAL_COUNT);
    tcase_add_loop_test(t, methods_are_the_cpu_s, 0, METHOD_COUNT);
    tcase_add_loop_test(t, same_bits_every_time, 0, 4);
    tcase_add_loop_test(t, the_minimum_is_newton_s, 0, 6);
    tcase_add_loop_test(t, sheets_are_the_cpu_s, 0, 2 * SHEET_COUNT);
    tcase_add_loop_test(t, obstacles_are_the_cpu_s, 0, 2 * OBSTACLE_COUNT);
    tcase_add_loop_test(t, changes_are_the_cpu_s, 0, 2);
    tcase_add_loop_test(t, recordings_are_plain_launches, 0, 2);
    tcase_add_loop_test(t, frames_come_while_the_next_step_runs, 0, 8);
    tcase_add_loop_test(t, its_memory_is_estimated, 0, 14);
    tcase_add_loop_test(t, what_it_lacks_is_refused, 0, LACKING_COUNT);
    tcase_add_test(t, precision_decides_bits);
    tcase_add_loop_test(t, scenes_are_refused_where_the_device_refuses, 0, GPU_SCENE_COUNT);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
