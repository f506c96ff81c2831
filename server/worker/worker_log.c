#include "server/worker/worker_log.h"

#include "engine/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static _Thread_local int used = STDERR_FILENO;

void pl_worker_log_use(int log)
{
    used = log;
}

int pl_worker_log_used(void)
{
    return used;
}

int pl_worker_log_open_own(int directory)
{
    return openat(directory, "worker.log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                  0640);
}

bool pl_worker_log_open(int directory)
{
    int fd = pl_worker_log_open_own(directory);
    if (fd < 0)
        return false;
    int moved = dup2(fd, STDERR_FILENO);
    int kept = errno;
    close(fd);
    errno = kept;
    return moved >= 0;
}

void pl_worker_logf(const char *format, ...)
{
    char line[1024];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &utc);
    n += (size_t)snprintf(line + n, sizeof line - n, ".%03dZ ", (int)(now.tv_nsec / 1000000));
    va_list args;
    va_start(args, format);
    int text = vsnprintf(line + n, sizeof line - n - 1, format, args);
    va_end(args);
    if (text > 0)
        n += (size_t)text;
    if (n > sizeof line - 2)
        n = sizeof line - 2;
    line[n++] = '\n';
    /* A log that cannot be written is no reason to stop computing. */
    ssize_t written = write(used, line, n);
    (void)written;
}

void pl_worker_log_faults(const pl_faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        const pl_fault *f = &faults->items[i];
        pl_worker_logf("  at '%s': %s: got %s; expected %s. %s", f->pointer, f->code, f->got,
                       f->expected, f->hint);
    }
    if (faults->total > faults->count)
        pl_worker_logf("  and %zu more", faults->total - faults->count);
}

double pl_worker_clock(void)
{
    return 1e-3 * pl_clock_ms();
}
