#include "server/worker/sandbox.h"

#include "protocol/log/memory_limit.h"
#include "server/worker/sandbox_files.h"
#include "server/worker/sandbox_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors that a worker can need at once, with a margin. */
enum { DESCRIPTORS = 256 };

/* The sanitizers map terabytes of shadow memory and their leak checker traces its own process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

void pl_sandbox_close_inherited(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
    /* Before Linux 5.9. */
    long most = sysconf(_SC_OPEN_MAX);
    for (int i = 3; i < (most > 0 && most < 65536 ? most : 65536); i++)
        close(i);
}

/* Lower a limit; one that is already lower stays. */
static pl_status lower(int resource, uint64_t value)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return PL_IO;
    struct rlimit wanted = {.rlim_cur = value, .rlim_max = value};
    if (wanted.rlim_max > now.rlim_max)
        wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    if (wanted.rlim_cur > now.rlim_cur)
        wanted.rlim_cur = now.rlim_cur;
    return setrlimit((__rlimit_resource_t)resource, &wanted) == 0 ? PL_OK : PL_IO;
}

static pl_status limit_resources(const pl_sandbox *options)
{
    if (lower(RLIMIT_CORE, 0) != PL_OK ||
        lower(RLIMIT_NOFILE, (uint64_t)(options->count > 1 ? options->count : 1) * DESCRIPTORS) !=
            PL_OK)
        return PL_IO;
    if (options->address_space && !sanitized && lower(RLIMIT_AS, options->address_space) != PL_OK)
        return PL_IO;
    if (options->cpu_seconds && lower(RLIMIT_CPU, options->cpu_seconds) != PL_OK)
        return PL_IO;
    return PL_OK;
}

pl_status pl_sandbox_enter(const pl_sandbox *options, pl_sandbox_report *report)
{
    *report = (pl_sandbox_report){0};
    if (limit_resources(options) != PL_OK)
        return PL_IO;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return PL_IO;
    if (pl_sandbox_files(options->directories, options->count, options->gpu, &report->landlock) !=
        PL_OK)
        return PL_IO;
    if (pl_sandbox_calls(sanitized, &report->seccomp) != PL_OK)
        return PL_IO;
    char files[32];
    snprintf(files, sizeof files, report->landlock ? "Landlock %d" : "no Landlock",
             report->landlock);
    snprintf(report->text, sizeof report->text, "%s, %s", files,
             report->seccomp ? "seccomp" : "no seccomp");
    return PL_OK;
}

pl_status pl_sandbox_limit_memory(uint64_t bytes, int32_t threads)
{
    if (!bytes || sanitized)
        return PL_OK;
    /* RLIMIT_DATA counts writable private mappings; the address space would also count libraries
     * and reserved but unusable ranges, which differ from machine to machine. */
    return lower(RLIMIT_DATA, pl_memory_limit_data(bytes, threads));
}
