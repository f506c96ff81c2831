#include "server/worker/gpu.h"
#include "server/worker/session_run.h"

#include "engine/pliant.h"
#include "protocol/json.h"
#include "protocol/log.h"
#include "protocol/log_prune.h"
#include "protocol/session_dir.h"
#include "server/worker/branch.h"
#include "server/worker/checkpoints.h"
#include "server/worker/control.h"
#include "server/worker/frame_writer.h"
#include "server/worker/log_syncer.h"
#include "server/worker/pace.h"
#include "server/worker/probes.h"
#include "server/worker/recovery.h"
#include "server/worker/sandbox.h"
#include "server/worker/session_enter.h"
#include "server/worker/session_scene.h"
#include "server/worker/steering.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How a run ends. FENCED: a newer attempt has begun, and the directory is its. */
typedef enum run_end { RUNNING, SUCCEEDED, FAILED, CANCELLED, STOPPED, PAUSED, FENCED } run_end;

/* Lifetime: the process. */
typedef struct session_run {
    const pl_session_options *options;
    int directory, lock;
    int32_t threads;
    double started; /* s, monotonic */
    double earlier; /* s of running that the checkpoint brought along */
    pl_session_scene scene;
    pl_status read_status; /* what reading scene.json came to */
    int read_error;        /* errno of it */
    pl_faults read_faults;
    bool has_device;      /* the one that the scene asks for */
    char no_device[512];  /* why not */
    pl_steering steering; /* model and state */
    pl_log_writer *log;
    pl_log_syncer *syncer;
    pl_frame_writer writer;
    pl_probes probes;
    pl_pace_keeper pace;
    pl_control control;
    pl_checkpoints checkpoints;
    pl_checkpoint resumed;     /* frame -1: from none */
    pl_comparison comparison;  /* open while frames are computed again */
    int64_t last_frame;        /* committed, -1 before frame 0 */
    int64_t state_frame;       /* whole frame that the state has reached, -1 before frame 0 */
    bool first_step;           /* of a frame: not yet begun */
    int64_t first_step_number; /* of frame 0: above 0 in a branch */
    int64_t halved_frames;     /* with steps that were taken as two halves */
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

static void fail_gpu(session_run *run, const char *why)
{
    fail(run, PL_FAILURE_NO_GPU,
         "Run it where there is a GPU that has all of the scene, or with \"device\": \"cpu\".",
         "%.250s", why);
}

/* scene.json, and the device that it asks for. What is wrong with either is told once the log is open. */
static void decode_scene(session_run *run)
{
    run->read_status = pl_session_scene_read(run->directory, &run->scene, &run->read_faults);
    run->read_error = errno;
    if (run->read_status == PL_OK)
        run->has_device = pl_worker_gpu_take(&run->scene.scene.solver, run->no_device,
                                             sizeof run->no_device);
}

static bool read_scene(session_run *run)
{
    pl_faults faults = {0};
    bool good = false;
    errno = run->read_error;
    if (pl_session_scene_accepted(run->directory, &run->scene))
        good = done_or_fail(run, run->read_status, &run->read_faults, "reading scene.json");
    else
        fail(run, PL_FAILURE_INTERNAL, "Submit the scene again.",
             "scene.json was changed since it was accepted");
    if (good && !run->has_device) {
        fail_gpu(run, run->no_device);
        good = false;
    }
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
    run->steering = (pl_steering){.directory = run->directory,
                                  .scene = &run->scene,
                                  .log = run->log,
                                  .threads = run->threads};
    bool good = done_or_fail(run, pl_steering_build(&run->steering, &faults), &faults,
                             "building the model");
    if (good)
        good = done_or_fail(run,
                            pl_probes_init(&run->probes, &run->scene, run->steering.state, &faults),
                            &faults, "preparing probes");
    pl_faults_clear(&faults);
    pl_session_scene_drop_meshes(&run->scene);
    pl_pace_init(&run->pace, &run->scene.scene);
    if (good)
        good = done_or_fail(
            run, pl_branch_enter(run->directory, &run->steering, &run->first_step_number, &faults),
            &faults, "coming to where the other session was");
    pl_faults_clear(&faults);
    const char *why = good ? pl_worker_gpu_refuses(run->steering.model) : NULL;
    if (why) {
        fail_gpu(run, why);
        good = false;
    }
    return good;
}

/* The epoch record: which attempt, on what, wrote the frames that follow. */
static char *encode_epoch(const session_run *run)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "event", "attempt");
    pl_json_set_integer(&w, "attempt", run->options->attempt);
    pl_json_set_string(&w, "class", pl_worker_class());
    pl_json_set_string(&w, "isa", pl_engine_isa());
    pl_json_set_string(&w, "precision", pl_worker_precision());
    if (run->options->threads > 0)
        pl_json_set_integer(&w, "threads", run->options->threads);
    else
        pl_json_set_null(&w, "threads"); /* as the scene says, which is read later */
    pl_json_set_string(&w, "version", PLIANT_VERSION);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

