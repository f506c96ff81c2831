/* Compares the device's backend with the CPU's on this machine: materials, obstacles, methods, integrators and
 * dissipation by the positions after some steps, in both precisions; two runs by their bits; frames that arrive while
 * the next step runs; and sessions on several threads with the same sessions alone. Exit status 0 if all is well, 1 if
 * not, 77 without a device. */
#include "tests/gpu/gpu_scene.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 3 };

static int passed, failed;
/* Of each table the first row alone. */
static bool quick;

static int end(void)
{
    if (gpu_plain_because())
        printf("plain launches, because of %s\n", gpu_plain_because());
    printf("%d passed, %d failed\n", passed, failed);
    gpu_finish();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void judge(bool good, const char *what, double error, double bound)
{
    printf("%s  %-58s %8.1e, bound %.0e\n", good ? "ok    " : "FAILED", what, error, bound);
    *(good ? &passed : &failed) += 1;
    if (good || !gpu_fault())
        return;
    printf("the device has failed: %s. Nothing comes from it any more; the rest is left out\n",
           gpu_fault());
    exit(end());
}

/* How far the body has come: what does not move is no test. */
static double moved(const gpu_run *r)
{
    double most = 0;
    for (int64_t i = 0; i < 3 * r->model->vertices; i++)
        most = fmax(most, fabs(pl_state_positions(r->state)[i] - r->model->x0[i]));
    return most;
}

static gpu_body twisted(pl_mesh_source mesh)
{
    return (gpu_body){.mesh = mesh, .young = 1e5, .poisson = 0.35, .turns = 0.05, .pinned = true};
}

static double apart(const gpu_run *a, const gpu_run *b)
{
    double most = 0;
    const double *x = pl_state_positions(a->state), *y = pl_state_positions(b->state);
    for (int64_t i = 0; i < 3 * a->model->vertices; i++) {
        double way = fabs(x[i] - y[i]);
        most = way > most || isnan(way) ? way : most; /* NaN stays */
    }
    return most;
}

static void compare_to(const char *what, const gpu_body *body, const pl_solver_settings *solver,
                       double in_double, double in_single)
{
    for (where on = ON_GPU_DOUBLE; on <= ON_GPU_SINGLE; on++) {
        gpu_run *cpu = gpu_run_open(ON_CPU, body, solver, 0.01, 1);
        gpu_run *gpu = gpu_run_open(on, body, solver, 0.01, 1);
        bool good = cpu && gpu;
        for (int k = 0; good && k < FRAMES; k++)
            good = gpu_run_frame(cpu) && gpu_run_frame(gpu);
        double error = good ? apart(cpu, gpu) : NAN,
               bound = on == ON_GPU_SINGLE ? in_single : in_double;
        char name[96];
        snprintf(name, sizeof name, "%s, %s", what, on == ON_GPU_SINGLE ? "single" : "double");
        bool touches = !body->lands || (good && gpu->metrics.contacts > 0);
        judge(error <= bound && touches && moved(cpu) > 1e-4, name, error, bound);
        gpu_run_close(cpu);
        gpu_run_close(gpu);
    }
}

static void compare(const char *what, const gpu_body *body, const pl_solver_settings *solver)
{
    compare_to(what, body, solver, 1e-11, 1e-5);
}

static void compare_materials(void)
{
    static const char *const names[PL_MATERIAL_KINDS] = {
#define DO(kind, name) [PL_MATERIAL_##kind] = #name,
        PL_STRETCH_EACH_KIND(DO)
#undef DO
    };
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 48);
    for (int kind = 0; kind < PL_MATERIAL_KINDS; kind++) {
        if (kind == PL_MATERIAL_SPLINE || (quick && kind > 0))
            continue; /* its curves come out of JSON */
        gpu_body body = twisted(gpu_box(6, 3, 3));
        body.model = (pl_material_kind)kind;
        compare(names[kind], &body, &solver);
    }
    gpu_body invertible = {.mesh = gpu_box(6, 3, 3),
                           .young = 1e5,
                           .poisson = 0.35,
                           .turns = 0.05,
                           .pinned = true,
                           .invertible = true,
                           .fibers = true};
    compare("neo_hookean, invertible, with fibres", &invertible, &solver);
    gpu_body cloth = {.mesh = {.kind = PL_SOURCE_CLOTH, .cloth = {.size = {1, 1}, .cells = {9, 9}}},
                      .young = 1e5,
                      .poisson = 0.3,
                      .thickness = 0.01,
                      .pinned = true};
    compare("cloth of triangles", &cloth, &solver);
    if (quick)
        return;
    cloth.hinges = true;
    compare("cloth of triangles and hinges", &cloth, &solver);
    cloth.hinges = false;
    cloth.mesh.cloth.springs = true;
    compare("cloth of springs", &cloth, &solver);
}

