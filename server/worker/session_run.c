#include "server/worker/session_run.h"

#include "engine/pliant.h"
#include "protocol/json.h"
#include "protocol/log.h"
#include "protocol/session_dir.h"
#include "server/worker/control.h"
#include "server/worker/frame_writer.h"
#include "server/worker/log_syncer.h"
#include "server/worker/sandbox.h"
#include "server/worker/session_scene.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of this name holds a few blocks back, so that the log can be sealed and exit.json written
 * on a full disk. */
#define RESERVE "exit.reserve"
enum { RESERVE_BYTES = 16 << 10 };

typedef enum run_end { RUNNING, SUCCEEDED, FAILED, CANCELLED, STOPPED } run_end;

/* Lifetime: the process. */
typedef struct session_run {
    const pl_session_options *options;
    int directory, lock;
    int32_t threads;
    double started; /* s, monotonic */
    pl_session_scene scene;
    pl_model *model;
    pl_state *state;
    pl_log_writer *log;
    pl_log_syncer *syncer;
    pl_frame_writer writer;
    pl_control control;
    int64_t last_frame; /* committed, -1 before frame 0 */
    run_end end;
    pl_failure failure;
} session_run;

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

static void set_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal};
    sigemptyset(&stop.sa_mask);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    /* A full disk quota and a vanished reader are errors of a write, not the end of the process. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
}

/* ---- failures ---------------------------------------------------------------------------------
 */

__attribute__((format(printf, 4, 5))) static void fail(session_run *run, pl_failure_code code,
                                                       const char *advice, const char *format, ...)
{
    run->end = FAILED;
    pl_failure *f = &run->failure;
    *f = (pl_failure){.code = code,
                      .step = -1,
                      .frame = run->last_frame,
                      .body = -1,
                      .element = -1,
                      .vertex = -1};
    va_list args;
    va_start(args, format);
    vsnprintf(f->message, sizeof f->message, format, args);
    va_end(args);
    snprintf(f->advice, sizeof f->advice, "%s", advice);
}

static void fail_memory(session_run *run, const char *doing)
{
    fail(run, PL_FAILURE_OUT_OF_MEMORY,
         "Ask for more with resources.memory, or use a coarser mesh.", "out of memory while %s",
         doing);
}

static void fail_io(session_run *run, const char *doing, int error)
{
    bool disk = error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
    fail(run, disk ? PL_FAILURE_DISK : PL_FAILURE_INTERNAL,
         error == EIO ? "Check the disk that holds the session; frames so far are kept."
         : disk       ? "Free space or raise the quota or file size limit, or write fewer frames "
                        "with output.every; frames so far are kept."
                      : "See worker.log.",
         "%s: %s", doing, strerror(error));
}

/* A scene that passed its preflight and is refused here: the directory was changed since, or the
 * model found what a preflight does not look for. */
static void fail_faults(session_run *run, const pl_faults *faults)
{
    pl_worker_say("the scene was refused:");
    pl_worker_say_faults(faults);
    if (!faults->count)
        fail(run, PL_FAILURE_INTERNAL, "See worker.log.", "the scene was refused");
    else
        fail(run, PL_FAILURE_INTERNAL, faults->items[0].hint, "%.100s: %.40s: got %.90s",
             faults->items[0].pointer, faults->items[0].code, faults->items[0].got);
}

static bool done_or_fail(session_run *run, pl_status status, const pl_faults *faults,
                         const char *doing)
{
    int error = errno;
    switch (status) {
    case PL_OK:
        return true;
    case PL_NO_MEMORY:
        fail_memory(run, doing);
        break;
    case PL_IO:
        fail_io(run, doing, error);
        break;
    default:
        fail_faults(run, faults);
    }
    return false;
}

/* ---- start ------------------------------------------------------------------------------------
 */

