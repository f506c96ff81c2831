/* What preflight asks before a model is built: faults, sizes, and what the run will cost. */
#include "engine/model/layout.h"
#include "engine/pliant.h"

#include <math.h>

/* Nonzeros of the factor after fill-in: fitted to boxes of Kuhn tetrahedra, which fill in more than
 * meshes of the same size do (engine/README.md has the table). Of the estimates the one of memory
 * refuses scenes, so all of them err on the large side. */
static double factor_nonzeros(double n)
{
    return 7.6 * pow(n, 4.0 / 3.0);
}

pl_status pl_scene_check(const pl_scene *scene, const pl_mesh *meshes, pl_estimate *out,
                         int64_t *pin_counts, pl_faults *faults)
{
    pl_layout layout;
    pl_status status = pl_layout_create(scene, meshes, &layout, faults);
    if (status != PL_OK)
        return status;
    double n = (double)layout.free_vertices, m = (double)layout.tets;
    double nnz = factor_nonzeros(n);
    double steps = (double)scene->output.every, iterations = scene->solver.iterations;
    /* The global step streams the factor twice, and gathers. */
    double local = 170e-9 * m, global = 2 * 8 * nnz / 5e9 + 250e-9 * n;
    *out = (pl_estimate){
        .vertices = layout.vertices,
        .tets = layout.tets,
        .free_vertices = layout.free_vertices,
        .memory_bytes = 32e6 + 800 * m + 400 * (double)layout.vertices + 1.15 * 8 * nnz,
        .seconds_per_frame = steps * iterations * (local + global),
        .setup_seconds = 0.005 + 3e-6 * m + 4e-8 * nnz,
        .frame_bytes = (double)layout.vertices * 3 * (scene->output.precision ? 8 : 4) + 1200,
    };
    for (int32_t p = 0; pin_counts && p < scene->pin_count; p++)
        pin_counts[p] = layout.pins[p].count;
    pl_layout_destroy(&layout);
    return PL_OK;
}
