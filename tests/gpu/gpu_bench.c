/* Times steps of the methods on this machine's GPU, and how near they come to what moving their
 * bytes takes. Exit status 77 where there is no device, 1 where a step failed. */
#include "tests/gpu/gpu_scene.h"

#include "engine/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10 };

typedef struct size {
    const char *name;
    pl_mesh_source mesh;
    double young;
} size;

typedef struct method {
    const char *name;
    pl_method_kind method;
    pl_material_kind model;
    int32_t iterations;
} method;

/* Bytes that an iteration of Chebyshev descent reads and writes at least once: of a tetrahedron its shape, volume, constants,
 * corners and contributions, written and read; of a vertex its lists, mass, place, prediction, diagonal and
 * last step. */
static double bytes_of(const pl_model *m, double number)
{
    double tet = (9 + 1 + 2 + 12 + 12) * number + 4 * 4 + 4 * 4;
    double vertex = (1 + 3 + 3 + 3 + 3 + 3 + 3) * number + 4 + 4 + 1;
    return tet * (double)m->tets + vertex * (double)m->vertices;
}

/* False where a frame failed, which its line says. */
static bool time_one(where on, const size *s, const method *m, bool emulated)
{
    gpu_body body = {
        .model = m->model, .mesh = s->mesh, .young = s->young, .poisson = 0.4, .pinned = true};
    pl_solver_settings solver = gpu_solver(m->method, m->iterations);
    int64_t steps = emulated ? 1 : STEPS;
    gpu_run *r = gpu_run_open(on, &body, &solver, 1.0 / 30, steps);
    printf("%-14s %8lld %9lld  %-10s %-6s ", s->name, (long long)r->model->vertices,
           (long long)r->model->tets, m->name, on == ON_GPU_SINGLE ? "single" : "double");
    double best = 0;
    bool good = true;
    for (int k = 0; good && k < (emulated ? 1 : 4); k++) { /* the first warms up */
        double start = pl_clock_ms();
        good = gpu_run_frame(r);
        double ms = (pl_clock_ms() - start) / (double)steps;
        best = k == 0 || ms < best ? ms : best;
    }
    double bytes = m->iterations * bytes_of(r->model, on == ON_GPU_SINGLE ? 4 : 8);
    if (good && m->method == PL_METHOD_CHEBYSHEV_DESCENT)
        printf("%9.3f %9.1f %8.0f\n", best, 1e3 * best / m->iterations, bytes / best / 1e6);
    else if (good)
        printf("%9.3f %9.1f\n", best, 1e3 * best / m->iterations);
    else
        printf("FAILED: %s\n", r->failure.message);
    fflush(stdout);
    gpu_run_close(r);
    return good;
}

int main(int argc, char **argv)
{
    bool emulated, good = true;
    pl_gpu gpu;
    int status;
    if (!gpu_start(argc, argv,
                   "usage: gpu-bench [--emulated]\n"
                   "Times steps on the GPU; --emulated: the smallest with its kernels run on the "
                   "host.\n",
                   &emulated, &gpu, &status))
        return status;
    const size sizes[] = {{"helix, 41 k", gpu_helix(6, 95), 5e7},
                          {"helix, 83 k", gpu_helix(6, 192), 5e7},
                          {"helix, 316 k", gpu_helix(10, 264), 5e7},
                          {"box, 1 M", gpu_box(55, 55, 55), 1e6},
                          {"box, 5 M", gpu_box(94, 94, 94), 1e6}};
    const method methods[] = {
        {"chebyshev", PL_METHOD_CHEBYSHEV_DESCENT, PL_MATERIAL_NEO_HOOKEAN, 96},
        {"projective", PL_METHOD_PROJECTIVE_DYNAMICS, PL_MATERIAL_ARAP, 10},
        {"admm", PL_METHOD_ADMM, PL_MATERIAL_NEO_HOOKEAN, 10},
    };
    printf("%s, %.1f GB of %.1f GB unused; 96 iterations of Chebyshev descent a step, or 10 with "
           "the matrix; best of 3 times %d steps\n",
           gpu.name, (double)gpu.unused / 1e9, (double)gpu.memory / 1e9, STEPS);
    printf("%-14s %8s %9s  %-10s %-6s %9s %9s %8s\n", "body", "vertices", "tets", "method", "",
           "ms/step", "us/iter", "GB/s");
    for (size_t k = 0; k < (emulated ? 1 : sizeof sizes / sizeof *sizes); k++)
        for (size_t m = 0; m < (emulated ? 1 : sizeof methods / sizeof *methods); m++)
            for (where on = ON_GPU_SINGLE; on >= ON_GPU_DOUBLE; on--)
                good = time_one(on, &sizes[k], &methods[m], emulated) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