/* Before anything that takes long: from here on older attempts are fenced off. */
static bool open_log(session_run *run)
{
    char *epoch = encode_epoch(run);
    if (!epoch) {
        fail_memory(run, "opening the log");
        return false;
    }
    pl_status status = pl_log_writer_open(run->directory, run->options->attempt, PL_LOG_CONTINUE,
                                          epoch, &run->log);
    int error = errno;
    free(epoch);
    if (status == PL_INVALID) {
        run->end = FENCED;
        return false;
    }
    errno = error;
    if (!done_or_fail(run, status, &(pl_faults){0}, "opening the log"))
        return false;
    const pl_retention *retention = &run->scene.scene.output.retention;
    pl_log_writer_keep(run->log, &(pl_log_keep){retention->last, retention->every});
    run->last_frame = pl_log_writer_next(run->log) - 1;
    /* What an earlier attempt came to is no longer how the session stands. */
    unlinkat(run->directory, "exit.json", 0);
    pl_recovery_clean(run->directory);
    pl_session_reserve(run->directory);
    return done_or_fail(run, pl_log_syncer_start(run->log, &run->syncer), &(pl_faults){0},
                        "starting the log's sync");
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* The body that a vertex of the model belongs to. */
static int32_t body_of_vertex(const session_run *run, int64_t vertex)
{
    int32_t body = run->scene.scene.body_count - 1;
    while (body > 0 && pl_model_first_vertex(run->steering.model, body) > vertex)
        body--;
    return body;
}

static void fail_not_finite(session_run *run, int64_t vertex)
{
    int32_t body = body_of_vertex(run, vertex);
    fail(run, PL_FAILURE_NOT_FINITE, "Use a smaller time step or more solver iterations.",
         "a position of body '%.60s' is not finite", run->scene.scene.bodies[body].name);
    run->failure.step = pl_state_step(run->steering.state);
    run->failure.body = body;
    run->failure.vertex = vertex - pl_model_first_vertex(run->steering.model, body);
}

static bool write_frame(session_run *run, int64_t frame, pl_metrics *metrics)
{
    int64_t vertex = -1;
    pl_status status = pl_frame_writer_append(&run->writer, frame, run->steering.state, metrics,
                                              &vertex);
    int error = errno;
    if (status == PL_OK) {
        run->last_frame = frame;
        pl_log_syncer_mark(run->syncer);
        return true;
    }
    errno = error;
    if (status == PL_FAILED)
        fail_not_finite(run, vertex);
    else if (pl_log_writer_fenced(run->log))
        run->end = FENCED;
    else
        done_or_fail(run, status, &(pl_faults){0}, "writing a frame");
    return false;
}

static double seconds_of_running(const session_run *run)
{
    return run->earlier + pl_worker_clock() - run->started;
}

/* Whether it is to pause, now or after the step that was asked for. */
static bool wants_pause(const session_run *run)
{
    const pl_control *c = &run->control;
    return c->paused || (c->pause_at >= 0 && run->state_frame >= c->pause_at);
}

/* Asked between steps. True ends the run: run->end says how. */
static bool should_stop(session_run *run)
{
    double limit = run->scene.scene.resources.time_limit;
    int error = pl_log_syncer_error(run->syncer);
    pl_control_poll(&run->control);
    if (run->control.has_keep) {
        run->control.has_keep = false;
        pl_log_writer_keep(run->log,
                           &(pl_log_keep){run->control.keep_last, run->control.keep_every});
    }
    if (pl_log_writer_fenced(run->log))
        run->end = FENCED;
    else if (run->control.cancelled)
        run->end = CANCELLED;
    else if (signalled)
        run->end = STOPPED;
    else if (wants_pause(run))
        run->end = PAUSED;
    else if (error)
        fail_io(run, "bringing the log to the disk", error);
    else if (limit > 0 && seconds_of_running(run) > limit)
        fail(run, PL_FAILURE_TIMEOUT, "Raise resources.time_limit, or simulate less.",
             "the time limit of %g s is over", limit);
    return run->end != RUNNING;
}

static pl_checkpoint_note note_of(const session_run *run)
{
    return (pl_checkpoint_note){.frame = run->state_frame,
                                .control_end = run->control.offset,
                                .seconds = seconds_of_running(run)};
}

/* ---- computing again --------------------------------------------------------------------------
 */

static void fail_not_reproducible(session_run *run, int64_t frame, const char *how)
{
    fail(run, PL_FAILURE_NOT_REPRODUCIBLE,
         "Frames are kept as first computed. Workers of one class must agree to the bit: suspect "
         "memory or hardware of this machine or of the earlier one, or a library that was "
         "replaced.",
         "frame %lld, computed again from frame %lld on, %s (class '%.70s')", (long long)frame,
         (long long)(run->resumed.frame < 0 ? 0 : run->resumed.frame), how, pl_worker_class());
    run->failure.frame = frame > 0 ? frame - 1 : -1;
    run->failure.step = pl_state_step(run->steering.state);
}

/* Compare the state with a committed frame. metrics NULL: positions only. */
static bool compare_frame(session_run *run, int64_t frame, pl_metrics *metrics)
{
    int64_t vertex = -1;
    pl_frame_verdict verdict = PL_FRAME_SAME;
    pl_status status = pl_comparison_check(&run->comparison, &run->writer, frame,
                                           run->steering.state, metrics, &vertex, &verdict);
    if (status == PL_FAILED)
        fail_not_reproducible(run, frame, "has a position that is not finite");
    else if (!done_or_fail(run, status, &(pl_faults){0}, "comparing a frame"))
        return false;
    else if (verdict == PL_FRAME_MOVED)
        fail_not_reproducible(run, frame, "has other positions than what is stored");
    else if (verdict == PL_FRAME_MEASURED)
        fail_not_reproducible(run, frame, "has other metrics than what is stored");
    return run->end == RUNNING;
}

/* The run has caught up with the log. */
static void end_comparison(session_run *run)
{
    const pl_comparison *c = &run->comparison;
    pl_worker_say("frames up to %lld computed again: %lld are the same, %lld damaged ones could "
                  "not be compared",
                  (long long)run->last_frame, (long long)c->compared, (long long)c->skipped);
    pl_comparison_close(&run->comparison);
}

/* Say in the log that what follows comes from another numerics class than what is before. */
static bool note_class(session_run *run)
{
    const char *before = run->comparison.last_class;
    if (strcmp(before, pl_worker_class()) == 0)
        return true;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "event", "numerics_changed");
    pl_json_set_string(&w, "from", before);
    pl_json_set_string(&w, "to", pl_worker_class());
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    pl_status status = text ? pl_log_append_epoch(run->log, text) : PL_NO_MEMORY;
    int error = errno;
    free(text);
    errno = error;
    pl_worker_say("numerics class changed from '%s' to '%s'", before, pl_worker_class());
    return done_or_fail(run, status, &(pl_faults){0}, "noting the numerics class");
}