static void compare_obstacles(void)
{
    static const char *const names[] = {"on a plane",    "on a sphere",  "on a box",
                                        "on a cylinder", "on a capsule", "on a torus"};
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 48);
    for (int kind = PL_OBSTACLE_PLANE; kind <= (quick ? PL_OBSTACLE_PLANE : PL_OBSTACLE_TORUS);
         kind++) {
        gpu_body body = {.mesh = gpu_box(6, 3, 3),
                         .young = 1e5,
                         .poisson = 0.35,
                         .pinned = true,
                         .obstacle = (pl_obstacle_kind)kind,
                         .lands = true};
        compare(names[kind], &body, &solver);
    }
}

static void compare_methods(void)
{
    static const struct {
        const char *name;
        pl_method_kind method;
        int32_t iterations;
    } methods[] = {{"gradient_descent", PL_METHOD_GRADIENT_DESCENT, 30},
                   {"barzilai_borwein", PL_METHOD_BARZILAI_BORWEIN, 30},
                   {"nonlinear_cg", PL_METHOD_NONLINEAR_CG, 20},
                   {"lbfgs", PL_METHOD_LBFGS, 20}};
    gpu_body body = twisted(gpu_box(6, 3, 3));
    body.model = PL_MATERIAL_COROTATED;
    for (size_t k = 0; k < (quick ? 1 : sizeof methods / sizeof *methods); k++) {
        pl_solver_settings solver = gpu_solver(methods[k].method, methods[k].iterations);
        compare(methods[k].name, &body, &solver);
    }
}

/* Methods that solve with the matrix use a factor on the CPU and iterations on the GPU: the comparison is at the end of
 * many iterations. */
static void compare_minima(void)
{
    static const struct {
        const char *name;
        pl_method_kind method;
        pl_material_kind model;
        bool lands;
    } rows[] = {
        {"projective_dynamics, its minima", PL_METHOD_PROJECTIVE_DYNAMICS, PL_MATERIAL_ARAP, false},
        {"admm, its minima", PL_METHOD_ADMM, PL_MATERIAL_NEO_HOOKEAN, false},
        {"admm, a general prox", PL_METHOD_ADMM, PL_MATERIAL_STVK, false},
        {"admm, held by a plane", PL_METHOD_ADMM, PL_MATERIAL_COROTATED, true},
        {"quasi_newton, its minima", PL_METHOD_QUASI_NEWTON, PL_MATERIAL_COROTATED, false},
        {"auto, its minima", PL_METHOD_AUTO, PL_MATERIAL_COROTATED, false},
    };
    for (size_t k = 0; k < (quick ? 1 : sizeof rows / sizeof *rows); k++) {
        gpu_body body = {.model = rows[k].model,
                         .mesh = gpu_box(6, 3, 3),
                         .young = 1e5,
                         .poisson = 0.35,
                         .turns = rows[k].lands ? 0 : 0.05,
                         .pinned = true,
                         .obstacle = PL_OBSTACLE_PLANE,
                         .lands = rows[k].lands};
        pl_solver_settings solver = gpu_solver(rows[k].method, 200);
        compare_to(rows[k].name, &body, &solver, 1e-8, 3e-5);
    }
}

