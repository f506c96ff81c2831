#include "tests/gpu/gpu_scene.h"

#include "engine/backends/device/device.h"
#include "engine/backends/device/phases.h"
#include "engine/clock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Compute capability of the newest device that the Makefile's CUDA_FLAGS have code for. */
enum { NEWEST_MAJOR = 9 };

static const pl_backend_ops *backends[2]; /* double, single */
static const pl_plugin *plugin;           /* NULL: emulated */
static standin_counts (*counts)(void);    /* NULL: no stand-in */

/* libpliant_cuda.so, one folder above the program's own. */
static void *open_library(char *why, size_t why_size)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    char *slash = NULL;
    if (length > 0) {
        path[length] = '\0';
        for (int up = 0; up < 2; up++)
            if ((slash = strrchr(path, '/')))
                *slash = '\0';
    }
    if (!slash) {
        snprintf(why, why_size, "the program's folder cannot be found");
        return NULL;
    }
    strcat(path, "/libpliant_cuda.so");
    if (access(path, R_OK) != 0) {
        snprintf(why, why_size,
                 "no device, because the plug-in is missing (it is built if nvcc is installed) "
                 "(make NVCC=PATH): %.*s",
                 (int)why_size - 128, path);
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(why, why_size, "no device, because %s", dlerror());
    return library;
}

bool gpu_open(bool emulated, pl_gpu *out, char *why, size_t why_size)
{
    if (emulated) {
        backends[0] = &pl_backend_device_f64;
        backends[1] = &pl_backend_device_f32;
        pl_device_leave_open();
        *out = (pl_gpu){.name = "kernels run on the host", .uuid = "none"};
        return true;
    }
    void *library = open_library(why, why_size);
    pl_plugin_entry entry = NULL;
    if (library)
        *(void **)&entry = dlsym(library, "pliant_plugin");
    if (library && !entry)
        snprintf(why, why_size, "no device, because of the plug-in: it has no pliant_plugin");
    if (!entry)
        return false;
    const pl_plugin *found = entry();
    char unfit[160];
    if (!pl_plugin_fits(found, unfit, sizeof unfit)) {
        snprintf(why, why_size, "no device, because the plug-in does not fit: %s", unfit);
        return false;
    }
    if (found->find(out, 1, why, why_size) < 1)
        return false;
    if (!found->select(out->uuid, why, why_size))
        return false;
    plugin = found;
    *(void **)&counts = dlsym(library, "pliant_standin_count");
    backends[0] = plugin->f64;
    backends[1] = plugin->f32;
    return true;
}

bool gpu_start(int argc, char **argv, const char *usage, gpu_options *options, pl_gpu *out,
               int *status)
{
    *options = (gpu_options){0};
    for (int i = 1; i < argc; i++) {
        bool emulated = strcmp(argv[i], "--emulated") == 0;
        if (!emulated && strcmp(argv[i], "--quick") != 0) {
            fputs(usage, stderr);
            *status = 2;
            return false;
        }
        *(emulated ? &options->emulated : &options->quick) = true;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* if a program hangs, its last line shows where */
    char why[512] = "";
    if (!gpu_open(options->emulated, out, why, sizeof why)) {
        puts(why);
        *status = GPU_NO_DEVICE;
        return false;
    }
    if (out->major > NEWEST_MAJOR)
        printf("%s is newer than what there is code for: the driver translates the kernels first, "
               "and keeps them for the next time\n",
               out->name);
    return true;
}

const char *gpu_fault(void)
{
    return plugin ? plugin->fault() : pl_device_fault();
}

/* The plug-in's runtime is in it alone; the driver's library is the process's. */
void gpu_finish(void)
{
    void *driver = plugin ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) : NULL;
    int (*device_of)(int *device) = NULL, (*reset)(int device) = NULL, device;
    if (driver) {
        *(void **)&device_of = dlsym(driver, "cuCtxGetDevice");
        *(void **)&reset = dlsym(driver, "cuDevicePrimaryCtxReset_v2");
    }
    if (device_of && reset && device_of(&device) == 0)
        reset(device);
}

bool gpu_is_standin(void)
{
    return counts != NULL;
}

standin_counts gpu_counts(void)
{
    return counts ? counts() : (standin_counts){0};
}

