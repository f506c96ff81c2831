/* Sessions that ask for a GPU, on a plug-in whose only device is the host (tests/gpu/emulated_plugin.c): the CPU's
 * frames to rounding, the same bits after a stop. Without a GPU they fail with the reason, before any frame. */
#include "engine/backends/backend.h"
#include "engine/backends/device/device.h"
#include "engine/backends/device/phases.h"
#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "protocol/log/record.h"
#include "protocol/log/session_dir.h"
#include "server/worker/frame_writer.h"
#include "server/worker/session_scene.h"
#include "tests/support/emulated_plugin.h"
#include "tests/support/session_compare.h"
#include "tests/support/session_writer.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void create(session_fixture *f, int steps, const char *solver)
{
    char scene[1024];
    snprintf(
        scene, sizeof scene,
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d}, \"output\": {\"precision\": "
        "\"double\"}, \"solver\": {\"iterations\": 20, \"tolerance\": 0, %s}, \"bodies\": "
        "[{\"mesh\": {\"box\": {\"size\": [2, 1, 1], \"cells\": [4, 2, 2]}}}], \"pins\": "
        "[{\"select\": {\"side\": \"-x\"}}]}",
        steps, solver);
    session_fixture_create(f, NULL, scene);
}

/* An attempt with --gpu and --gpu-plugin, each only if not NULL. */
static pid_t start(const session_fixture *f, const char *attempt, const char *uuid,
                   const char *file)
{
    const char *arguments[12] = {"--session", f->path, "--attempt", attempt, "--threads", "1"};
    int used = 6;
    if (uuid) {
        arguments[used++] = "--gpu";
        arguments[used++] = uuid;
    }
    if (file) {
        arguments[used++] = "--gpu-plugin";
        arguments[used++] = file;
    }
    return session_fixture_spawn("pliant-worker", arguments, NULL, NULL);
}

static int run(const session_fixture *f, const char *attempt, const char *uuid, const char *file)
{
    return session_fixture_wait(start(f, attempt, uuid, file));
}

/* The largest difference of a coordinate in frame k. */
static double apart(const session_fixture *a, const session_fixture *b, int64_t k)
{
    const session_fixture *both[] = {a, b};
    char *frames[2];
    uint64_t length[2];
    for (int i = 0; i < 2; i++) {
        pl_log_reader *reader;
        ck_assert_int_eq(pl_log_reader_open(both[i]->directory, &reader), PL_OK);
        ck_assert_int_gt(pl_log_reader_refresh(reader), k);
        ck_assert_int_eq(pl_log_read(reader, k, PL_LOG_FRAME, &frames[i], &length[i]), PL_LOG_OK);
        pl_log_reader_close(reader);
    }
    ck_assert_uint_eq(length[0], length[1]);
    double most = 0;
    for (uint64_t at = PL_FRAME_HEADER; at < length[0]; at += sizeof(double)) {
        double x, y;
        memcpy(&x, frames[0] + at, sizeof x);
        memcpy(&y, frames[1] + at, sizeof y);
        most = fmax(most, fabs(x - y));
    }
    free(frames[0]);
    free(frames[1]);
    return most;
}

static const struct {
    const char *solver, *device;
    double tolerance;
} METHODS[] = {
    {"\"method\": \"chebyshev_descent\"", "\"device\": \"gpu\"", 1e-4},
    {"\"method\": \"chebyshev_descent\"", "\"device\": \"gpu\", \"precision\": \"double\"", 1e-9},
    {"\"method\": \"lbfgs\"", "\"device\": \"gpu\", \"precision\": \"single\"", 1e-4},
    {"\"method\": \"lbfgs\"", "\"device\": \"gpu\", \"precision\": \"double\"", 1e-9},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS, STEPS = 30 };

static bool is_single(int row)
{
    return METHODS[row].tolerance > 1e-6;
}

static void solver_of(int row, char *text, size_t size)
{
    snprintf(text, size, "%s, %s, \"initial_guess\": \"velocity\"", METHODS[row].solver,
             METHODS[row].device);
}

/* With memory that the worker cannot read between launches; on the emulated device, then on CUDA's plug-in with the
 * stand-in for its runtime. */