static void compare_bits(void)
{
    gpu_body body = {
        .mesh = gpu_helix(4, quick ? 15 : 60), .young = 1e7, .poisson = 0.4, .pinned = true};
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 96);
    for (where on = ON_GPU_DOUBLE; on <= ON_GPU_SINGLE; on++) {
        gpu_run *a = gpu_run_open(on, &body, &solver, 1.0 / 30, 5);
        gpu_run *b = gpu_run_open(on, &body, &solver, 1.0 / 30, 5);
        bool good = a && b && gpu_run_frame(a) && gpu_run_frame(b);
        double error = good ? apart(a, b) : NAN;
        good = good && memcmp(pl_state_positions(a->state), pl_state_positions(b->state),
                              3 * (size_t)a->model->vertices * sizeof(double)) == 0;
        judge(good, on == ON_GPU_SINGLE ? "same bits twice, single" : "same bits twice, double",
              error, 0);
        gpu_run_close(a);
        gpu_run_close(b);
    }
}

static void compare_integrators(void)
{
    static const struct {
        const char *name;
        pl_integrator_kind integrator;
    } rows[] = {{"tr_bdf2", PL_INTEGRATOR_TR_BDF2},
                {"sdirk2", PL_INTEGRATOR_SDIRK2},
                {"bdf2", PL_INTEGRATOR_BDF2},
                {"trapezoidal", PL_INTEGRATOR_TRAPEZOIDAL},
                {"implicit_midpoint", PL_INTEGRATOR_IMPLICIT_MIDPOINT}};
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 48);
    for (size_t k = 0; k < (quick ? 1 : sizeof rows / sizeof *rows); k++) {
        gpu_body body = twisted(gpu_box(6, 3, 3));
        body.integrator = rows[k].integrator;
        compare(rows[k].name, &body, &solver);
    }
    gpu_body bouncing = {.mesh = gpu_box(6, 3, 3),
                         .young = 1e5,
                         .poisson = 0.35,
                         .pinned = true,
                         .lands = true,
                         .restitution = 0.5,
                         .integrator = PL_INTEGRATOR_TR_BDF2};
    compare_to("tr_bdf2, on a plane with restitution", &bouncing, &solver, 1e-11, 1e-4);
}

static void compare_damping(void)
{
    static const struct {
        const char *name;
        pl_material_damping damping;
    } rows[] = {
        {"damped by strain rate",
         {.model = PL_DAMPING_STRAIN_RATE, .viscosity = 100, .bulk_viscosity = 50}},
        {"damped by viscosity", {.model = PL_DAMPING_VISCOUS, .viscosity = 100, .mass = 2}},
        {"damped by Rayleigh's stiffness", {.model = PL_DAMPING_RAYLEIGH, .beta = 0.02}},
        {"damped by principal strains", {.model = PL_DAMPING_PRINCIPAL_STRAIN, .beta = 0.02}},
        {"damped by a power of the rate",
         {.model = PL_DAMPING_POWER_LAW, .coefficient = 30, .power = 0.5, .smoothing = 0.1}}};
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 48);
    for (size_t k = 0; k < (quick ? 1 : sizeof rows / sizeof *rows); k++) {
        gpu_body body = twisted(gpu_box(6, 3, 3));
        body.damping = rows[k].damping;
        body.damping.present = true;
        body.damping.form = PL_DAMPING_SEPARATE;
        /* Rayleigh damping takes differences of the stiffness, of which single precision keeps three digits. */
        compare_to(rows[k].name, &body, &solver, 1e-11,
                   rows[k].damping.model == PL_DAMPING_RAYLEIGH ? 2e-3 : 1e-5);
    }
}

/* A frame's transfer, begun before a step and received after it, has the numbers from before it. */
static void compare_frames(void)
{
    gpu_body body = twisted(gpu_box(12, 6, 6));
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 48);
    for (where on = ON_GPU_DOUBLE; on <= ON_GPU_SINGLE; on++) {
        gpu_run *r = gpu_run_open(on, &body, &solver, 0.01, 1);
        size_t count = r ? 3 * (size_t)r->model->vertices : 0;
        float *then = calloc(2 * count + 1, sizeof *then);
        bool good = r && gpu_run_frame(r);
        int same = 0;
        for (int k = 0; good && k < FRAMES; k++) {
            const double *x = pl_state_positions(r->state), *v = pl_state_velocities(r->state);
            for (size_t i = 0; i < count; i++) {
                then[i] = (float)x[i];
                then[count + i] = (float)v[i];
            }
            good = pl_state_fetch(r->state, true, true) == PL_OK && gpu_run_frame(r);
            const float *came = good ? pl_state_fetched(r->state, true) : NULL;
            same += came && memcmp(came, then, 2 * count * sizeof *then) == 0;
        }
        judge(same == FRAMES,
              on == ON_GPU_SINGLE ? "frames while steps run, single"
                                  : "frames while steps run, double",
              FRAMES - same, 0);
        free(then);
        gpu_run_close(r);
    }
}