/* What the engine does not know of a frame. */
static void tell_more(session_run *run, pl_metrics *metrics)
{
    metrics->control = run->steering.last;
    pl_pace_measure(&run->pace, metrics);
    pl_probes_measure(&run->probes, run->steering.state, metrics);
}

/* Bring the state to the newest checkpoint, and begin to compare. */
static bool resume(session_run *run)
{
    int64_t committed = run->last_frame + 1;
    pl_status status = pl_recovery_restore(run->directory, &run->steering, committed,
                                           &run->resumed);
    if (status == PL_INVALID) {
        fail(run, PL_FAILURE_INTERNAL, "Submit the changed scene as a session of its own.",
             "the checkpoint is of another model: scene or meshes in the session directory were "
             "changed since");
        return false;
    }
    if (!done_or_fail(run, status, &(pl_faults){0}, "restoring a checkpoint") ||
        !done_or_fail(
            run, pl_comparison_open(&run->comparison, run->directory, &run->resumed, committed),
            &(pl_faults){0}, "reading the log"))
        return false;
    const pl_checkpoint *c = &run->resumed;
    run->earlier = c->frame >= 0 ? c->seconds : 0;
    run->state_frame = c->frame >= 0 ? c->frame : 0;
    if (c->frame >= 0)
        pl_worker_say("%lld frames are there; goes on from the checkpoint of frame %lld by attempt "
                      "%d",
                      (long long)committed, (long long)c->frame, c->attempt);
    else
        pl_worker_say("%lld frames are there and no checkpoint: computed again from frame 0",
                      (long long)committed);
    if (!note_class(run))
        return false;
    if (c->frame >= 0)
        return compare_frame(run, c->frame, NULL);
    pl_metrics metrics = {0};
    pl_state_measure(run->steering.model, run->steering.state, &metrics);
    tell_more(run, &metrics);
    return compare_frame(run, 0, &metrics);
}

