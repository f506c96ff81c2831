/* gpu_scene.h - shared by the programs for a machine with a GPU. Such a machine may have a C compiler, make and nvcc,
 * but none of Pliant's other dependencies: so there is no JSON, libcheck or CHOLMOD (no_factor.c) here, and scenes are
 * filled in by hand. */
#ifndef PLIANT_TESTS_GPU_GPU_SCENE_H
#define PLIANT_TESTS_GPU_GPU_SCENE_H

#include "engine/backends/plugin.h"
#include "engine/step/state.h"
#include "tests/gpu/standin/standin.h"

typedef enum where { ON_CPU, ON_GPU_DOUBLE, ON_GPU_SINGLE } where;

enum { GPU_NO_DEVICE = 77 }; /* exit status */

typedef struct gpu_options {
    bool emulated; /* with the kernels run on the host */
    bool quick;    /* less of everything */
} gpu_options;

/* The beginning of main() of such a program: reads [--emulated] [--quick] and opens the device. False with the exit
 * status if the program ends here, after a line that says why. */
bool gpu_start(int argc, char **argv, const char *usage, gpu_options *options, pl_gpu *out,
               int *status);

/* What went wrong with the device, after which nothing comes from it any more, or NULL. */
const char *gpu_fault(void);
/* The end of main() of such a program: releases the driver's resources of this process, as memory checkers require. */
void gpu_finish(void);

/* Bytes of the device's memory that are not in use. */
int64_t gpu_unused(void);
/* Why iterations are launched one by one, or NULL where they are recorded. */
const char *gpu_plain_because(void);
/* Whether runs opened from now on launch together; and the results of that so far. */
void gpu_share(bool together);
pl_shared_launches gpu_shared(void);
/* What copies within the device's memory move a second, read and written, B/s. */
double gpu_bandwidth(where on);

/* Whether the plug-in is on the stand-in for CUDA's runtime (standin/standin.h), where times are meaningless; and its
 * counts of calls so far. */
bool gpu_is_standin(void);
standin_counts gpu_counts(void);

/* Backends for the device: from the plug-in libpliant_cuda.so in the folder above the program's, or with the kernels
 * run on the host. False, with the reason, if no device is found. */
bool gpu_open(bool emulated, pl_gpu *out, char *why, size_t why_size);

typedef struct gpu_body {
    pl_material_kind model;
    pl_mesh_source mesh;
    double young, poisson, turns; /* twisted by so many turns at the start */
    bool invertible, pinned, fibers;
    double thickness;
    bool hinges;
    pl_obstacle_kind obstacle; /* one with a formula, below the body if `lands` */
    bool lands;
    double restitution; /* its */
    pl_integrator_kind integrator;
    pl_material_damping damping;
    int32_t threads; /* of the host; 0: all */
} gpu_body;

/* One body, held at its -x side if pinned; these settings are added to the scene's defaults. */
typedef struct gpu_run {
    pl_scene scene;
    pl_mesh mesh;
    pl_model *model;
    pl_state *state;
    pl_metrics metrics;
    pl_failure failure;
} gpu_run;

/* `steps` of h seconds per frame. Ends the program with a message if the scene is invalid; NULL if out of memory or the
 * device has failed. One thread each. */
gpu_run *gpu_run_open(where on, const gpu_body *body, const pl_solver_settings *solver, double h,
                      int64_t steps);
bool gpu_run_frame(gpu_run *run);
void gpu_run_close(gpu_run *run); /* NULL is nothing */

/* Descent by this method, of fixed iterations. */
pl_solver_settings gpu_solver(pl_method_kind method, int32_t iterations);
pl_mesh_source gpu_box(int32_t x, int32_t y, int32_t z);
/* The double helix of Wang 2016, by cells across a strand and along it. */
pl_mesh_source gpu_helix(int32_t across, int32_t along);

#endif
