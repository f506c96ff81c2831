#include "tests/support/scene_run.h"

#include "engine/backends/device/phases.h"
#include "engine/step/state.h"
#include "protocol/scene/scene_json.h"
#include "tests/support/strict_backend.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail_with(const char *what, pl_faults *faults)
{
    char text[2048] = "";
    for (size_t i = 0; i < faults->count && strlen(text) < 1500; i++) {
        const pl_fault *f = &faults->items[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "\n  %s: %s, got %s, expected %s",
                 f->pointer, f->code, f->got, f->expected);
    }
    ck_abort_msg("%s%s", what, text);
}

/* Benchmarks use this too, outside any test: check's functions are called only on errors. */
static void require(bool condition, const char *otherwise)
{
    if (!condition)
        ck_abort_msg("%s", otherwise);
}

/* On the device `gpu`, according to the environment; false: on the CPU. */
static bool choose_backend(void)
{
    const char *name = getenv("PLIANT_TEST_BACKEND");
    if (!name)
        return false;
    if (strcmp(name, "strict") == 0)
        pl_strict_register();
    else if (strcmp(name, "emulated") == 0)
        pl_backend_register(&pl_backend_device_f64);
    else if (strcmp(name, "emulated-single") == 0)
        pl_backend_register(&pl_backend_device_f32);
    else
        require(false, "PLIANT_TEST_BACKEND is strict, emulated or emulated-single");
    return true;
}

pl_run *pl_run_open(int32_t threads, const char *json)
{
    char *text = strdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    pl_run *run = calloc(1, sizeof *run);
    pl_faults faults = {0};
    if (pl_scene_decode(text, strlen(text), &run->scene, &faults) != PL_DECODE_OK)
        fail_with("the scene was rejected", &faults);
    free(text);
    require(run->scene.body_count <= PL_TEST_BODIES, "too many bodies");
    pl_mesh_limits limits = {1 << 24, 1 << 26};
    for (int32_t b = 0; b < run->scene.body_count; b++)
        if (pl_body_load(&run->scene, b, NULL, &limits, &run->meshes[b], &faults) != PL_OK)
            fail_with("a mesh was refused", &faults);
    if (choose_backend())
        run->scene.solver.device = PL_DEVICE_GPU;
    if (pl_model_create(&run->scene, run->meshes, &run->model, &faults) != PL_OK)
        fail_with("the model was refused", &faults);
    const char *why = pl_backend_refuses(pl_backend_find(run->scene.solver.device), run->model);
    require(!why, why);
    require(pl_state_create(run->model, threads, &run->state) == PL_OK, "out of memory");
    pl_faults_clear(&faults);
    return run;
}

pl_run *pl_run_openf(int32_t threads, const char *format, ...)
{
    char text[8192];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    require(n < (int)sizeof text, "the scene is too long");
    return pl_run_open(threads, text);
}

void pl_run_close(pl_run *run)
{
    pl_state_destroy(run->state);
    pl_model_destroy(run->model);
    for (int32_t b = 0; b < run->scene.body_count; b++)
        pl_mesh_clear(&run->meshes[b]);
    pl_scene_clear(&run->scene);
    free(run);
}

void pl_run_frames(pl_run *run, int64_t frames)
{
    for (int64_t k = 0; k < frames; k++) {
        pl_status status = pl_frame_step(run->model, run->state, &run->metrics, &run->failure, NULL,
                                         NULL);
        if (status != PL_OK)
            ck_abort_msg("step %lld: %s", (long long)run->failure.step, run->failure.message);
    }
}

void pl_run_go_on(pl_run *run, pl_run *other, int64_t frames)
{
    void *bytes;
    size_t size;
    require(pl_state_save(run->state, &bytes, &size) == PL_OK, "the state is not saved");
    pl_run_frames(run, frames);
    require(pl_state_restore(other->state, bytes, size) == PL_OK, "the state is not restored");
    pl_run_frames(other, frames);
    ck_assert_uint_eq(pl_run_hash(other), pl_run_hash(run));
    free(bytes);
}

const double *pl_run_x(const pl_run *run)
{
    return pl_state_positions(run->state);
}

int64_t pl_run_vertices(const pl_run *run)
{
    return pl_model_vertex_count(run->model);
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash;
}

uint64_t pl_run_hash(const pl_run *run)
{
    size_t size = 3 * (size_t)pl_run_vertices(run) * sizeof(double);
    uint64_t hash = fnv1a(0xCBF29CE484222325u, pl_run_x(run), size);
    return fnv1a(hash, pl_state_velocities(run->state), size);
}

void pl_run_on_host(void)
{
    unsetenv("PLIANT_TEST_BACKEND");
}

double *pl_run_download(const pl_run *run, const pl_array *array, int64_t count)
{
    pl_backend *b = run->state->whole.backend;
    double *out = calloc((size_t)count + 1, sizeof *out);
    b->ops->memory->download(b, out, array, count);
    return out;
}

pl_array *pl_run_upload(const pl_run *run, const double *from, int64_t count)
{
    pl_backend *b = run->state->whole.backend;
    pl_array *array = b->ops->memory->alloc(b, count);
    require(array != NULL, "out of memory");
    b->ops->memory->upload(b, array, from, count);
    return array;
}
