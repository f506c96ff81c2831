#include "server/worker/run.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 5))) void pl_run_fail(pl_run *run, pl_failure_code code,
                                                       const char *advice, const char *format, ...)
{
    run->end = PL_RUN_FAILED;
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

void pl_run_fail_memory(pl_run *run, const char *doing)
{
    pl_run_fail(run, PL_FAILURE_OUT_OF_MEMORY,
                "Ask for more with resources.memory, or use a coarser mesh.",
                "out of memory while %s", doing);
}

void pl_run_fail_io(pl_run *run, const char *doing, int error)
{
    bool full = error == ENOSPC || error == EDQUOT;
    bool broken = error == EIO || error == EROFS, disk = full || error == EFBIG || broken;
    pl_run_fail(run, disk ? PL_FAILURE_DISK : PL_FAILURE_INTERNAL,
                broken ? "Check the disk that holds the session; frames so far are kept."
                : disk ? "Free space or raise the quota or file size limit, or write fewer frames "
                         "with output.every; frames so far are kept."
                       : "See worker.log.",
                "%s: %s", doing, strerror(error));
    run->disk_error = full || error == EIO || error == EROFS ? error : 0;
}

/* A scene that passed its preflight but is rejected here: the directory was changed since, or the model found an error
 * that a preflight does not check. */
static void fail_faults(pl_run *run, const pl_faults *faults)
{
    pl_worker_logf("the scene was rejected:");
    pl_worker_log_faults(faults);
    if (!faults->count)
        pl_run_fail(run, PL_FAILURE_INTERNAL, "See worker.log.", "the scene was rejected");
    else
        pl_run_fail(run, PL_FAILURE_INTERNAL, faults->items[0].hint, "%.100s: %.40s: got %.90s",
                    faults->items[0].pointer, faults->items[0].code, faults->items[0].got);
}

bool pl_run_done_or_fail(pl_run *run, pl_status status, const pl_faults *faults, const char *doing)
{
    int error = errno;
    switch (status) {
    case PL_OK:
        return true;
    case PL_NO_MEMORY:
        pl_run_fail_memory(run, doing);
        break;
    case PL_IO:
        pl_run_fail_io(run, doing, error);
        break;
    default:
        fail_faults(run, faults);
    }
    return false;
}
