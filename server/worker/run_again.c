#include "server/worker/gpu.h"
#include "server/worker/run.h"
#include "server/worker/worker_log.h"

void pl_run_fail_not_reproducible(pl_run *run, int64_t frame, const char *how)
{
    pl_run_fail(
        run, PL_FAILURE_NOT_REPRODUCIBLE,
        "Frames are kept as first computed. Workers of one class must agree to the bit: suspect "
        "memory or hardware of this machine or of the earlier one, or a library that was "
        "replaced.",
        "frame %lld, computed again from frame %lld on, %s (class '%.70s')", (long long)frame,
        (long long)(run->resumed.frame < 0 ? 0 : run->resumed.frame), how, pl_worker_class());
    run->failure.frame = frame > 0 ? frame - 1 : -1;
    run->failure.step = pl_state_step(run->steering.state);
}

bool pl_run_compare_frame(pl_run *run, int64_t frame, pl_metrics *metrics)
{
    int64_t vertex = -1;
    pl_frame_outcome outcome = PL_FRAME_SAME;
    pl_status status = pl_comparison_check(&run->comparison, &run->writer, frame,
                                           run->steering.state, metrics, &vertex, &outcome);
    if (status == PL_FAILED)
        pl_run_fail_not_reproducible(run, frame, "has a position that is not finite");
    else if (!pl_run_done_or_fail(run, status, &(pl_faults){0}, "comparing a frame"))
        return false;
    else if (outcome == PL_FRAME_MOVED)
        pl_run_fail_not_reproducible(run, frame, "has positions that differ from the stored ones");
    else if (outcome == PL_FRAME_MEASURED)
        pl_run_fail_not_reproducible(run, frame, "has metrics that differ from the stored ones");
    return run->end == PL_RUN_ON;
}

void pl_run_end_comparison(pl_run *run)
{
    const pl_comparison *c = &run->comparison;
    pl_worker_logf("frames up to %lld computed again: %lld are the same, %lld damaged ones could "
                   "not be compared",
                   (long long)run->last_frame, (long long)c->compared, (long long)c->skipped);
    pl_comparison_close(&run->comparison);
}

bool pl_run_resume(pl_run *run)
{
    int64_t committed = run->last_frame + 1;
    pl_status status = pl_recovery_restore(run->directory, &run->steering, committed,
                                           &run->resumed);
    if (status == PL_INVALID) {
        pl_run_fail(run, PL_FAILURE_INTERNAL,
                    "Its frames stay readable. Submit the scene as a session of its own.",
                    "the checkpoint belongs to another model: it was written by a version of "
                    "Pliant that computes the model differently, or the scene or meshes in the "
                    "session directory have changed since");
        return false;
    }
    if (!pl_run_done_or_fail(run, status, &(pl_faults){0}, "restoring a checkpoint") ||
        !pl_run_done_or_fail(
            run, pl_comparison_open(&run->comparison, run->directory, &run->resumed, committed),
            &(pl_faults){0}, "reading the log"))
        return false;
    status = pl_run_warnings_resume(&run->warnings, run->comparison.reader, run->last_frame);
    if (!pl_run_done_or_fail(run, status, &(pl_faults){0}, "counting warnings"))
        return false;
    const pl_checkpoint *c = &run->resumed;
    run->earlier = c->frame >= 0 ? c->seconds : 0;
    run->state_frame = c->frame >= 0 ? c->frame : 0;
    if (c->frame >= 0)
        pl_worker_logf(
            "%lld frames exist; continues from the checkpoint of frame %lld by attempt %d",
            (long long)committed, (long long)c->frame, c->attempt);
    else
        pl_worker_logf("%lld frames exist without a checkpoint: computed again from frame 0",
                       (long long)committed);
    status = pl_recovery_note_class(run->log, run->comparison.last_class);
    if (!pl_run_done_or_fail(run, status, &(pl_faults){0}, "noting the numerics class"))
        return false;
    if (c->frame >= 0)
        return pl_run_compare_frame(run, c->frame, NULL);
    pl_metrics metrics = {0};
    pl_state_measure(run->steering.model, run->steering.state, &metrics);
    pl_run_tell_more(run, &metrics);
    return pl_run_compare_frame(run, 0, &metrics);
}
