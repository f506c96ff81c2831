#include "server/worker/compare.h"

#include "engine/step/pliant.h"
#include "protocol/text/json.h"
#include "protocol/text/problem.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_dir.h"
#include "server/worker/gpu.h"
#include "server/worker/session_enter.h"
#include "server/worker/session_scene.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lifetime: the process. */
typedef struct comparison {
    const pl_session_options *options;
    int directory, lock, out;
    pl_session_scene scene;
    int64_t vertices, step; /* the compared step */
    double *x, *v;          /* the state before that step */
} comparison;

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

static bool should_stop(void *context)
{
    return signalled != 0;
}

/* ---- output ---- */

static void begin_event(pl_json_writer *w, const char *event, int32_t entry)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "event", event);
    if (entry >= 0)
        pl_json_set_integer(w, "entry", entry);
    else
        pl_json_set_null(w, "entry");
}

static void tell(comparison *c, pl_json_writer *w)
{
    size_t length;
    pl_json_end_object(w);
    char *text = pl_json_finish(w, &length);
    if (!text) {
        pl_worker_logf("out of memory");
        return;
    }
    text[length] = '\n'; /* replaces the terminating NUL: one write per line */
    if (write(c->out, text, length + 1) != (ssize_t)(length + 1))
        pl_worker_logf("compare.ndjson: %s", strerror(errno));
    free(text);
}

static void tell_faults(comparison *c, int32_t entry, const pl_faults *faults)
{
    pl_json_writer w = {0};
    begin_event(&w, "refused", entry);
    pl_json_key(&w, "faults");
    pl_faults_encode(&w, faults);
    tell(c, &w);
}

static void tell_failure(comparison *c, int32_t entry, const char *code, const char *message,
                         const char *advice)
{
    pl_json_writer w = {0};
    begin_event(&w, "failed", entry);
    pl_json_set_string(&w, "code", code);
    pl_json_set_string(&w, "message", message);
    pl_json_set_string(&w, "advice", advice);
    tell(c, &w);
}

static void tell_status(comparison *c, int32_t entry, pl_status status, const pl_faults *faults)
{
    if (status == PL_INVALID && faults->count)
        tell_faults(c, entry, faults);
    else
        tell_failure(c, entry, status == PL_NO_MEMORY ? "out_of_memory" : "internal",
                     status == PL_IO ? strerror(errno) : "the scene could not be set up", "");
}

static void put_row(pl_json_writer *w, const pl_iteration *row)
{
    const double values[] = {row->objective, row->gradient_norm, row->decrement, row->ms};
    pl_json_begin_array(w);
    for (int i = 0; i < 4; i++)
        pl_json_put_number(w, values[i], 17);
    pl_json_end_array(w);
}

static void tell_done(comparison *c, int32_t entry, double ms, double setup_ms,
                      const pl_metrics *metrics)
{
    pl_json_writer w = {0};
    begin_event(&w, "done", entry);
    pl_json_set_number(&w, "ms", ms);
    pl_json_set_number(&w, "setup_ms", setup_ms);
    pl_json_set_integer(&w, "contact_pairs", metrics->contact.on ? metrics->contact.pairs : 0);
    pl_json_key(&w, "rows");
    pl_json_begin_array(&w);
    for (int64_t i = 0; i < metrics->detail_count; i++)
        put_row(&w, &metrics->detail[i]);
    pl_json_end_array(&w);
    tell(c, &w);
}

/* ---- the way there ---- */

static int32_t threads_of(const comparison *c, const pl_scene *scene)
{
    return c->options->threads > 0 ? c->options->threads : scene->resources.cores;
}

static bool load_scene(comparison *c)
{
    pl_faults faults = {0};
    pl_status status = pl_session_scene_read(c->directory, &c->scene, &faults);
    if (status == PL_OK)
        status = pl_session_scene_load(c->directory, &c->scene, &faults);
    if (status != PL_OK)
        tell_status(c, -1, status, &faults);
    pl_faults_clear(&faults);
    return status == PL_OK;
}

static void keep(comparison *c, const pl_state *state)
{
    size_t bytes = 3 * (size_t)c->vertices * sizeof(double);
    memcpy(c->x, pl_state_positions(state), bytes);
    memcpy(c->v, pl_state_velocities(state), bytes);
}

/* Run the steps before the compared one. */
static bool step_to_compared(comparison *c, const pl_model *model, pl_state *state)
{
    double told = 0;
    for (int64_t k = 0; k < c->step - 1 && !signalled; k++) {
        pl_metrics metrics;
        pl_failure failure;
        if (pl_worker_clock() - told > 0.2) {
            told = pl_worker_clock();
            pl_json_writer w = {0};
            begin_event(&w, "approach", -1);
            pl_json_set_integer(&w, "step", k);
            pl_json_set_integer(&w, "of", c->step - 1);
            tell(c, &w);
        }
        if (pl_frame_step(model, state, &metrics, &failure, should_stop, NULL) != PL_OK) {
            tell_failure(c, -1, pl_failure_name(failure.code), failure.message, failure.advice);
            return false;
        }
    }
    return !signalled;
}

/* Take the device that a scene asks for. False: the error was written. */
static bool take_device(comparison *c, int32_t entry, const pl_scene *scene)
{
    char why[512];
    bool taken = pl_worker_gpu_take(&scene->solver, why, sizeof why);
    if (!taken)
        tell_failure(c, entry, pl_failure_name(PL_FAILURE_NO_GPU), why, "");
    return taken;
}