int64_t gpu_unused(void)
{
    pl_gpu gpu = {.unused = 0};
    char why[256];
    if (!plugin)
        return -(int64_t)pl_device_handed_out();
    return plugin->find(&gpu, 1, why, sizeof why) > 0 ? gpu.unused : 0;
}

const char *gpu_plain_because(void)
{
    return plugin ? plugin->recording_error() : pl_device_recording_error();
}

void gpu_share(bool together)
{
    (plugin ? plugin->share : pl_device_share)(together);
}

pl_shared_launches gpu_shared(void)
{
    return plugin ? plugin->shared() : pl_device_shared();
}

/* Downloading one number waits for the copies. */
double gpu_bandwidth(where on)
{
    enum { COPIES = 20 };
    const int64_t count = plugin && !counts ? 1 << 27 : 1 << 20;
    gpu_body body = {.mesh = gpu_box(1, 1, 1), .young = 1e5, .poisson = 0.3, .pinned = true};
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 1);
    gpu_run *r = gpu_run_open(on, &body, &solver, 0.01, 1);
    if (!r)
        return 0;
    pl_backend *b = r->state->whole.backend;
    pl_array *from = b->ops->memory->alloc(b, count), *to = b->ops->memory->alloc(b, count);
    double one = 0, start = 0;
    for (int k = 0; from && to && k <= COPIES; k++) { /* the first warms up */
        b->ops->memory->copy(b, to, from, count);
        if (k > 0 && k < COPIES)
            continue;
        b->ops->memory->download(b, &one, to, 1);
        if (k == 0)
            start = pl_clock_ms();
    }
    double seconds = (pl_clock_ms() - start) / 1e3;
    if (from)
        b->ops->memory->release(b, from);
    if (to)
        b->ops->memory->release(b, to);
    gpu_run_close(r);
    return from && to ? 2.0 * COPIES * (double)count * (on == ON_GPU_SINGLE ? 4 : 8) / seconds : 0;
}

pl_solver_settings gpu_solver(pl_method_kind method, int32_t iterations)
{
    return (pl_solver_settings){.method = method,
                                .iterations = iterations,
                                .weight_scale = 2,
                                .relaxation = 1,
                                .acceleration = PL_ACCELERATION_ANDERSON,
                                .window = 8,
                                .contact_stiffness = 10,
                                .preconditioner = PL_PRECONDITIONER_JACOBI,
                                .jacobi_refresh = 32,
                                .initial_guess = PL_GUESS_VELOCITY,
                                .phases = 1};
}

pl_mesh_source gpu_box(int32_t x, int32_t y, int32_t z)
{
    double edge = 1.0 / (y > z ? y : z);
    return (pl_mesh_source){
        .kind = PL_SOURCE_BOX, .size = {x * edge, y * edge, z * edge}, .cells = {x, y, z}};
}

pl_mesh_source gpu_helix(int32_t across, int32_t along)
{
    return (pl_mesh_source){.kind = PL_SOURCE_HELIX,
                            .helix = {.radius = 0.5,
                                      .tube = 0.1,
                                      .pitch = 1,
                                      .turns = 2,
                                      .strands = 2,
                                      .cells = {across, along}}};
}

_Noreturn static void no_good(const pl_faults *faults, const char *what)
{
    fprintf(stderr, "%s\n", what);
    for (size_t i = 0; i < faults->count; i++)
        fprintf(stderr, "  %s: got %s, expected %s\n", faults->items[i].pointer,
                faults->items[i].got, faults->items[i].expected);
    exit(2);
}

static void put_below(pl_scene *s, const gpu_body *body)
{
    pl_obstacle_kind kind = body->obstacle;
    s->obstacle_count = 1;
    s->obstacles = calloc(1, sizeof *s->obstacles);
    *s->obstacles = (pl_obstacle){.name = strdup("below"),
                                  .kind = kind,
                                  .normal = {0, 1, 0},
                                  .offset = -0.5005,
                                  .center = {1.0 / 3, -0.8005, 1.0 / 6},
                                  .axis = {0, 0, 1},
                                  .radius = kind == PL_OBSTACLE_TORUS ? 0.2 : 0.3,
                                  .tube = 0.1,
                                  .has_height = true,
                                  .height = 0.6,
                                  .size = {1, 0.6, 1},
                                  .friction = 0.5,
                                  .restitution = body->restitution};
    s->obstacles->place.rotate_axis[1] = 1;
    s->obstacles->place.rotate_degrees = 30;
}

