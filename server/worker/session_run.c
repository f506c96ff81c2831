#include "protocol/log/fresh.h"
#include "protocol/log/log_prune.h"
#include "server/worker/gpu.h"
#include "server/worker/run.h"
#include "server/worker/session_enter.h"
#include "server/worker/session_run.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int signalled; /* applies to all sessions of the process */

static void on_signal(int number)
{
    signalled = number;
}

void pl_run_set_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal};
    sigemptyset(&stop.sa_mask);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    /* A full disk quota and a vanished reader must be write errors, not end the process. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
}

/* ---- the run ---- */

/* The body that a vertex of the model belongs to. */
static int32_t body_of_vertex(const pl_run *run, int64_t vertex)
{
    int32_t body = run->scene.scene.body_count - 1;
    while (body > 0 && pl_model_first_vertex(run->steering.model, body) > vertex)
        body--;
    return body;
}

/* For the frame's own step: the state may be at a later one by now. */
static void fail_not_finite(pl_run *run, int64_t step, int64_t vertex)
{
    int32_t body = body_of_vertex(run, vertex);
    pl_run_fail(run, PL_FAILURE_NOT_FINITE, "Use a smaller time step or more solver iterations.",
                "a position of body '%.60s' is not finite", run->scene.scene.bodies[body].name);
    run->failure.step = step;
    run->failure.body = body;
    run->failure.vertex = vertex - pl_model_first_vertex(run->steering.model, body);
}

/* Write the run's warnings. If that fails, the next attempt counts them from the log. */
static void keep_warnings(pl_run *run)
{
    if (!pl_log_writer_fenced(run->log) && pl_run_warnings_keep(&run->warnings) != PL_OK)
        pl_worker_logf("warnings.json could not be written: %s", strerror(errno));
}

/* Append the begun frame, if any, to the log: with `wait` always, otherwise if its numbers have arrived from the
 * device. False on failure; run->end says how. */
static bool commit_frame(pl_run *run, bool wait)
{
    int64_t frame, vertex = -1, step = (int64_t)run->writer.begun.header.step;
    pl_status status = pl_frame_writer_append(&run->writer, wait, &frame, &vertex);
    int error = errno;
    if (frame >= 0) {
        run->last_frame = frame;
        pl_log_syncer_mark(run->syncer);
        pl_run_warnings_commit(&run->warnings);
        if (pl_run_warnings_due(&run->warnings))
            keep_warnings(run);
    }
    if (status == PL_OK)
        return true;
    errno = error;
    if (status == PL_FAILED)
        fail_not_finite(run, step, vertex);
    else if (pl_log_writer_fenced(run->log))
        run->end = PL_RUN_FENCED;
    else
        pl_run_done_or_fail(run, status, &(pl_faults){0}, "writing a frame");
    return false;
}

/* The engine calls this while a device works, to write the previous frame. A failure ends the run after the step. */
static void commit_meanwhile(void *context)
{
    commit_frame(context, false);
}

/* A device's frame may arrive while the next step runs. It is in the log by the end of that step, and earlier wherever
 * the log needs it: commit_frame. */
static bool write_frame(pl_run *run, int64_t frame, pl_metrics *metrics)
{
    pl_status status = pl_frame_writer_begin(&run->writer, frame, run->steering.state, metrics);
    if (!pl_run_done_or_fail(run, status, &(pl_faults){0}, "writing a frame"))
        return false;
    pl_run_warnings_begin(&run->warnings, metrics);
    return commit_frame(run, false);
}

static double seconds_of_running(const pl_run *run)
{
    return run->earlier + pl_worker_clock() - run->started;
}

/* True if it must pause, now or after the requested step. */
static bool wants_pause(const pl_run *run)
{
    const pl_control_reader *c = &run->control;
    return c->paused || (c->pause_at >= 0 && run->state_frame >= c->pause_at);
}

/* The stepping thread is alive: shows the daemon that a session waits for its clock. */
static void beat(pl_run *run)
{
    double now = pl_worker_clock();
    if (now - run->beaten >= 0.25) {
        run->beaten = now;
        pl_session_beat(run->lock);
    }
}

/* True when it is time to look again: on a network file system each look costs a few round trips. */
static bool may_look(pl_run *run)
{
    double now = run->on_network ? pl_worker_clock() : 0;
    if (run->on_network && now - run->looked < 0.025)
        return false;
    run->looked = now;
    return true;
}

