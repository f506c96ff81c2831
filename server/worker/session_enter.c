#include "server/worker/session_enter.h"

#include "protocol/log/head_recover.h"
#include "protocol/log/session_dir.h"
#include "server/worker/privileges.h"
#include "server/worker/gpu.h"
#include "server/worker/sandbox.h"
#include "server/worker/worker_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESERVE "exit.reserve"
enum { RESERVE_BYTES = 16 << 10 };

/* True if the attempt is newer than the one in head.json; otherwise logs why. */
static bool is_newest(int directory, const pl_session_options *options)
{
    pl_head head = {0};
    bool recovered = false;
    pl_status status = pl_head_load(directory, &head, &recovered);
    int32_t newest = status == PL_OK ? head.attempt : 0;
    if (recovered)
        pl_worker_logf("%s: head.json is damaged or lost; its %lld segments were recovered",
                       options->directory, (long long)head.segment_count);
    pl_head_clear(&head);
    if (status == PL_IO && errno == EBADMSG)
        newest = pl_log_newest_attempt(directory);
    else if (status != PL_OK && !(status == PL_IO && errno == ENOENT)) {
        pl_worker_logf("%s: head.json cannot be read: %s", options->directory, strerror(errno));
        return false;
    }
    if (options->attempt <= newest)
        pl_worker_logf("%s: attempt %d is stale: attempt %d has started", options->directory,
                       options->attempt, newest);
    return options->attempt > newest;
}

/* Take the lock and open the log; with both, the directory may be written. */
static pl_worker_exit take(const pl_session_options *options, bool alone, pl_session_entry *e)
{
    const char *path = options->directory;
    *e = (pl_session_entry){.lock = -1, .log = STDERR_FILENO, .started = pl_worker_clock()};
    e->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (e->directory < 0) {
        pl_worker_logf("%s: %s", path, strerror(errno));
        return PL_WORKER_USAGE;
    }
    pl_status status = pl_session_lock(e->directory, true, &e->lock);
    if (status != PL_OK) {
        pl_worker_logf("%s: %s", path,
                       status == PL_INVALID ? "another worker holds the lock" : strerror(errno));
        return PL_WORKER_REFUSED;
    }
    if (!is_newest(e->directory, options))
        return PL_WORKER_REFUSED;
    int own = alone ? STDERR_FILENO : pl_worker_log_open_own(e->directory);
    if (own < 0 || (alone && !pl_worker_log_open(e->directory)))
        pl_worker_logf("%s: worker.log cannot be opened: %s", path, strerror(errno));
    e->log = own < 0 ? STDERR_FILENO : own;
    return PL_WORKER_SUCCEEDED;
}

/* Set up what all sessions of a process share: the GPU, the uid, the sandbox. */
static bool close_in(const pl_session_options *options, const int *directories, int count,
                     pl_sandbox_report *sandbox)
{
    /* Inside the sandbox, only system libraries can be opened. */
    if (options->gpu)
        pl_worker_gpu_open(options->gpu, options->gpu_plugin, count > 1);
    if (options->uid && pl_privileges_drop(directories, count, options->uid) != PL_OK) {
        pl_worker_logf("uid %u could not be taken: %s", options->uid, strerror(errno));
        return false;
    }
    pl_sandbox closed = {.directories = directories, .count = count, .gpu = options->gpu != NULL};
    if (pl_sandbox_enter(&closed, sandbox) != PL_OK) {
        pl_worker_logf("the sandbox could not be entered: %s", strerror(errno));
        return false;
    }
    return true;
}

void pl_session_enter(const pl_session_options *options, int count, pl_session_entry *out)
{
    int *directories = calloc((size_t)count, sizeof *directories), entered = 0;
    pl_sandbox_report sandbox;
    for (int i = 0; i < count; i++) {
        out[i].result = take(&options[i], count == 1, &out[i]);
        if (directories && out[i].result == PL_WORKER_SUCCEEDED)
            directories[entered++] = out[i].directory;
    }
    if (!directories)
        pl_worker_logf("out of memory");
    bool closed = entered > 0 && close_in(options, directories, entered, &sandbox);
    free(directories);
    for (int i = 0; i < count; i++) {
        if (out[i].result != PL_WORKER_SUCCEEDED)
            continue;
        if (!closed) {
            out[i].result = PL_WORKER_USAGE;
            continue;
        }
        pl_worker_log_use(out[i].log);
        pl_worker_logf("pliant-worker " PLIANT_VERSION ", attempt %d, %s", options[i].attempt,
                       sandbox.text);
        if (count > 1)
            pl_worker_logf("shares its worker with %d other sessions", entered - 1);
    }
    pl_worker_log_use(STDERR_FILENO);
}

void pl_session_reserve(int directory)
{
    int fd = openat(directory, RESERVE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (fd < 0)
        return;
    /* The run continues without them. */
    int failed = posix_fallocate(fd, 0, RESERVE_BYTES);
    if (failed)
        pl_worker_logf("no space reserved for exit.json: %s", strerror(failed));
    close(fd);
}

void pl_session_reserve_free(int directory)
{
    unlinkat(directory, RESERVE, 0);
}