/* ---- stepping ---------------------------------------------------------------------------------
 */

static void step_failed(session_run *run, int64_t frame, pl_status status,
                        const pl_failure *failure)
{
    if (status == PL_NO_MEMORY) {
        fail_memory(run, "stepping");
        return;
    }
    if (frame <= run->last_frame && run->comparison.on) {
        char how[192];
        snprintf(how, sizeof how, "fails: %.150s", failure->message);
        fail_not_reproducible(run, frame, how);
        return;
    }
    run->end = FAILED;
    run->failure = *failure;
    run->failure.frame = run->last_frame;
    if (run->failure.code == PL_FAILURE_NONE)
        run->failure.code = PL_FAILURE_INTERNAL;
}

/* Where the engine had to take steps by halves, worker.log says so: twenty times, then by count. */
static void note_halved(session_run *run, int64_t frame, const pl_metrics *metrics)
{
    enum { SAID = 20 };
    if (metrics->halved <= 0)
        return;
    if (++run->halved_frames <= SAID)
        pl_worker_say("frame %lld: %lld steps taken as two halves each%s", (long long)frame,
                      (long long)metrics->halved,
                      run->halved_frames == SAID ? "; further frames are only counted" : "");
}

/* Asked by the engine. Not before a frame's first step, of which it was asked just before: what was
 * noted in the log of that step then has a step to be of. */
static bool stop_within(void *context)
{
    session_run *run = context;
    bool first = run->first_step;
    run->first_step = false;
    return !first && should_stop(run);
}

/* The controls that are in effect from this frame on: as noted, or new ones. */
static bool steer(session_run *run, int64_t frame)
{
    pl_faults faults = {0};
    pl_status status;
    if (frame <= run->last_frame)
        status = pl_steering_repeat(&run->steering, run->comparison.reader, frame, &faults);
    else
        status = pl_steering_apply(&run->steering, &run->control, frame, &faults);
    bool good = done_or_fail(run, status, &faults, "applying a control");
    pl_faults_clear(&faults);
    return good;
}

/* One frame more: computed, and written or compared. */
static bool make_frame(session_run *run, int64_t frame)
{
    pl_checkpoint_note note = note_of(run);
    /* A frame of several steps can be broken off in its middle, where no checkpoint can be. */
    if (run->scene.scene.output.every > 1)
        pl_checkpoints_keep(&run->checkpoints, run->steering.state, &note);
    if (!steer(run, frame))
        return false;
    pl_metrics metrics = {0};
    pl_failure failure = {.code = PL_FAILURE_NONE};
    run->state_frame = -1;
    run->first_step = true;
    pl_status status = pl_frame_step(run->steering.model, run->steering.state, &metrics, &failure,
                                     stop_within, run);
    if (run->end != RUNNING) {
        int64_t steps = pl_state_step(run->steering.state) - run->first_step_number;
        if (steps == note.frame * run->scene.scene.output.every)
            run->state_frame = note.frame;
        return false;
    }
    if (status != PL_OK) {
        step_failed(run, frame, status, &failure);
        return false;
    }
    run->state_frame = frame;
    tell_more(run, &metrics);
    if (frame <= run->last_frame) {
        if (!compare_frame(run, frame, &metrics))
            return false;
    } else if (!write_frame(run, frame, &metrics)) {
        return false;
    }
    note_halved(run, frame, &metrics);
    note = note_of(run);
    pl_checkpoints_tick(&run->checkpoints, run->steering.state, &note);
    return true;
}