/* ---- sessions on threads: queues, recordings, allocations and frames of several at once ---- */

enum { SESSIONS = 6 };
typedef struct session {
    int which;
    bool good;
    size_t count;
    double *x; /* after all frames */
    pthread_barrier_t *begin;
} session;

static void *live(void *context)
{
    static const pl_method_kind methods[] = {PL_METHOD_CHEBYSHEV_DESCENT, PL_METHOD_LBFGS,
                                             PL_METHOD_ADMM};
    session *s = context;
    gpu_body body = twisted(gpu_box(4 + s->which, 3, 3));
    pl_solver_settings solver = gpu_solver(methods[s->which % 3], 48);
    if (s->begin)
        pthread_barrier_wait(s->begin);
    gpu_run *r = gpu_run_open(s->which % 2 ? ON_GPU_DOUBLE : ON_GPU_SINGLE, &body, &solver, 0.01,
                              1);
    s->good = r != NULL;
    for (int k = 0; s->good && k < FRAMES; k++)
        s->good = pl_state_fetch(r->state, true, false) == PL_OK && gpu_run_frame(r) &&
                  pl_state_fetched(r->state, true);
    if (s->good) {
        s->count = 3 * (size_t)r->model->vertices;
        s->x = malloc(s->count * sizeof *s->x);
        memcpy(s->x, pl_state_positions(r->state), s->count * sizeof *s->x);
    }
    gpu_run_close(r);
    return NULL;
}

/* share: single-precision sessions launch together. */
static void compare_threads(bool share)
{
    session alone[SESSIONS], together[SESSIONS];
    pthread_t threads[SESSIONS];
    pthread_barrier_t begin;
    int same = 0;
    pthread_barrier_init(&begin, NULL, SESSIONS);
    for (int k = 0; k < SESSIONS; k++) {
        alone[k] = (session){.which = k};
        live(&alone[k]);
        together[k] = (session){.which = k, .begin = &begin};
    }
    gpu_share(share);
    for (int k = 0; k < SESSIONS; k++)
        if (pthread_create(&threads[k], NULL, live, &together[k]) != 0)
            exit(2);
    for (int k = 0; k < SESSIONS; k++)
        pthread_join(threads[k], NULL);
    gpu_share(false);
    for (int k = 0; k < SESSIONS; k++) {
        same += alone[k].good && together[k].good &&
                memcmp(alone[k].x, together[k].x, alone[k].count * sizeof *alone[k].x) == 0;
        free(alone[k].x);
        free(together[k].x);
    }
    pthread_barrier_destroy(&begin);
    if (share && gpu_shared().made == 0)
        same = 0;
    judge(same == SESSIONS,
          share ? "sessions that launch together, each as alone"
                : "sessions on threads, each as alone",
          SESSIONS - same, 0);
}

int main(int argc, char **argv)
{
    gpu_options options;
    pl_gpu gpu;
    int status;
    if (!gpu_start(argc, argv,
                   "usage: gpu-check [--quick] [--emulated]\n"
                   "Compares the GPU's results with the CPU's; --quick: some of them; --emulated: "
                   "with the GPU's kernels run on the host.\n",
                   &options, &gpu, &status))
        return status;
    quick = options.quick;
    printf("%s, %s\n", gpu.name, gpu.uuid);
    compare_materials();
    compare_obstacles();
    compare_methods();
    compare_minima();
    compare_integrators();
    compare_damping();
    compare_bits();
    compare_frames();
    compare_threads(false);
    compare_threads(true);
    return end();
}