/* Read commands and changed cores. True if a newer attempt has fenced this one off. */
static bool look_for_orders(pl_run *run)
{
    if (!may_look(run))
        return false;
    pl_control_reader_poll(&run->control);
    if (run->control.has_keep) {
        run->control.has_keep = false;
        pl_log_writer_keep(run->log,
                           &(pl_log_keep){run->control.keep_last, run->control.keep_every});
    }
    pl_thread_count_poll(&run->thread_count, &run->steering);
    return pl_log_writer_fenced(run->log);
}

/* Checked between steps. True to end the run, with run->end set. */
static bool should_stop(pl_run *run)
{
    double limit = run->scene.scene.resources.time_limit;
    int error = pl_log_syncer_error(run->syncer);
    if (run->end != PL_RUN_ON) /* writing a frame has failed meanwhile */
        return true;
    beat(run);
    if (look_for_orders(run))
        run->end = PL_RUN_FENCED;
    else if (run->control.cancelled)
        run->end = PL_RUN_CANCELLED;
    else if (signalled)
        run->end = PL_RUN_STOPPED;
    else if (wants_pause(run))
        run->end = PL_RUN_PAUSED;
    else if (pl_worker_gpu_fault())
        run->end = PL_RUN_DEVICE_FAULT;
    else if ((error || (limit > 0 && seconds_of_running(run) > limit)) && commit_frame(run, true)) {
        if (error)
            pl_run_fail_io(run, "syncing the log to the disk", error);
        else
            pl_run_fail(run, PL_FAILURE_TIMEOUT, "Raise resources.time_limit, or simulate less.",
                        "the time limit of %g s is reached", limit);
    }
    return run->end != PL_RUN_ON;
}

static pl_checkpoint_note note_of(const pl_run *run)
{
    return (pl_checkpoint_note){.frame = run->state_frame,
                                .control_end = run->control.offset,
                                .seconds = seconds_of_running(run)};
}

void pl_run_tell_more(pl_run *run, pl_metrics *metrics)
{
    metrics->control = run->steering.last;
    pl_pace_measure(&run->pace, metrics);
    pl_probes_measure(&run->probes, run->steering.state, metrics);
}

/* ---- stepping ---- */

static void step_failed(pl_run *run, int64_t frame, pl_status status, const pl_failure *failure)
{
    if (status == PL_NO_MEMORY) {
        pl_run_fail_memory(run, "stepping");
        return;
    }
    if (frame <= run->last_frame && run->comparison.on) {
        char how[192];
        snprintf(how, sizeof how, "fails: %.150s", failure->message);
        pl_run_fail_not_reproducible(run, frame, how);
        return;
    }
    run->end = PL_RUN_FAILED;
    run->failure = *failure;
    run->failure.frame = run->last_frame;
    if (run->failure.code == PL_FAILURE_NONE)
        run->failure.code = PL_FAILURE_INTERNAL;
}

/* If the engine took steps as two halves, worker.log says so: twenty times, then with a count. */
static void note_halved(pl_run *run, int64_t frame, const pl_metrics *metrics)
{
    enum { SAID = 20 };
    if (metrics->halved <= 0)
        return;
    if (++run->halved_frames <= SAID)
        pl_worker_logf("frame %lld: %lld steps taken as two halves each%s", (long long)frame,
                       (long long)metrics->halved,
                       run->halved_frames == SAID ? "; further frames are only counted" : "");
}

/* The engine calls this. Returns false before a frame's first step, just checked elsewhere, so that every note in the
 * log is followed by its step. */
static bool stop_within(void *context)
{
    pl_run *run = context;
    bool first = run->first_step;
    run->first_step = false;
    return !first && should_stop(run);
}

/* Apply the controls in effect from this frame on: noted ones, or new ones. */
static bool steer(pl_run *run, int64_t frame)
{
    pl_faults faults = {0};
    pl_status status;
    if (run->control.item_first < run->control.item_count && !commit_frame(run, true))
        return false;
    if (frame <= run->last_frame)
        status = pl_steering_repeat(&run->steering, run->comparison.reader, frame, &faults);
    else
        status = pl_steering_apply(&run->steering, &run->control, frame, &faults);
    bool good = pl_run_done_or_fail(run, status, &faults, "applying a control");
    pl_faults_clear(&faults);
    return good;
}

/* True if the next frame may not end before the time limit: a worker inside a step then would be killed. */
static bool nears_limit(const pl_run *run)
{
    double limit = run->scene.scene.resources.time_limit,
           frame = pl_worker_clock() - run->frame_began;
    return limit > 0 && limit - seconds_of_running(run) < 2 * frame &&
           !pl_log_syncer_busy(run->syncer);
}