/* What is asked of the next frame is got ready while there is time. */
static bool stop_waiting(void *context)
{
    session_run *run = context;
    if (should_stop(run))
        return true;
    pl_steering_prepare(&run->steering, &run->control);
    return false;
}

/* Until the clock has come to the next frame. */
static bool await_frame(session_run *run)
{
    return pl_pace_wait(&run->pace, pl_state_time(run->steering.state), stop_waiting, run);
}

static void step_frames(session_run *run)
{
    int64_t every = run->scene.scene.output.every;
    int64_t frames = pl_scene_frames(&run->scene.scene) - run->first_step_number / every;
    for (int64_t frame = run->state_frame + 1; frame <= frames; frame++) {
        if (run->comparison.reader && frame > run->last_frame)
            end_comparison(run);
        if (should_stop(run) || (frame > run->last_frame && !await_frame(run)) ||
            !make_frame(run, frame))
            return;
    }
    if (run->comparison.reader)
        end_comparison(run);
    run->end = SUCCEEDED;
}

/* Frame 0, or the state to go on from. */
static bool first_state(session_run *run)
{
    if (!done_or_fail(run,
                      pl_frame_writer_init(&run->writer, run->log, &run->scene.scene,
                                           pl_model_vertex_count(run->steering.model)),
                      &(pl_faults){0}, "preparing frames"))
        return false;
    bool again = run->last_frame >= 0;
    if (again && !resume(run))
        return false;
    int slot = run->resumed.frame >= 0 ? 1 - run->resumed.slot : 0;
    pl_checkpoints_init(&run->checkpoints, run->directory, run->options->attempt,
                        run->options->checkpoint_every, slot);
    run->checkpoints.log = run->log;
    run->checkpoints.syncer = run->syncer;
    run->checkpoints.steering = &run->steering;
    if (again) {
        run->checkpoints.last = pl_worker_clock();
        return true;
    }
    pl_metrics metrics = {0};
    pl_state_measure(run->steering.model, run->steering.state, &metrics);
    tell_more(run, &metrics);
    if (!write_frame(run, 0, &metrics))
        return false;
    run->state_frame = 0;
    pl_checkpoint_note note = note_of(run);
    pl_checkpoints_tick(&run->checkpoints, run->steering.state, &note);
    return true;
}

/* From the lock to the last frame. */
static void compute(session_run *run)
{
    double begin = pl_worker_clock();
    decode_scene(run); /* of which the log's first record tells what computes */
    if (!open_log(run) || should_stop(run))
        return;
    double opened = pl_worker_clock();
    if (!read_scene(run))
        return;
    double read = pl_worker_clock();
    if (!build_model(run))
        return;
    double built = pl_worker_clock();
    if (!first_state(run))
        return;
    double first = pl_worker_clock();
    pl_worker_say("%lld vertices, %lld tetrahedra, %lld frames, %d threads, %s",
                  (long long)pl_model_vertex_count(run->steering.model),
                  (long long)pl_model_tet_count(run->steering.model),
                  (long long)pl_scene_frames(&run->scene.scene), run->threads, pl_worker_class());
    pl_worker_say("frame %lld after %.1f ms: start %.1f, log %.1f, scene and meshes %.1f, model "
                  "%.1f, frame %.1f",
                  (long long)run->state_frame, 1e3 * (first - run->started),
                  1e3 * (begin - run->started), 1e3 * (opened - begin), 1e3 * (read - opened),
                  1e3 * (built - read), 1e3 * (first - built));
    step_frames(run);
}

/* ---- end --------------------------------------------------------------------------------------
 */

/* Everything committed goes to the disk before anything says that the run is over. */
static void close_log(session_run *run)
{
    if (!run->log)
        return;
    if (pl_log_sync(run->log) != PL_OK && run->end == SUCCEEDED)
        fail_io(run, "bringing the log to the disk", errno);
    if (pl_log_writer_close(run->log) != PL_OK)
        pl_worker_say("the log could not be sealed: %s", strerror(errno));
    run->log = NULL;
}