static void hold_frames(int row, const char *file, const char *name)
{
    session_fixture cpu, gpu;
    char solver[256], said[64];
    setenv("PLIANT_EMULATED", "closed", 1);
    snprintf(said, sizeof said, ", %s on %s", is_single(row) ? "single" : "double", name);
    snprintf(solver, sizeof solver, "%s, \"initial_guess\": \"velocity\"", METHODS[row].solver);
    create(&cpu, 10, solver);
    solver_of(row, solver, sizeof solver);
    create(&gpu, 10, solver);
    ck_assert_int_eq(session_fixture_preflight(&gpu), 0);
    ck_assert_int_eq(run(&cpu, "1", NULL, NULL), 0);
    ck_assert_int_eq(run(&gpu, "1", "auto", file), 0);
    for (int64_t k = 0; k <= 10; k++)
        ck_assert_double_le(apart(&cpu, &gpu, k), METHODS[row].tolerance);
    /* The CPU did not compute them, and floats were used only on request. */
    ck_assert_double_gt(apart(&cpu, &gpu, 10), is_single(row) ? 1e-9 : 0);
    ck_assert(session_said(&gpu, said));
    pl_log_reader *reader;
    char *epoch;
    uint64_t length;
    ck_assert_int_eq(pl_log_reader_open(gpu.directory, &reader), PL_OK);
    pl_log_reader_refresh(reader);
    ck_assert_int_eq(pl_log_epoch(reader, 1, &epoch, &length), PL_LOG_OK);
    pl_json *told = pl_json_parse(epoch, length, NULL);
    ck_assert_str_eq(pl_json_string(told, "precision", ""), is_single(row) ? "single" : "double");
    ck_assert_ptr_nonnull(strstr(pl_json_string(told, "class", ""), said + 9));
    pl_json_free(told);
    free(epoch);
    pl_log_reader_close(reader);
    session_fixture_destroy(&gpu);
    session_fixture_destroy(&cpu);
}

START_TEST(frames_are_the_cpu_s)
{
    if (_i < METHOD_COUNT)
        hold_frames(_i, plugin, "emulated");
    else
        hold_frames(_i - METHOD_COUNT, standin_plugin, "stand-in");
}
END_TEST

/* A run that was stopped and continued from its checkpoint has the same bits as an uninterrupted one. */
START_TEST(goes_on_with_the_same_bits)
{
    session_fixture whole, stopped;
    char solver[256];
    int status = 0;
    solver_of(_i == 0 ? 0 : METHOD_COUNT - 1, solver, sizeof solver);
    create(&whole, STEPS, solver);
    ck_assert_int_eq(run(&whole, "1", "GPU-emulated", plugin), 0);
    for (int tries = 0; tries < 20 && status != 6; tries++) { /* it may be over before the signal */
        if (tries > 0)
            session_fixture_destroy(&stopped);
        create(&stopped, STEPS, solver);
        pid_t pid = start(&stopped, "1", "auto", plugin);
        ck_assert(session_fixture_await(&stopped, 5));
        kill(pid, SIGTERM);
        status = session_fixture_wait(pid);
    }
    ck_assert_int_eq(status, 6);
    ck_assert_int_eq(run(&stopped, "2", "auto", plugin), 0);
    ck_assert(session_said(&stopped, "continues from the checkpoint of frame"));
    ck_assert(session_said(&stopped, "1 are the same"));
    ck_assert_int_eq(session_fixture_frames(&stopped), STEPS + 1);
    ck_assert_int_eq(session_compare(&whole, &stopped), -1);
    session_fixture_destroy(&stopped);
    session_fixture_destroy(&whole);
}
END_TEST

