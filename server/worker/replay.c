#include "server/worker/replay.h"

#include "protocol/text/json.h"
#include "server/worker/branch.h"
#include "server/worker/gpu.h"
#include "server/worker/probes.h"
#include "server/worker/recovery.h"
#include "server/worker/sandbox.h"
#include "server/worker/control_apply.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lifetime: the process. */
typedef struct replay {
    int directory;
    pl_session_scene scene;
    pl_steering steering;
    pl_frame_writer writer;
    pl_probes probes;
    pl_comparison comparison;
    int64_t frames;   /* stored frames */
    int64_t frame;    /* in progress */
    char reason[320]; /* why they differ; "": no difference so far */
} replay;

static bool set_reason(replay *r, const char *what, const char *why)
{
    snprintf(r->reason, sizeof r->reason, "%s%s%.250s", what, *why ? ": " : "", why);
    return false;
}

/* True if the status is good; else the reason is filled in. */
static bool done(replay *r, pl_status status, const pl_faults *faults, const char *doing)
{
    char text[256];
    if (status == PL_OK)
        return true;
    if (status == PL_INVALID && faults->count) {
        snprintf(text, sizeof text, "%s %s, got %s", faults->items[0].pointer,
                 faults->items[0].code, faults->items[0].got);
        return set_reason(r, doing, text);
    }
    return set_reason(r, doing, status == PL_NO_MEMORY ? "out of memory" : strerror(errno));
}

static bool open_session(replay *r, const pl_session_options *options)
{
    pl_faults faults = {0};
    char why[256];
    bool good = done(r, pl_session_scene_read(r->directory, &r->scene, &faults), &faults,
                     "reading scene.json") &&
                done(r, pl_session_scene_load(r->directory, &r->scene, &faults), &faults,
                     "reading meshes");
    if (good && !pl_worker_gpu_take(&r->scene.scene.solver, why, sizeof why))
        good = set_reason(r, "no GPU", why);
    int32_t cores = r->scene.scene.resources.cores;
    int32_t threads = options->threads > 0 ? options->threads : cores > 0 ? cores : 1;
    r->steering = (pl_steering){.directory = r->directory, .scene = &r->scene, .threads = threads};
    if (good)
        good = done(r, pl_steering_build(&r->steering, &faults), &faults, "building the model") &&
               (!pl_worker_gpu_refuses(r->steering.model) ||
                set_reason(r, "no GPU", pl_worker_gpu_refuses(r->steering.model)));
    if (good)
        good = done(r, pl_probes_init(&r->probes, &r->scene, r->steering.state, &faults), &faults,
                    "preparing probes");
    pl_session_scene_free_meshes(&r->scene);
    int64_t step;
    if (good)
        good = done(r, pl_branch_enter(r->directory, &r->steering, &step, &faults), &faults,
                    "repeating the other session up to the branch");
    pl_faults_clear(&faults);
    return good &&
           done(r, pl_frame_writer_init(&r->writer, NULL, &r->scene.scene, r->steering.model),
                &faults, "preparing frames");
}

static bool open_log(replay *r)
{
    pl_log_reader *reader;
    if (!done(r, pl_log_reader_open(r->directory, &reader), &(pl_faults){0}, "reading the log"))
        return false;
    r->frames = pl_log_reader_refresh(reader);
    pl_log_reader_close(reader);
    if (r->frames == 0)
        return set_reason(r, "the session has no frames", "");
    const pl_checkpoint none = {.frame = -1};
    return done(r, pl_comparison_open(&r->comparison, r->directory, &none, r->frames),
                &(pl_faults){0}, "reading the log");
}

/* As in session_run.c, but the clock's numbers are not compared, so any value will do. */
static void tell_more(replay *r, pl_metrics *metrics)
{
    metrics->control = r->steering.last;
    metrics->paced = r->scene.scene.time.pace == PL_PACE_REALTIME;
    pl_probes_measure(&r->probes, r->steering.state, metrics);
}

static bool compare(replay *r, pl_metrics *metrics)
{
    int64_t vertex = -1;
    pl_frame_outcome outcome = PL_FRAME_SAME;
    pl_status status = pl_comparison_check(&r->comparison, &r->writer, r->frame, r->steering.state,
                                           metrics, &vertex, &outcome);
    if (status == PL_FAILED)
        return set_reason(r, "a position is not finite", "");
    if (!done(r, status, &(pl_faults){0}, "comparing"))
        return false;
    if (outcome == PL_FRAME_MOVED)
        return set_reason(r, "positions differ from the stored ones", "");
    return outcome != PL_FRAME_MEASURED || set_reason(r, "metrics differ from the stored ones", "");
}

static bool step(replay *r)
{
    pl_faults faults = {0};
    pl_metrics metrics = {0};
    pl_failure failure;
    bool good = done(r, pl_steering_repeat(&r->steering, r->comparison.reader, r->frame, &faults),
                     &faults, "applying a control");
    pl_faults_clear(&faults);
    if (!good)
        return false;
    if (pl_frame_step(r->steering.model, r->steering.state, &metrics, &failure, NULL, NULL) !=
        PL_OK)
        return set_reason(r, "the step fails", failure.message);
    tell_more(r, &metrics);
    return compare(r, &metrics);
}

static void compute(replay *r)
{
    pl_metrics metrics = {0};
    pl_state_measure(r->steering.model, r->steering.state, &metrics);
    tell_more(r, &metrics);
    bool same = compare(r, &metrics);
    while (same && r->comparison.on && r->frame + 1 < r->frames) {
        r->frame++;
        same = step(r);
    }
    if (same && r->comparison.compared == 0)
        set_reason(r, "nothing to compare: the frames were written by another numerics class", "");
}

static void report(const replay *r)
{
    bool same = !r->reason[0];
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_boolean(&w, "same", same);
    pl_json_set_integer(&w, "frames", r->frames);
    pl_json_set_integer(&w, "compared", r->comparison.compared);
    pl_json_set_integer(&w, "skipped", r->comparison.skipped);
    pl_json_set_integer(&w, "controls", r->steering.last);
    if (same || r->frames == 0)
        pl_json_set_null(&w, "frame");
    else
        pl_json_set_integer(&w, "frame", r->frame);
    pl_json_set_string(&w, "reason", r->reason);
    pl_json_set_string(&w, "class", pl_worker_class());
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (text)
        puts(text);
    free(text);
}

pl_worker_exit pl_replay_run(const pl_session_options *options)
{
    replay r = {.directory = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (r.directory < 0) {
        pl_worker_logf("%s: %s", options->directory, strerror(errno));
        return PL_WORKER_USAGE;
    }
    if (options->gpu)
        pl_worker_gpu_open(options->gpu, options->gpu_plugin, false);
    pl_sandbox_report sandbox;
    pl_sandbox closed = {.directories = &r.directory, .count = 1, .gpu = options->gpu != NULL};
    if (pl_sandbox_enter(&closed, &sandbox) != PL_OK) {
        pl_worker_logf("the sandbox could not be entered: %s", strerror(errno));
        close(r.directory);
        return PL_WORKER_USAGE;
    }
    if (open_session(&r, options) && open_log(&r))
        compute(&r);
    report(&r);
    bool same = !r.reason[0];
    pl_comparison_close(&r.comparison);
    pl_frame_writer_clear(&r.writer);
    pl_probes_clear(&r.probes);
    pl_steering_clear(&r.steering);
    pl_session_scene_clear(&r.scene);
    close(r.directory);
    return same ? PL_WORKER_SUCCEEDED : PL_WORKER_FAILED;
}
