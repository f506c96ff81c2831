/* Holds the device's backend against the CPU's on this machine: materials and methods by the positions of
 * some steps, in both precisions; two runs by their bits; and the state where single precision ends.
 * Exit status 0 where all is well, 1 where not, 77 where there is no device. */
#include "tests/gpu/gpu_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 3 };

static int passed, failed;
/* Of each table the first row alone. */
static bool quick;

static void judge(bool good, const char *what, double error, double bound)
{
    printf("%s  %-58s %8.1e, bound %.0e\n", good ? "ok    " : "FAILED", what, error, bound);
    *(good ? &passed : &failed) += 1;
}

/* How far the body has come: what does not move is no test. */
static double moved(const gpu_run *r)
{
    double most = 0;
    for (int64_t i = 0; i < 3 * r->model->vertices; i++)
        most = fmax(most, fabs(pl_state_positions(r->state)[i] - r->model->x0[i]));
    return most;
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
        bool good = true;
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
        gpu_body body = {.model = (pl_material_kind)kind,
                         .mesh = gpu_box(6, 3, 3),
                         .young = 1e5,
                         .poisson = 0.35,
                         .turns = 0.05,
                         .pinned = true};
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
                   {"nonlinear_cg", PL_METHOD_NONLINEAR_CG, 20},
                   {"lbfgs", PL_METHOD_LBFGS, 20}};
    gpu_body body = {.model = PL_MATERIAL_COROTATED,
                     .mesh = gpu_box(6, 3, 3),
                     .young = 1e5,
                     .poisson = 0.35,
                     .turns = 0.05,
                     .pinned = true};
    for (size_t k = 0; k < (quick ? 1 : sizeof methods / sizeof *methods); k++) {
        pl_solver_settings solver = gpu_solver(methods[k].method, methods[k].iterations);
        compare(methods[k].name, &body, &solver);
    }
}

/* Methods that solve with the matrix do so by a factor on the CPU and by iterations on the GPU: what is
 * compared is where many iterations end. */
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
        bool good = gpu_run_frame(a) && gpu_run_frame(b) &&
                    memcmp(pl_state_positions(a->state), pl_state_positions(b->state),
                           3 * (size_t)a->model->vertices * sizeof(double)) == 0;
        judge(good, on == ON_GPU_SINGLE ? "same bits twice, single" : "same bits twice, double",
              apart(a, b), 0);
        gpu_run_close(a);
        gpu_run_close(b);
    }
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
    compare_bits();
    if (gpu_plain_because())
        printf("plain launches, because of %s\n", gpu_plain_because());
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