/* A begun frame is written once its numbers have arrived, and has the state at which it was begun. */
START_TEST(a_frame_is_written_while_the_next_step_runs)
{
    session_fixture f;
    char solver[256];
    solver_of(0, solver, sizeof solver);
    create(&f, 3, solver);
    session_writer w;
    pl_metrics metrics;
    pl_failure failure;
    int64_t written, bad;
    pl_backend_register(&pl_backend_device_f32);
    session_writer_open(&f, &w);
    const int64_t n = pl_model_vertex_count(w.model);
    pl_state_measure(w.model, w.state, &metrics);
    pl_device_hold_transfers(true);
    ck_assert_int_eq(pl_frame_writer_begin(&w.frames, 0, w.state, &metrics), PL_OK);
    double *then = malloc((size_t)(3 * n) * sizeof *then);
    memcpy(then, pl_state_positions(w.state), (size_t)(3 * n) * sizeof *then);
    ck_assert_int_eq(pl_frame_writer_append(&w.frames, false, &written, &bad), PL_OK);
    ck_assert_int_eq(written, -1);
    ck_assert_int_eq(pl_frame_step(w.model, w.state, &metrics, &failure, NULL, NULL), PL_OK);
    ck_assert_int_eq(pl_frame_writer_append(&w.frames, false, &written, &bad), PL_OK);
    ck_assert_int_eq(written, -1);
    ck_assert_int_eq(session_fixture_frames(&f), 0);
    ck_assert_int_eq(pl_frame_writer_append(&w.frames, true, &written, &bad), PL_OK);
    ck_assert_int_eq(written, 0);
    ck_assert_int_eq(session_fixture_frames(&f), 1);
    ck_assert_int_eq(pl_frame_writer_append(&w.frames, true, &written, &bad), PL_OK);
    ck_assert_int_eq(written, -1);
    pl_device_hold_transfers(false);
    ck_assert_int_eq(pl_log_writer_close(w.log), PL_OK);

    pl_log_reader *reader;
    char *frame;
    uint64_t length;
    ck_assert_int_eq(pl_log_reader_open(f.directory, &reader), PL_OK);
    ck_assert_int_eq(pl_log_reader_refresh(reader), 1);
    ck_assert_int_eq(pl_log_read(reader, 0, PL_LOG_FRAME, &frame, &length), PL_LOG_OK);
    ck_assert_uint_eq(length, PL_FRAME_HEADER + 24 * (uint64_t)n);
    ck_assert_mem_eq(frame + PL_FRAME_HEADER, then, 24 * (size_t)n);
    ck_assert_mem_ne(then, pl_state_positions(w.state), 24 * (size_t)n);
    pl_log_reader_close(reader);
    free(frame);
    free(then);
    session_writer_close(&w);
    pl_backend_register(NULL);
    session_fixture_destroy(&f);
}
END_TEST

static const struct {
    const char *uuid, *file, *emulated, *why;
} WITHOUT[] = {
    {NULL, NULL, NULL, "no device, because the worker was started without --gpu"},
    {"auto", "/nowhere/plugin.so", NULL, "no device, because the plug-in is missing"},
    {"auto", "/etc/passwd", NULL, "no device, because the plug-in cannot be loaded"},
    {"auto", plugin, "other build",
     "no device, because the plug-in does not fit: it was built from engine headers"
     " 0123456789abcdef, this program from "},
    {"auto", plugin, "other layout",
     "no device, because the plug-in does not fit: its table has layout"},
    {"auto", plugin, "absent", "no device, because this one is emulated as absent"},
    {"GPU-other", plugin, NULL, "no device, because none of the 1 devices is GPU-other"},
};
enum { WITHOUT_COUNT = sizeof WITHOUT / sizeof *WITHOUT };

/* Two cubes that collide in the second step, by a descent and a splitting method: contact between bodies uses the
 * plug-in's tables, which differ from the worker's. */
START_TEST(bodies_touch)
{
    static const char *const SOLVERS[] = {"\"method\": \"lbfgs\", \"iterations\": 2000",
                                          "\"method\": \"admm\", \"iterations\": 2000"};
    session_fixture fixtures[2];
    for (int i = 0; i < 2; i++) {
        char scene[1024];
        snprintf(
            scene, sizeof scene,
            "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 2}, \"gravity\": [0, 0, 0],"
            " \"output\": {\"precision\": \"double\"}, \"solver\": {\"tolerance\": 1e-5, %s%s},"
            " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [2, 2, 2]}}},"
            "  {\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [2, 2, 2]}}, \"transform\":"
            "   {\"translate\": [1.05, 0.1, 0.1]}, \"initial\": {\"velocity\": [-3, 0, 0]}}]}",
            SOLVERS[_i], i ? ", \"device\": \"gpu\", \"precision\": \"double\"" : "");
        session_fixture_create(&fixtures[i], NULL, scene);
        ck_assert_int_eq(run(&fixtures[i], "1", i ? "auto" : NULL, i ? plugin : NULL), 0);
    }
    ck_assert_double_le(apart(&fixtures[0], &fixtures[1], 2), 1e-3);
    ck_assert(session_said(&fixtures[1], ", double on emulated"));
    session_fixture_destroy(&fixtures[0]);
    session_fixture_destroy(&fixtures[1]);
}
END_TEST