/* The state to go on from later. The syncer has been stopped. */
static void last_checkpoint(session_run *run)
{
    bool wanted = run->end == STOPPED || run->end == PAUSED;
    if (!wanted || !run->checkpoints.log)
        return;
    pl_checkpoint_note note = note_of(run);
    bool whole = run->state_frame >= 0;
    if (pl_checkpoints_last(&run->checkpoints, whole ? run->steering.state : NULL, &note))
        pl_worker_say("checkpoint of frame %lld", (long long)run->checkpoints.job.frame);
}

static void write_exit(session_run *run)
{
    static const char *const names[] = {[SUCCEEDED] = "succeeded",
                                        [FAILED] = "failed",
                                        [CANCELLED] = "cancelled",
                                        [STOPPED] = "stopped",
                                        [PAUSED] = "paused"};
    pl_exit e = {.attempt = run->options->attempt,
                 .frames = run->last_frame,
                 .seconds = seconds_of_running(run),
                 .failure = run->failure};
    snprintf(e.state, sizeof e.state, "%s", names[run->end]);
    if (pl_exit_write(run->directory, &e) != PL_OK)
        pl_worker_say("exit.json could not be written: %s", strerror(errno));
    if (run->end == FAILED)
        pl_worker_say("failed: %s: %s", pl_failure_name(run->failure.code), run->failure.message);
    if (run->halved_frames > 0)
        pl_worker_say("%lld frames had steps taken as two halves", (long long)run->halved_frames);
    const pl_checkpoints *c = &run->checkpoints;
    if (c->written > 0)
        pl_worker_say("%lld checkpoints; the last took %.1f ms, %.1f of them the solver's",
                      (long long)c->written, 1e3 * c->cost, 1e3 * c->copied);
    if (run->steering.prepared > 0)
        pl_worker_say("%lld models of controls were made ahead", (long long)run->steering.prepared);
    pl_worker_say("%s after frame %lld, %.3f s", e.state, (long long)e.frames, e.seconds);
}

static pl_worker_exit finish(session_run *run)
{
    static const pl_worker_exit statuses[] = {
        [SUCCEEDED] = PL_WORKER_SUCCEEDED, [FAILED] = PL_WORKER_FAILED,
        [CANCELLED] = PL_WORKER_CANCELLED, [STOPPED] = PL_WORKER_STOPPED,
        [PAUSED] = PL_WORKER_PAUSED,       [FENCED] = PL_WORKER_REFUSED};
    pl_log_syncer_stop(run->syncer);
    run->syncer = NULL;
    if (run->log && pl_log_writer_fenced(run->log))
        run->end = FENCED;
    if (run->end == FENCED) {
        pl_worker_say("a newer attempt has begun: attempt %d ends", run->options->attempt);
        return PL_WORKER_REFUSED;
    }
    last_checkpoint(run);
    /* What a state takes may be what the rest of the way needs. */
    pl_comparison_close(&run->comparison);
    pl_state_destroy(run->steering.state);
    run->steering.state = NULL;
    /* Sealing the log and saying how it ended both need a little room. */
    pl_session_reserve_free(run->directory);
    close_log(run);
    write_exit(run);
    return statuses[run->end];
}

static void release(session_run *run)
{
    if (run->log)
        pl_log_writer_close(run->log); /* of a fenced run: it publishes nothing */
    pl_comparison_close(&run->comparison);
    pl_checkpoints_clear(&run->checkpoints);
    pl_frame_writer_clear(&run->writer);
    pl_probes_clear(&run->probes);
    pl_control_clear(&run->control);
    pl_steering_clear(&run->steering);
    pl_session_scene_clear(&run->scene);
    pl_faults_clear(&run->read_faults);
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
        .resumed = {.frame = -1},
        .last_frame = -1,
        .state_frame = -1,
        .started = pl_worker_clock(),
        .failure = {.step = -1, .frame = -1, .body = -1, .element = -1, .vertex = -1}};
    set_signals();
    pl_worker_exit result = pl_session_enter(options, &run.directory, &run.lock);
    pl_control_init(&run.control, run.directory);
    if (result == PL_WORKER_SUCCEEDED) {
        compute(&run);
        result = finish(&run);
    }
    release(&run);
    return result;
}
