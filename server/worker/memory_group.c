#include "server/worker/memory_group.h"

#include <fcntl.h>
#include <unistd.h>

void pl_memory_group_enter(const char *directory)
{
    int group = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int fd = group >= 0 ? openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    ssize_t put = fd >= 0 ? write(fd, "0", 1) : -1; /* 0: the process that writes */
    (void)put;
    if (fd >= 0)
        close(fd);
    if (group >= 0)
        close(group);
}
