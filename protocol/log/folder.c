#include "protocol/log/folder.h"

#include "protocol/log/small_file.h"

#include <fcntl.h>

DIR *pl_folder_open(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        pl_close_fd(fd);
    return folder;
}