/* Lock, fence, log and sandbox. Only with PL_WORKER_SUCCEEDED may the directory be written. */
static pl_worker_exit enter(session_run *run)
{
    const char *path = run->options->directory;
    run->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->directory < 0) {
        pl_worker_say("%s: %s", path, strerror(errno));
        return PL_WORKER_USAGE;
    }
    pl_status status = pl_session_lock(run->directory, true, &run->lock);
    if (status != PL_OK) {
        pl_worker_say("%s: %s", path,
                      status == PL_INVALID ? "another worker holds the lock" : strerror(errno));
        return PL_WORKER_REFUSED;
    }
    pl_head head = {0};
    status = pl_head_read(run->directory, &head);
    int32_t newest = status == PL_OK ? head.attempt : 0;
    pl_head_clear(&head);
    /* A damaged head says nothing; a run from frame 0 replaces it. */
    if (status != PL_OK && !(status == PL_IO && (errno == ENOENT || errno == EBADMSG))) {
        pl_worker_say("%s: head.json can not be read: %s", path, strerror(errno));
        return PL_WORKER_REFUSED;
    }
    if (run->options->attempt <= newest) {
        pl_worker_say("%s: attempt %d is stale: attempt %d has begun", path, run->options->attempt,
                      newest);
        return PL_WORKER_REFUSED;
    }
    if (!pl_worker_log_open(run->directory))
        pl_worker_say("%s: worker.log can not be opened: %s", path, strerror(errno));
    pl_sandbox_report sandbox;
    if (pl_sandbox_enter(&(pl_sandbox){.directory = run->directory}, &sandbox) != PL_OK) {
        pl_worker_say("the sandbox could not be entered: %s", strerror(errno));
        return PL_WORKER_USAGE;
    }
    pl_worker_say("pliant-worker " PLIANT_VERSION ", attempt %d, %s", run->options->attempt,
                  sandbox.text);
    return PL_WORKER_SUCCEEDED;
}

/* Keep blocks back for exit.json. Not having them is no reason not to run. */
static void reserve(int directory)
{
    int fd = openat(directory, RESERVE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (fd < 0)
        return;
    int failed = posix_fallocate(fd, 0, RESERVE_BYTES);
    if (failed)
        pl_worker_say("no space held back for exit.json: %s", strerror(failed));
    close(fd);
}

static bool read_scene(session_run *run)
{
    pl_faults faults = {0};
    bool good = false;
    pl_status status = pl_session_scene_read(run->directory, &run->scene, &faults);
    if (pl_session_scene_accepted(run->directory, &run->scene))
        good = done_or_fail(run, status, &faults, "reading scene.json");
    else
        fail(run, PL_FAILURE_INTERNAL, "Submit the scene again.",
             "scene.json was changed since it was accepted");
    if (good) {
        run->threads = run->options->threads;
        if (run->threads <= 0)
            run->threads = run->scene.scene.resources.cores;
        if (run->threads < 1)
            run->threads = 1;
        /* Before the meshes: theirs is the first memory that a scene can make large. */
        if (pl_sandbox_limit_memory(run->options->memory, run->threads) != PL_OK)
            pl_worker_say("no memory limit: %s", strerror(errno));
        good = done_or_fail(run, pl_session_scene_load(run->directory, &run->scene, &faults),
                            &faults, "reading meshes");
    }
    pl_faults_clear(&faults);
    return good;
}

static bool build_model(session_run *run)
{
    pl_faults faults = {0};
    bool good = done_or_fail(
        run, pl_model_create(&run->scene.scene, run->scene.meshes, &run->model, &faults), &faults,
        "building the model");
    pl_faults_clear(&faults);
    pl_session_scene_drop_meshes(&run->scene);
    if (good)
        good = done_or_fail(run, pl_state_create(run->model, run->threads, &run->state), &faults,
                            "building the state");
    return good;
}

/* The epoch record: which attempt, on what, wrote the frames that follow. */
static char *encode_epoch(const session_run *run)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "attempt", run->options->attempt);
    pl_json_set_string(&w, "isa", pl_engine_isa());
    pl_json_set_string(&w, "precision", "double");
    pl_json_set_integer(&w, "threads", run->threads);
    pl_json_set_string(&w, "version", PLIANT_VERSION);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

