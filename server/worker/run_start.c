#include "protocol/text/json.h"
#include "protocol/log/log_prune.h"
#include "server/worker/branch.h"
#include "server/worker/gpu.h"
#include "server/worker/run.h"
#include "server/worker/sandbox.h"
#include "server/worker/session_enter.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail_gpu(pl_run *run, const char *why)
{
    pl_run_fail(run, PL_FAILURE_NO_GPU,
                "Run it on a GPU that supports the whole scene, or with \"device\": \"cpu\".",
                "%.250s", why);
}

void pl_run_decode_scene(pl_run *run)
{
    run->read_status = pl_session_scene_read(run->directory, &run->scene, &run->read_faults);
    run->read_error = errno;
    if (run->read_status == PL_OK)
        run->has_device = pl_worker_gpu_take(&run->scene.scene.solver, run->no_device,
                                             sizeof run->no_device);
}

bool pl_run_read_scene(pl_run *run)
{
    pl_faults faults = {0};
    bool good = false;
    errno = run->read_error;
    if (pl_session_scene_accepted(run->directory, &run->scene))
        good = pl_run_done_or_fail(run, run->read_status, &run->read_faults, "reading scene.json");
    else
        pl_run_fail(run, PL_FAILURE_INTERNAL, "Submit the scene again.",
                    "scene.json has changed since it was accepted");
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
        /* Before the meshes, which are the first memory that a scene can make large. If several sessions share the
         * process, it is limited before any mesh is read. */
        int32_t most = run->options->threads_most > run->threads ? run->options->threads_most
                                                                 : run->threads;
        if (!run->shares && pl_sandbox_limit_memory(run->options->memory, most) != PL_OK)
            pl_worker_logf("no memory limit: %s", strerror(errno));
        good = pl_run_done_or_fail(run, pl_session_scene_load(run->directory, &run->scene, &faults),
                                   &faults, "reading meshes");
    }
    pl_faults_clear(&faults);
    return good;
}

bool pl_run_build_model(pl_run *run)
{
    pl_faults faults = {0};
    run->steering = (pl_steering){.directory = run->directory,
                                  .scene = &run->scene,
                                  .log = run->log,
                                  .threads = run->threads};
    bool good = pl_run_done_or_fail(run, pl_steering_build(&run->steering, &faults), &faults,
                                    "building the model");
    if (good)
        good = pl_run_done_or_fail(
            run, pl_probes_init(&run->probes, &run->scene, run->steering.state, &faults), &faults,
            "preparing probes");
    pl_faults_clear(&faults);
    if (good)
        good = pl_run_done_or_fail(run,
                                   pl_run_warnings_init(&run->warnings, run->directory,
                                                        &run->scene.scene, run->scene.meshes),
                                   &faults, "preparing warnings");
    pl_session_scene_free_meshes(&run->scene);
    pl_pace_init(&run->pace, &run->scene.scene);
    if (good)
        good = pl_run_done_or_fail(
            run, pl_branch_enter(run->directory, &run->steering, &run->first_step_number, &faults),
            &faults, "repeating the other session up to the branch");
    pl_faults_clear(&faults);
    const char *why = good ? pl_worker_gpu_refuses(run->steering.model) : NULL;
    if (why) {
        fail_gpu(run, why);
        good = false;
    }
    return good;
}

/* The epoch record: the attempt and hardware that wrote the following frames. */
static char *encode_epoch(const pl_run *run)
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
        pl_json_set_null(&w, "threads"); /* as in the scene, which is read later */
    pl_json_set_string(&w, "version", PLIANT_VERSION);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

bool pl_run_open_log(pl_run *run)
{
    char *epoch = encode_epoch(run);
    if (!epoch) {
        pl_run_fail_memory(run, "opening the log");
        return false;
    }
    pl_status status = pl_log_writer_open(run->directory, run->options->attempt, PL_LOG_CONTINUE,
                                          epoch, &run->log);
    int error = errno;
    free(epoch);
    if (status == PL_INVALID) {
        run->end = PL_RUN_FENCED;
        return false;
    }
    errno = error;
    if (!pl_run_done_or_fail(run, status, &(pl_faults){0}, "opening the log"))
        return false;
    const pl_retention *retention = &run->scene.scene.output.retention;
    pl_log_writer_keep(run->log, &(pl_log_keep){retention->last, retention->every});
    run->last_frame = pl_log_writer_next(run->log) - 1;
    /* An earlier attempt's outcome no longer describes the session. */
    unlinkat(run->directory, "exit.json", 0);
    pl_recovery_clean(run->directory);
    pl_session_reserve(run->directory);
    return pl_run_done_or_fail(run, pl_log_syncer_start(run->log, run->on_network, &run->syncer),
                               &(pl_faults){0}, "starting the log's sync");
}
