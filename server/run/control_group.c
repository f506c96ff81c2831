#include "server/run/control_group.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- files of a group ---- */

int pl_control_group_open(int dir_fd, const char *name)
{
    return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* One write: the kernel requires each value as a whole. */
int pl_control_group_put(int dir_fd, const char *file, const char *text)
{
    int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno;
    }
    int error = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return error;
}

int pl_control_group_enter(int dir_fd, pid_t pid)
{
    char text[24];
    snprintf(text, sizeof text, "%d", (int)pid);
    return pl_control_group_put(dir_fd, "cgroup.procs", text);
}

FILE *pl_control_group_read(int dir_fd, const char *file)
{
    int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!stream && fd >= 0) {
        close(fd);
    }
    return stream;
}

int64_t pl_control_group_kills(int dir_fd, int version)
{
    FILE *file = dir_fd < 0 ? NULL
                            : pl_control_group_read(dir_fd, version == 1 ? "memory.oom_control"
                                                                         : "memory.events");
    char line[128];
    long long value = -1, found;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "oom_kill %lld", &found) == 1 && found >= 0) {
            value = found;
        }
    }
    if (file) {
        fclose(file);
    }
    return value;
}

/* Found once: a machine may have thousands of mounts. */
static pl_control_group own;

static void find_own(void)
{
    char why[PL_WHY_NO_GROUP];
    if (!pl_control_group_own("memory", &own, why)) {
        own.path[0] = 0;
    }
}

int64_t pl_memory_kills(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_own);
    int dir_fd = open(own.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t kills = pl_control_group_kills(dir_fd, own.version);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return kills;
}
