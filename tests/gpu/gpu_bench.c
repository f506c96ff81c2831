/* Times steps of Chebyshev descent on this machine's GPU, and how near they come to what moving their
 * bytes takes. Exit status 77 where there is no device. */
#include "tests/gpu/gpu_scene.h"

#include "engine/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_DEVICE = 77, ITERATIONS = 96, STEPS = 10 };

typedef struct size {
    const char *name;
    pl_mesh_source mesh;
    double young;
} size;

/* Bytes that an iteration reads and writes at least once: of a tetrahedron its shape, volume, constants,
 * corners and contributions, written and read; of a vertex its lists, mass, place, prediction, diagonal and
 * last step. */
static double bytes_of(const pl_model *m, double number)
{
    double tet = (9 + 1 + 2 + 12 + 12) * number + 4 * 4 + 4 * 4;
    double vertex = (1 + 3 + 3 + 3 + 3 + 3 + 3) * number + 4 + 4 + 1;
    return tet * (double)m->tets + vertex * (double)m->vertices;
}

static void time_one(where on, const size *s, bool emulated)
{
    gpu_body body = {.mesh = s->mesh, .young = s->young, .poisson = 0.4, .pinned = true};
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, ITERATIONS);
    int64_t steps = emulated ? 1 : STEPS;
    gpu_run *r = gpu_run_open(on, &body, &solver, 1.0 / 30, steps);
    double best = 1e30;
    for (int k = 0; k < (emulated ? 1 : 4); k++) { /* the first warms up */
        double start = pl_clock_ms();
        if (!gpu_run_frame(r))
            break;
        double ms = (pl_clock_ms() - start) / (double)steps;
        best = ms < best ? ms : best;
    }
    double bytes = ITERATIONS * bytes_of(r->model, on == ON_GPU_SINGLE ? 4 : 8);
    printf("%-14s %8lld %9lld  %-6s %9.3f %9.1f %8.0f\n", s->name, (long long)r->model->vertices,
           (long long)r->model->tets, on == ON_GPU_SINGLE ? "single" : "double", best,
           1e3 * best / ITERATIONS, bytes / best / 1e6);
    fflush(stdout);
    gpu_run_close(r);
}

int main(int argc, char **argv)
{
    bool emulated = argc == 2 && strcmp(argv[1], "--emulated") == 0;
    if (argc > 1 && !emulated) {
        fprintf(stderr, "usage: gpu-bench [--emulated]\n"
                        "Times steps on the GPU; --emulated: the smallest with its kernels run on "
                        "the host.\n");
        return 2;
    }
    pl_gpu gpu;
    char why[256] = "";
    if (!gpu_open(emulated, &gpu, why, sizeof why)) {
        printf("%s\n", why);
        return NO_DEVICE;
    }
    const size sizes[] = {{"helix, 41 k", gpu_helix(6, 95), 5e7},
                          {"helix, 83 k", gpu_helix(6, 192), 5e7},
                          {"helix, 316 k", gpu_helix(10, 264), 5e7},
                          {"box, 1 M", gpu_box(55, 55, 55), 1e6},
                          {"box, 5 M", gpu_box(94, 94, 94), 1e6}};
    printf("%s, %.1f GB of %.1f GB unused; %d iterations a step, best of 3 times %d steps\n",
           gpu.name, (double)gpu.unused / 1e9, (double)gpu.memory / 1e9, ITERATIONS, STEPS);
    printf("%-14s %8s %9s  %-6s %9s %9s %8s\n", "body", "vertices", "tets", "", "ms/step",
           "us/iter", "GB/s");
    for (size_t k = 0; k < (emulated ? 1 : sizeof sizes / sizeof *sizes); k++)
        for (where on = ON_GPU_SINGLE; on >= ON_GPU_DOUBLE; on--)
            time_one(on, &sizes[k], emulated);
    return EXIT_SUCCESS;
}
