#include "server/run/preflight_run.h"

#include "server/base/logger.h"
#include "server/http/shortage.h"
#include "server/http/waiter.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20 };

pl_preflight_outcome pl_preflight_begin(const pl_preflight_host *host, const char *owner,
                                        const char *option, const char *path, pl_preflight_run *run)
{
    char program[PATH_MAX + 32], argument[PATH_MAX + 128], flag[32];
    bool session = strcmp(option, "--mesh") != 0;
    snprintf(program, sizeof program, "%s/pliant-preflight", host->programs);
    /* A session's directory may be moved during its check, so it is passed as the working directory. */
    snprintf(argument, sizeof argument, "%s", session ? "." : path);
    snprintf(flag, sizeof flag, "%s", option);
    char *argv[] = {program, flag, argument, NULL};
    *run = (pl_preflight_run){.host = *host, .child = {-1, -1}};
    run->output_fd = memfd_create("preflight", MFD_CLOEXEC);
    pl_prepared_expect(host->prepared, program, owner);
    int error = run->output_fd < 0
                    ? errno
                    : pl_prepared_start(host->prepared, owner, argv, run->output_fd, run->output_fd,
                                        session ? path : "/", &run->child);
    if (error) {
        pl_logf(PL_LEVEL_ERROR, "%s could not be started: %s", program, strerror(error));
        if (run->output_fd >= 0) {
            close(run->output_fd);
        }
        return pl_is_shortage(error) ? PL_PREFLIGHT_BUSY : PL_PREFLIGHT_BROKEN;
    }
    run->deadline_ms = pl_monotonic_ms() + PL_PREFLIGHT_MS;
    atomic_fetch_add(&host->counters->preflights_run, 1);
    return PL_PREFLIGHT_RUNNING;
}

static pl_preflight_outcome kill_slow(pl_preflight_run *run, pl_faults *faults)
{
    pl_child_kill(&run->child);
    atomic_fetch_add(&run->host.counters->preflights_killed, 1);
    pl_faults_addf(faults, "", "check_too_slow", "a check within 10 s",
                   "use smaller or simpler meshes", "still checking after %d s",
                   PL_PREFLIGHT_MS / 1000);
    return PL_PREFLIGHT_DIED;
}

static pl_preflight_outcome check_exit(pl_preflight_run *run, int status, pl_faults *faults)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return PL_PREFLIGHT_GOOD;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
        atomic_fetch_add(&run->host.counters->preflights_refused, 1);
        return PL_PREFLIGHT_FAULTS;
    }
    if (WIFSIGNALED(status)) {
        atomic_fetch_add(&run->host.counters->preflights_killed, 1);
        pl_faults_addf(faults, "", "check_died", "a scene that can be checked in 2 GiB and 10 s",
                       "use smaller or simpler meshes", "the check was killed by signal %d (%s)",
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
        return PL_PREFLIGHT_DIED;
    }
    char *output = pl_preflight_output(run);
    pl_logf(PL_LEVEL_ERROR, "pliant-preflight ended with status %d: %.400s", WEXITSTATUS(status),
            output ? output : "");
    free(output);
    return PL_PREFLIGHT_BROKEN;
}

pl_preflight_outcome pl_preflight_await(pl_preflight_run *run, int patience_ms, pl_faults *faults)
{
    int64_t left = run->deadline_ms - pl_monotonic_ms();
    bool last = left <= patience_ms;
    int status = 0;
    int wait_ms = last ? (left > 0 ? (int)left : 0) : patience_ms;
    switch (pl_child_wait(&run->child, wait_ms, run->host.stop_fd, &status)) {
    case PL_WAIT_ENDED:
        return check_exit(run, status, faults);
    case PL_WAIT_STOPPED:
        pl_child_kill(&run->child);
        return PL_PREFLIGHT_STOPPED;
    default:
        return last ? kill_slow(run, faults) : PL_PREFLIGHT_RUNNING;
    }
}

char *pl_preflight_output(const pl_preflight_run *run)
{
    off_t size = lseek(run->output_fd, 0, SEEK_END);
    size_t wanted = size < 0 ? 0 : size > OUTPUT_MAX ? OUTPUT_MAX : (size_t)size;
    char *text = malloc(wanted + 1);
    if (text) {
        ssize_t n = pread(run->output_fd, text, wanted, 0);
        text[n > 0 ? n : 0] = 0;
    }
    return text;
}

void pl_preflight_end(pl_preflight_run *run)
{
    close(run->output_fd);
}