static bool open_log(session_run *run)
{
    char *epoch = encode_epoch(run);
    if (!epoch) {
        fail_memory(run, "opening the log");
        return false;
    }
    pl_status status = pl_log_writer_open(run->directory, run->options->attempt, 0, epoch,
                                          &run->log);
    int error = errno;
    free(epoch);
    if (status == PL_INVALID) {
        fail(run, PL_FAILURE_INTERNAL, "", "a newer attempt has begun");
        return false;
    }
    errno = error;
    if (!done_or_fail(run, status, &(pl_faults){0}, "opening the log"))
        return false;
    /* What an earlier attempt came to is no longer how the session stands. */
    unlinkat(run->directory, "exit.json", 0);
    return done_or_fail(run, pl_log_syncer_start(run->log, &run->syncer), &(pl_faults){0},
                        "starting the log's sync") &&
           done_or_fail(run,
                        pl_frame_writer_init(&run->writer, run->log, &run->scene.scene,
                                             pl_model_vertex_count(run->model)),
                        &(pl_faults){0}, "preparing frames");
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* The body that a vertex of the model belongs to. */
static int32_t body_of_vertex(const session_run *run, int64_t vertex)
{
    int32_t body = run->scene.scene.body_count - 1;
    while (body > 0 && pl_model_first_vertex(run->model, body) > vertex)
        body--;
    return body;
}

static bool write_frame(session_run *run, int64_t frame, pl_metrics *metrics)
{
    int64_t vertex = -1;
    pl_status status = pl_frame_writer_append(&run->writer, frame, run->state, metrics, &vertex);
    if (status == PL_OK) {
        run->last_frame = frame;
        pl_log_syncer_mark(run->syncer);
        return true;
    }
    if (status != PL_FAILED)
        return done_or_fail(run, status, &(pl_faults){0}, "writing a frame");
    int32_t body = body_of_vertex(run, vertex);
    fail(run, PL_FAILURE_NOT_FINITE, "Use a smaller time step or more solver iterations.",
         "a position of body '%.60s' is not finite", run->scene.scene.bodies[body].name);
    run->failure.step = pl_state_step(run->state);
    run->failure.body = body;
    run->failure.vertex = vertex - pl_model_first_vertex(run->model, body);
    return false;
}

/* Asked between steps. True ends the run: run->end says how. */
static bool should_stop(void *context)
{
    session_run *run = context;
    double limit = run->scene.scene.resources.time_limit;
    int error = pl_log_syncer_error(run->syncer);
    if (pl_control_poll(&run->control))
        run->end = CANCELLED;
    else if (signalled)
        run->end = STOPPED;
    else if (error)
        fail_io(run, "bringing the log to the disk", error);
    else if (limit > 0 && pl_worker_clock() - run->started > limit)
        fail(run, PL_FAILURE_TIMEOUT, "Raise resources.time_limit, or simulate less.",
             "the time limit of %g s is over", limit);
    return run->end != RUNNING;
}

static void step_failed(session_run *run, pl_status status, const pl_failure *failure)
{
    if (status == PL_NO_MEMORY) {
        fail_memory(run, "stepping");
        return;
    }
    run->end = FAILED;
    run->failure = *failure;
    run->failure.frame = run->last_frame;
    if (run->failure.code == PL_FAILURE_NONE)
        run->failure.code = PL_FAILURE_INTERNAL;
}

static void step_frames(session_run *run)
{
    int64_t frames = pl_scene_frames(&run->scene.scene);
    for (int64_t frame = 1; frame <= frames; frame++) {
        if (should_stop(run))
            return;
        pl_metrics metrics = {0};
        pl_failure failure = {.code = PL_FAILURE_NONE};
        pl_status status = pl_frame_step(run->model, run->state, &metrics, &failure, should_stop,
                                         run);
        if (run->end != RUNNING)
            return; /* between two steps of a frame: the frame is not complete */
        if (status != PL_OK) {
            step_failed(run, status, &failure);
            return;
        }
        if (!write_frame(run, frame, &metrics))
            return;
    }
    run->end = SUCCEEDED;
}

/* From scene.json to the last frame. */
static void compute(session_run *run)
{
    double begin = pl_worker_clock();
    if (!read_scene(run))
        return;
    double read = pl_worker_clock();
    if (!build_model(run))
        return;
    double built = pl_worker_clock();
    if (!open_log(run))
        return;
    double opened = pl_worker_clock();
    pl_metrics metrics = {0};
    pl_state_measure(run->model, run->state, &metrics);
    if (!write_frame(run, 0, &metrics))
        return;
    double first = pl_worker_clock();
    pl_worker_say("%lld vertices, %lld tetrahedra, %lld frames, %d threads, %s",
                  (long long)pl_model_vertex_count(run->model),
                  (long long)pl_model_tet_count(run->model),
                  (long long)pl_scene_frames(&run->scene.scene), run->threads, pl_engine_isa());
    pl_worker_say("frame 0 after %.1f ms: start %.1f, scene and meshes %.1f, model %.1f, log %.1f, "
                  "frame %.1f",
                  1e3 * (first - run->started), 1e3 * (begin - run->started), 1e3 * (read - begin),
                  1e3 * (built - read), 1e3 * (opened - built), 1e3 * (first - opened));
    step_frames(run);
}

/* ---- end --------------------------------------------------------------------------------------
 */

/* Everything committed goes to the disk before anything says that the run is over. */
static void close_log(session_run *run)
{
    pl_log_syncer_stop(run->syncer);
    run->syncer = NULL;
    if (!run->log)
        return;
    if (pl_log_sync(run->log) != PL_OK && run->end == SUCCEEDED)
        fail_io(run, "bringing the log to the disk", errno);
    if (pl_log_writer_close(run->log) != PL_OK)
        pl_worker_say("the log could not be sealed: %s", strerror(errno));
    run->log = NULL;
}

static void write_exit(session_run *run)
{
    static const char *const names[] = {
        [SUCCEEDED] = "succeeded", [FAILED] = "failed", [CANCELLED] = "cancelled"};
    pl_exit e = {.attempt = run->options->attempt,
                 .frames = run->last_frame,
                 .seconds = pl_worker_clock() - run->started,
                 .failure = run->failure};
    snprintf(e.state, sizeof e.state, "%s", names[run->end]);
    if (pl_exit_write(run->directory, &e) != PL_OK)
        pl_worker_say("exit.json could not be written: %s", strerror(errno));
    if (run->end == FAILED)
        pl_worker_say("failed: %s: %s", pl_failure_name(run->failure.code), run->failure.message);
    pl_worker_say("%s after frame %lld, %.3f s", e.state, (long long)e.frames, e.seconds);
}

static pl_worker_exit finish(session_run *run)
{
    /* Sealing the log and saying how it ended both need a little room. */
    unlinkat(run->directory, RESERVE, 0);
    close_log(run);
    if (run->end == STOPPED) {
        pl_worker_say("stopped by signal %d after frame %lld", (int)signalled,
                      (long long)run->last_frame);
        return PL_WORKER_STOPPED;
    }
    write_exit(run);
    return run->end == SUCCEEDED ? PL_WORKER_SUCCEEDED
           : run->end == FAILED  ? PL_WORKER_FAILED
                                 : PL_WORKER_CANCELLED;
}

static void release(session_run *run)
{
    pl_frame_writer_clear(&run->writer);
    pl_control_clear(&run->control);
    pl_state_destroy(run->state);
    pl_model_destroy(run->model);
    pl_session_scene_clear(&run->scene);
    /* The lock goes last: until here nobody else may take the directory for free. */
    if (run->lock >= 0)
        close(run->lock);
    if (run->directory >= 0)
        close(run->directory);
}

pl_worker_exit pl_session_run(const pl_session_options *options)
{
    session_run run = {
        .options = options,
        .directory = -1,
        .lock = -1,
        .last_frame = -1,
        .started = pl_worker_clock(),
        .failure = {.step = -1, .frame = -1, .body = -1, .element = -1, .vertex = -1}};
    set_signals();
    pl_worker_exit result = enter(&run);
    pl_control_init(&run.control, run.directory);
    if (result == PL_WORKER_SUCCEEDED) {
        reserve(run.directory);
        compute(&run);
        result = finish(&run);
    }
    release(&run);
    return result;
}