static bool approach(comparison *c)
{
    if (!take_device(c, -1, &c->scene.scene))
        return false;
    pl_faults faults = {0};
    pl_model *model = NULL;
    pl_state *state = NULL;
    pl_status status = pl_model_create(&c->scene.scene, c->scene.meshes, &model, &faults);
    if (status == PL_OK)
        status = pl_state_create(model, threads_of(c, &c->scene.scene), &state);
    bool reached = false;
    if (status == PL_OK) {
        c->vertices = pl_model_vertex_count(model);
        c->x = malloc(3 * (size_t)c->vertices * sizeof *c->x);
        c->v = malloc(3 * (size_t)c->vertices * sizeof *c->v);
        status = c->x && c->v ? PL_OK : PL_NO_MEMORY;
    }
    if (status != PL_OK)
        tell_status(c, -1, status, &faults);
    else if ((reached = step_to_compared(c, model, state)))
        keep(c, state);
    pl_state_destroy(state);
    pl_model_destroy(model);
    pl_faults_clear(&faults);
    return reached;
}

/* ---- an entry ---- */

/* Run the step with one entry's settings. The results are in *metrics, whose memory is *state's. */
static bool step_once(comparison *c, int32_t entry, const pl_scene *scene, pl_model **model,
                      pl_state **state, pl_metrics *metrics)
{
    pl_faults faults = {0};
    pl_failure failure;
    pl_status status = pl_model_create(scene, c->scene.meshes, model, &faults);
    const char *why = status == PL_OK ? pl_worker_gpu_refuses(*model) : NULL;
    if (why) {
        tell_failure(c, entry, "unsupported", why, "");
        return false;
    }
    if (status == PL_OK)
        status = pl_state_create(*model, threads_of(c, scene), state);
    bool done = false;
    if (status != PL_OK) {
        tell_status(c, entry, status, &faults);
    } else {
        pl_state_enter(*state, c->step - 1, c->x, c->v);
        status = pl_frame_step(*model, *state, metrics, &failure, NULL, NULL);
        done = status == PL_OK && metrics->halved == 0;
        if (status != PL_OK)
            tell_failure(c, entry, pl_failure_name(failure.code), failure.message, failure.advice);
        else if (!done)
            tell_failure(c, entry, "failed", "the step failed and was repeated as two half steps",
                         "Use a smaller time step.");
    }
    pl_faults_clear(&faults);
    return done;
}

static bool run_scene(comparison *c, int32_t entry, pl_scene *scene)
{
    pl_model *model = NULL;
    pl_state *state = NULL;
    pl_metrics metrics = {0};
    if (!take_device(c, entry, scene))
        return false;
    double start = pl_worker_clock();
    scene->output.metrics = PL_METRICS_FRAME;
    bool done = step_once(c, entry, scene, &model, &state, &metrics);
    double ms = metrics.ms_step, setup_ms = 1e3 * (pl_worker_clock() - start) - ms;
    pl_state_destroy(state);
    pl_model_destroy(model);
    if (!done)
        return false;
    model = NULL;
    state = NULL;
    scene->output.metrics = PL_METRICS_ITERATION;
    done = step_once(c, entry, scene, &model, &state, &metrics);
    if (done)
        tell_done(c, entry, ms, setup_ms, &metrics);
    pl_state_destroy(state);
    pl_model_destroy(model);
    return done;
}

static bool run_entry(comparison *c, int32_t entry)
{
    char name[32], *text;
    size_t size;
    bool done = false;
    pl_json_writer w = {0};
    begin_event(&w, "begin", entry);
    tell(c, &w);
    snprintf(name, sizeof name, "entry-%d.json", entry);
    if (pl_file_read(c->directory, name, PL_SCENE_FILE_MAX, &text, &size) != PL_OK) {
        tell_failure(c, entry, "internal", strerror(errno), "");
        return false;
    }
    pl_scene scene;
    pl_faults faults = {0};
    pl_decode_outcome outcome = pl_scene_decode(text, size, &scene, &faults);
    free(text);
    if (outcome != PL_DECODE_OK) {
        tell_status(c, entry, outcome == PL_DECODE_NO_MEMORY ? PL_NO_MEMORY : PL_INVALID, &faults);
    } else {
        pl_status loaded = pl_session_scene_load_obstacles(c->directory, &scene, &faults);
        if (loaded != PL_OK)
            tell_status(c, entry, loaded, &faults);
        else if (scene.body_count == c->scene.scene.body_count)
            done = run_scene(c, entry, &scene);
        pl_scene_clear(&scene);
    }
    pl_faults_clear(&faults);
    return done;
}

static void run_entries(comparison *c, const pl_compare_options *compare)
{
    for (int32_t k = 0; k < compare->entries && !signalled; k++)
        if (run_entry(c, k) && k >= compare->references)
            break;
    pl_json_writer w = {0};
    begin_event(&w, "end", -1);
    tell(c, &w);
}

pl_worker_exit pl_compare_run(const pl_session_options *options, const pl_compare_options *compare)
{
    comparison c = {
        .options = options, .directory = -1, .lock = -1, .out = -1, .step = compare->step};
    struct sigaction stop = {.sa_handler = on_signal};
    sigemptyset(&stop.sa_mask);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    pl_session_entry entry;
    pl_session_enter(options, 1, &entry);
    c.directory = entry.directory;
    c.lock = entry.lock;
    pl_worker_exit end = entry.result;
    if (end == PL_WORKER_SUCCEEDED) {
        c.out = openat(c.directory, "compare.ndjson", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                       0640);
        end = PL_WORKER_FAILED;
        if (c.out < 0)
            pl_worker_logf("compare.ndjson: %s", strerror(errno));
        else if (load_scene(&c) && approach(&c)) {
            run_entries(&c, compare);
            end = PL_WORKER_SUCCEEDED;
        }
    }
    pl_session_scene_clear(&c.scene);
    free(c.x);
    free(c.v);
    const int files[] = {c.out, c.lock, c.directory};
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    return signalled ? PL_WORKER_STOPPED : end;
}