static void fill(pl_scene *s, where on, const gpu_body *body, const pl_solver_settings *solver,
                 double h, int64_t steps)
{
    s->name = strdup("on a GPU");
    s->time =
        (pl_time){.step = h, .duration = 1e6 * h, .steps = 1000000, .integrator = body->integrator};
    s->solver = *solver;
    s->solver.device = on == ON_CPU ? PL_DEVICE_CPU : PL_DEVICE_GPU;
    s->gravity[1] = -9.81;
    s->material_count = s->body_count = 1;
    s->materials = calloc(1, sizeof *s->materials);
    s->bodies = calloc(1, sizeof *s->bodies);
    s->pins = calloc(1, sizeof *s->pins);
    *s->materials = (pl_material){.name = strdup("m"),
                                  .model = body->model,
                                  .young = body->young,
                                  .poisson = body->poisson,
                                  .density = 1000,
                                  .thickness = body->thickness > 0 ? body->thickness : 1e-3,
                                  .area = 1e-6,
                                  .invertible = body->invertible,
                                  .damping = body->damping,
                                  .bending = {.present = body->hinges, .model = PL_BENDING_HINGE}};
    if (body->fibers)
        s->materials->fibers =
            (pl_fibers){.present = true, .stiffness = body->young, .direction = {0.6, 0.8, 0}};
    *s->bodies = (pl_body){.name = strdup("body"), .mesh = body->mesh, .friction = 1};
    for (int c = 0; c < 3; c++)
        s->bodies->transform.scale[c] = s->bodies->initial.stretch[c] = 1;
    s->bodies->transform.rotate_axis[0] = s->bodies->initial.axis[0] = 1;
    if (body->turns != 0) {
        s->bodies->initial.shape = PL_SHAPE_TWISTED;
        s->bodies->initial.turns = body->turns;
    }
    if (body->lands)
        put_below(s, body);
    s->pin_count = body->pinned;
    *s->pins = (pl_pin){.name = strdup("pin"),
                        .select = {.kind = PL_SELECT_SIDE, .side_axis = 0, .side_sign = -1},
                        .axes = PL_AXES_ALL};
    s->output.every = steps;
    s->resources.cores = 1;
}

gpu_run *gpu_run_open(where on, const gpu_body *body, const pl_solver_settings *solver, double h,
                      int64_t steps)
{
    gpu_run *r = calloc(1, sizeof *r);
    pl_faults faults = {0};
    pl_mesh_limits limits = {1 << 24, 1 << 26};
    fill(&r->scene, on, body, solver, h, steps);
    if (pl_body_load(&r->scene, 0, NULL, &limits, &r->mesh, &faults) != PL_OK ||
        pl_model_create(&r->scene, &r->mesh, &r->model, &faults) != PL_OK)
        no_good(&faults, "a scene was refused");
    if (on != ON_CPU)
        pl_backend_register(backends[on == ON_GPU_SINGLE]);
    const char *why = pl_backend_refuses(pl_backend_find(r->scene.solver.device), r->model);
    if (why)
        no_good(&faults, why);
    int32_t threads = body->threads > 0 ? body->threads : (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    pl_status status = pl_state_create(r->model, threads, &r->state);
    if (status == PL_OK)
        return r;
    if (status != PL_NO_MEMORY)
        no_good(&faults, "the backend cannot hold the model");
    gpu_run_close(r);
    return NULL;
}

bool gpu_run_frame(gpu_run *r)
{
    if (pl_frame_step(r->model, r->state, &r->metrics, &r->failure, NULL, NULL) == PL_OK)
        return true;
    fprintf(stderr, "step %lld failed: %s\n", (long long)r->failure.step, r->failure.message);
    return false;
}

void gpu_run_close(gpu_run *r)
{
    if (!r)
        return;
    pl_state_destroy(r->state);
    pl_model_destroy(r->model);
    pl_mesh_clear(&r->mesh);
    pl_scene_clear(&r->scene);
    free(r);
}