START_TEST(without_a_gpu_it_fails)
{
    session_fixture f;
    create(&f, 3, "\"method\": \"chebyshev_descent\", \"device\": \"gpu\"");
    if (WITHOUT[_i].emulated)
        setenv("PLIANT_EMULATED", WITHOUT[_i].emulated, 1);
    ck_assert_int_eq(run(&f, "1", WITHOUT[_i].uuid, WITHOUT[_i].file), 3);
    unsetenv("PLIANT_EMULATED");
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "failed");
    ck_assert_str_eq(pl_failure_name(e.failure.code), "no_gpu");
    ck_assert_msg(strncmp(e.failure.message, WITHOUT[_i].why, strlen(WITHOUT[_i].why)) == 0, "%s",
                  e.failure.message);
    ck_assert_str_ne(e.failure.advice, "");
    ck_assert_int_eq(session_fixture_frames(&f), 0);
    /* With a GPU it continues. */
    ck_assert_int_eq(run(&f, "2", "auto", plugin), 0);
    ck_assert_int_eq(session_fixture_frames(&f), 4);
    session_fixture_destroy(&f);
}
END_TEST

/* A plug-in stays unused if the scene runs on the CPU. */
START_TEST(a_scene_of_the_cpu_stays_there)
{
    session_fixture a, b;
    create(&a, 5, "\"method\": \"lbfgs\"");
    create(&b, 5, "\"method\": \"lbfgs\"");
    ck_assert_int_eq(run(&a, "1", NULL, NULL), 0);
    ck_assert_int_eq(run(&b, "1", "auto", plugin), 0);
    ck_assert_int_eq(session_compare(&a, &b), -1);
    ck_assert(!session_said(&b, "emulated"));
    session_fixture_destroy(&a);
    session_fixture_destroy(&b);
}
END_TEST

/* A scene that passes preflight but that a device rejects ends with the device's reason. */
START_TEST(the_device_has_the_last_word)
{
    session_fixture f;
    create(&f, 3, "\"method\": \"newton\", \"device\": \"gpu\"");
    ck_assert_int_eq(session_fixture_preflight(&f), 1);
    unlinkat(f.directory, "preflight.json", 0);
    ck_assert_int_eq(run(&f, "1", "auto", plugin), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(pl_failure_name(e.failure.code), "no_gpu");
    ck_assert_ptr_nonnull(strstr(e.failure.message, "Hessian"));
    session_fixture_destroy(&f);
}
END_TEST

static void devices(const char *emulated, char *text, size_t size)
{
    const char *const arguments[] = {"--devices", "--gpu-plugin", plugin, NULL};
    FILE *out = tmpfile();
    if (emulated)
        setenv("PLIANT_EMULATED", emulated, 1);
    pid_t pid = session_fixture_spawn("pliant-worker", arguments, NULL, out);
    unsetenv("PLIANT_EMULATED");
    ck_assert_int_eq(session_fixture_wait(pid), 0);
    rewind(out);
    text[fread(text, 1, size - 1, out)] = '\0';
    fclose(out);
}

START_TEST(devices_are_listed)
{
    char text[4096];
    devices(NULL, text, sizeof text);
    pl_json *found = pl_json_parse(text, strlen(text), NULL);
    ck_assert_uint_eq(pl_json_count(pl_json_at(found, "devices")), 1);
    ck_assert_str_eq(pl_json_string(found, "devices/0/uuid", ""), "GPU-emulated");
    ck_assert_int_eq(pl_json_integer(found, "devices/0/memory", 0), 1 << 30);
    ck_assert_str_eq(pl_json_string(found, "reason", "none"), "none");
    pl_json_free(found);
    devices("absent", text, sizeof text);
    found = pl_json_parse(text, strlen(text), NULL);
    ck_assert_uint_eq(pl_json_count(pl_json_at(found, "devices")), 0);
    ck_assert_str_eq(pl_json_string(found, "reason", ""),
                     "no device, because this one is emulated as absent");
    pl_json_free(found);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("gpu");
    tcase_set_timeout(t, 180);
    tcase_add_unchecked_fixture(t, find_plugin, NULL);
    tcase_add_loop_test(t, frames_are_the_cpu_s, 0, 2 * METHOD_COUNT);
    tcase_add_loop_test(t, goes_on_with_the_same_bits, 0, 2);
    tcase_add_test(t, a_frame_is_written_while_the_next_step_runs);
    tcase_add_loop_test(t, bodies_touch, 0, 2);
    tcase_add_loop_test(t, without_a_gpu_it_fails, 0, WITHOUT_COUNT);
    tcase_add_test(t, a_scene_of_the_cpu_stays_there);
    tcase_add_test(t, the_device_has_the_last_word);
    tcase_add_test(t, devices_are_listed);
    return run_cases("gpu", t);
}
