/* What preflight asks before a model is built: faults, sizes, and what the run will cost. */
#include "engine/model/layout.h"
#include "engine/pliant.h"

#include <math.h>

/* Fitted on boxes of Kuhn tetrahedra and on the bunny and armadillo meshes from 1 k to 64 k
 * vertices (engine/README.md has the table): nonzeros of the factor after fill-in, and what an
 * element and a vertex hold in memory. A refusal for want of memory must not be wrong by much in
 * either way. */
static double factor_nonzeros(double n)
{
    return 4.5 * pow(n, 4.0 / 3.0) + 20 * n;
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
    double local = 150e-9 * m, global = 2 * 8 * nnz / 8e9 + 60e-9 * n;
    *out = (pl_estimate){
        .vertices = layout.vertices,
        .tets = layout.tets,
        .free_vertices = layout.free_vertices,
        .memory_bytes = 32e6 + 900 * m + 400 * (double)layout.vertices + 2.2 * 8 * nnz,
        .seconds_per_frame = steps * iterations * (local + global),
        .setup_seconds = 0.005 + 1.5e-6 * m + 3e-8 * nnz,
        .frame_bytes = (double)layout.vertices * 3 * (scene->output.precision ? 8 : 4) + 1200,
    };
    for (int32_t p = 0; pin_counts && p < scene->pin_count; p++)
        pin_counts[p] = layout.pins[p].count;
    pl_layout_destroy(&layout);
    return PL_OK;
}