/* Take a checkpoint if one is due, of a frame that is in the log. */
static bool keep_state(pl_run *run)
{
    if (!pl_checkpoints_due(&run->checkpoints) && !nears_limit(run))
        return true;
    if (!commit_frame(run, true))
        return false;
    pl_checkpoint_note note = note_of(run);
    pl_checkpoints_take(&run->checkpoints, run->steering.state, &note);
    return true;
}

/* Compute one more frame, and write or compare it. */
static bool make_frame(pl_run *run, int64_t frame)
{
    pl_checkpoint_note note = note_of(run);
    run->frame_began = pl_worker_clock();
    /* A frame of several steps can be interrupted in the middle, where no checkpoint is possible. */
    if (run->scene.scene.output.every > 1)
        pl_checkpoints_keep(&run->checkpoints, run->steering.state, &note);
    if (!steer(run, frame))
        return false;
    pl_metrics metrics = {0};
    pl_failure failure = {.code = PL_FAILURE_NONE};
    run->state_frame = -1;
    run->first_step = true;
    pl_state_meanwhile(run->steering.state, commit_meanwhile, run);
    pl_run_profile_begin(&run->profile, run->steering.state);
    pl_status status = pl_frame_step(run->steering.model, run->steering.state, &metrics, &failure,
                                     stop_within, run);
    pl_run_profile_stepped(&run->profile);
    commit_frame(run, true);
    if (run->end != PL_RUN_ON) {
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
    pl_run_tell_more(run, &metrics);
    if (frame <= run->last_frame) {
        if (!pl_run_compare_frame(run, frame, &metrics))
            return false;
    } else if (!write_frame(run, frame, &metrics)) {
        return false;
    }
    pl_run_profile_end(&run->profile);
    note_halved(run, frame, &metrics);
    run->by_euler += metrics.by_euler > 0 ? metrics.by_euler : 0;
    return keep_state(run);
}

/* Uses the waiting time to prepare controls for the next frame. */
static bool stop_waiting(void *context)
{
    pl_run *run = context;
    if (should_stop(run))
        return true;
    pl_steering_prepare(&run->steering, &run->control);
    return false;
}

/* Wait until the clock reaches the next frame. */
static bool await_frame(pl_run *run)
{
    if (run->pace.on && !commit_frame(run, true))
        return false;
    return pl_pace_wait(&run->pace, pl_state_time(run->steering.state), stop_waiting, run);
}

static void step_frames(pl_run *run)
{
    int64_t every = run->scene.scene.output.every;
    int64_t frames = pl_scene_frames(&run->scene.scene) - run->first_step_number / every;
    for (int64_t frame = run->state_frame + 1; frame <= frames; frame++) {
        if (run->comparison.reader && frame > run->last_frame)
            pl_run_end_comparison(run);
        if (should_stop(run) || (frame > run->last_frame && !await_frame(run)) ||
            !make_frame(run, frame))
            return;
    }
    if (run->comparison.reader)
        pl_run_end_comparison(run);
    if (commit_frame(run, true))
        run->end = PL_RUN_SUCCEEDED;
}

/* Time until the first checkpoint, s. Frame 0 of a branch is computed from files that may go: its state is kept at once.
 */
static double first_checkpoint(const pl_run *run)
{
    double every = run->options->checkpoint_every;
    if (run->last_frame >= 0)
        return every;
    return run->steering.carried ? 0 : fmin(every, 1);
}

/* Compute frame 0, or restore the state to continue from. */
static bool first_state(pl_run *run)
{
    if (!pl_run_done_or_fail(
            run,
            pl_frame_writer_init(&run->writer, run->log, &run->scene.scene, run->steering.model),
            &(pl_faults){0}, "preparing frames"))
        return false;
    bool again = run->last_frame >= 0;
    if (again && !pl_run_resume(run))
        return false;
    int slot = run->resumed.frame >= 0 ? 1 - run->resumed.slot : 0;
    pl_checkpoints_init(&run->checkpoints, run->directory, run->options->attempt,
                        first_checkpoint(run), run->options->checkpoint_every, slot);
    run->checkpoints.log = run->log;
    run->checkpoints.syncer = run->syncer;
    run->checkpoints.steering = &run->steering;
    if (again)
        return true;
    pl_metrics metrics = {0};
    pl_state_measure(run->steering.model, run->steering.state, &metrics);
    pl_run_tell_more(run, &metrics);
    if (!write_frame(run, 0, &metrics))
        return false;
    run->state_frame = 0;
    return keep_state(run);
}

/* Run from the lock to the last frame. */
static void compute(pl_run *run)
{
    double begin = pl_worker_clock();
    pl_run_decode_scene(run); /* the log's first record names the hardware that the scene uses */
    if (!pl_run_open_log(run) || should_stop(run))
        return;
    double opened = pl_worker_clock();
    if (!pl_run_read_scene(run))
        return;
    double read = pl_worker_clock();
    pl_run_profile_init(&run->profile, run->options->profile);
    if (!pl_run_build_model(run))
        return;
    pl_thread_count_begin(&run->thread_count, run->threads);
    double built = pl_worker_clock();
    if (!first_state(run))
        return;
    double first = pl_worker_clock();
    pl_worker_logf("%lld vertices, %lld tetrahedra, %lld frames, %d threads, %s",
                   (long long)pl_model_vertex_count(run->steering.model),
                   (long long)pl_model_tet_count(run->steering.model),
                   (long long)pl_scene_frames(&run->scene.scene), run->threads, pl_worker_class());
    pl_worker_logf("frame %lld after %.1f ms: start %.1f, log %.1f, scene and meshes %.1f, model "
                   "%.1f, frame %.1f",
                   (long long)run->state_frame, 1e3 * (first - run->started),
                   1e3 * (begin - run->started), 1e3 * (opened - begin), 1e3 * (read - opened),
                   1e3 * (built - read), 1e3 * (first - built));
    pl_run_profile_built(&run->profile, built - read);
    step_frames(run);
}

/* ---- end ---- */

/* Sync everything committed before anything says that the run is over. */
static void close_log(pl_run *run)
{
    if (!run->log)
        return;
    if (pl_log_sync(run->log) != PL_OK && run->end == PL_RUN_SUCCEEDED)
        pl_run_fail_io(run, "syncing the log to the disk", errno);
    if (pl_log_writer_close(run->log) != PL_OK)
        pl_worker_logf("the log could not be sealed: %s", strerror(errno));
    run->log = NULL;
}

/* Save the state to continue from later. The syncer has been stopped. */
static void last_checkpoint(pl_run *run)
{
    bool timed_out = run->end == PL_RUN_FAILED && run->failure.code == PL_FAILURE_TIMEOUT;
    bool wanted = run->end == PL_RUN_STOPPED || run->end == PL_RUN_PAUSED || timed_out;
    if (!wanted || !run->checkpoints.log)
        return;
    pl_checkpoint_note note = note_of(run);
    bool whole = run->state_frame >= 0;
    if (pl_checkpoints_last(&run->checkpoints, whole ? run->steering.state : NULL, &note))
        pl_worker_logf("checkpoint of frame %lld", (long long)run->checkpoints.job.frame);
}

/* Writes exit.json. False with errno if it could not be written. */
static bool write_exit(pl_run *run)
{
    static const char *const names[] = {
        [PL_RUN_SUCCEEDED] = "succeeded", [PL_RUN_FAILED] = "failed",
        [PL_RUN_CANCELLED] = "cancelled", [PL_RUN_STOPPED] = "stopped",
        [PL_RUN_PAUSED] = "paused",       [PL_RUN_DEVICE_FAULT] = "device_fault"};
    pl_exit e = {.attempt = run->options->attempt,
                 .frames = run->last_frame,
                 .seconds = seconds_of_running(run),
                 .failure = run->failure,
                 .launching = run->launching,
                 .disk_error = run->end == PL_RUN_FAILED ? run->disk_error : 0};
    snprintf(e.state, sizeof e.state, "%s", names[run->end]);
    pl_status told = pl_exit_write(run->directory, &e);
    int error = told == PL_NO_MEMORY ? ENOMEM : errno;
    if (told != PL_OK)
        pl_worker_logf("exit.json could not be written: %s", strerror(error));
    if (run->end == PL_RUN_FAILED || run->end == PL_RUN_DEVICE_FAULT)
        pl_worker_logf("failed: %s: %s", pl_failure_name(run->failure.code), run->failure.message);
    if (run->halved_frames > 0)
        pl_worker_logf("%lld frames had steps taken as two halves", (long long)run->halved_frames);
    if (run->by_euler > 0)
        pl_worker_logf("%lld steps fell back to backward Euler, because bodies touched or the step "
                       "would have gained energy",
                       (long long)run->by_euler);
    const pl_checkpoints *c = &run->checkpoints;
    if (c->written > 0)
        pl_worker_logf("%lld checkpoints; the last took %.1f ms, %.1f of them the solver's",
                       (long long)c->written, 1e3 * c->cost, 1e3 * c->copied);
    if (run->steering.prepared > 0)
        pl_worker_logf("%lld models for controls were built ahead",
                       (long long)run->steering.prepared);
    pl_worker_logf("%s after frame %lld, %.3f s", e.state, (long long)e.frames, e.seconds);
    errno = error;
    return told == PL_OK;
}

/* After a device fault, any failure of the run is attributed to it, such as NaNs or lack of memory. Whether the session
 * may have caused it is asked while it has its state. */
static void blame_device(pl_run *run)
{
    const char *fault = pl_worker_gpu_fault();
    bool over = run->end == PL_RUN_SUCCEEDED || run->end == PL_RUN_CANCELLED ||
                run->end == PL_RUN_FENCED;
    if (!fault || over)
        return;
    pl_run_fail(run, PL_FAILURE_WORKER_CRASHED, "It continues from its checkpoint.",
                "the GPU failed: %.300s", fault);
    run->end = PL_RUN_DEVICE_FAULT;
    if (run->steering.state)
        pl_state_fault(run->steering.state, &run->launching);
    run->launching = run->launching || !run->shares;
}

static pl_worker_exit finish(pl_run *run)
{
    static const pl_worker_exit statuses[] = {[PL_RUN_SUCCEEDED] = PL_WORKER_SUCCEEDED,
                                              [PL_RUN_FAILED] = PL_WORKER_FAILED,
                                              [PL_RUN_CANCELLED] = PL_WORKER_CANCELLED,
                                              [PL_RUN_STOPPED] = PL_WORKER_STOPPED,
                                              [PL_RUN_PAUSED] = PL_WORKER_PAUSED,
                                              [PL_RUN_FENCED] = PL_WORKER_REFUSED,
                                              [PL_RUN_DEVICE_FAULT] = PL_WORKER_DEVICE_FAULT};
    commit_frame(run, true);
    pl_log_syncer_stop(run->syncer);
    run->syncer = NULL;
    if (run->log && pl_log_writer_fenced(run->log))
        run->end = PL_RUN_FENCED;
    if (run->end == PL_RUN_FENCED) {
        pl_worker_logf("a newer attempt has begun: attempt %d ends", run->options->attempt);
        return PL_WORKER_REFUSED;
    }
    last_checkpoint(run);
    blame_device(run); /* a checkpoint may be the first to show a fault */
    /* Memory of the state may be needed for the remaining work. */
    pl_comparison_close(&run->comparison);
    pl_state_destroy(run->steering.state);
    run->steering.state = NULL;
    /* Sealing the log and writing exit.json both need a little room. */
    pl_session_reserve_free(run->directory);
    if (run->warnings.totals.frame >= 0)
        keep_warnings(run);
    close_log(run);
    pl_run_profile_write(&run->profile, run->directory);
    if (!write_exit(run))
        return errno == ENOMEM ? PL_WORKER_NO_MEMORY : PL_WORKER_NO_DISK;
    return statuses[run->end];
}

static void release(pl_run *run)
{
    if (run->log)
        pl_log_writer_close(run->log); /* of a fenced run: publishes nothing */
    pl_comparison_close(&run->comparison);
    pl_checkpoints_clear(&run->checkpoints);
    pl_frame_writer_clear(&run->writer);
    pl_probes_clear(&run->probes);
    pl_control_reader_clear(&run->control);
    pl_steering_clear(&run->steering);
    pl_session_scene_clear(&run->scene);
    pl_faults_clear(&run->read_faults);
    /* The lock is released last: until here nobody else may consider the directory free. */
    if (run->lock >= 0)
        close(run->lock);
    if (run->directory >= 0)
        close(run->directory);
}

pl_worker_exit pl_run_one(const pl_session_options *options, const pl_session_entry *entry,
                          bool shares)
{
    pl_run run = {.options = options,
                  .directory = entry->directory,
                  .on_network = pl_is_on_network(entry->directory),
                  .lock = entry->lock,
                  .shares = shares,
                  .resumed = {.frame = -1},
                  .warnings = {.totals = {.frame = -1}},
                  .last_frame = -1,
                  .state_frame = -1,
                  .started = entry->started,
                  .failure = {.step = -1, .frame = -1, .body = -1, .element = -1, .vertex = -1}};
    pl_worker_exit result = entry->result;
    pl_control_reader_init(&run.control, run.directory);
    pl_thread_count_init(&run.thread_count, run.directory, options->attempt,
                         shares ? 0 : options->threads_most);
    if (result == PL_WORKER_SUCCEEDED) {
        compute(&run);
        result = finish(&run);
    }
    release(&run);
    return result;
}

pl_worker_exit pl_session_run(const pl_session_options *options)
{
    pl_session_entry entry;
    pl_run_set_signals();
    pl_session_enter(options, 1, &entry);
    return pl_run_one(options, &entry, false);
}
