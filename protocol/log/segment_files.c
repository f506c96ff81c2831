#include "protocol/log/segment_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

pl_status pl_segment_files_create(int dir_fd, const pl_segment *segment, pl_segment_files *out)
{
    char name[PL_SEGMENT_NAME];
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    pl_segment_files files = {-1, -1};
    pl_segment_name(name, segment, "seg");
    files.seg = openat(dir_fd, name, flags, 0640);
    pl_segment_name(name, segment, "idx");
    if (files.seg >= 0)
        files.idx = openat(dir_fd, name, flags, 0640);
    if (files.idx < 0) {
        int kept = errno;
        pl_segment_files_close(&files);
        errno = kept;
        return PL_IO;
    }
    *out = files;
    return PL_OK;
}

void pl_segment_files_close(pl_segment_files *files)
{
    if (files->seg >= 0)
        close(files->seg);
    if (files->idx >= 0)
        close(files->idx);
    *files = (pl_segment_files){-1, -1};
}

pl_segment_files pl_segment_files_copy(const pl_segment_files *files)
{
    return (pl_segment_files){fcntl(files->seg, F_DUPFD_CLOEXEC, 0),
                              fcntl(files->idx, F_DUPFD_CLOEXEC, 0)};
}

pl_status pl_segment_files_settle(pl_segment_files *files)
{
    int failed = files->seg >= 0 && (fdatasync(files->seg) | fdatasync(files->idx)) != 0;
    int kept = errno;
    pl_segment_files_close(files);
    errno = kept;
    return failed ? PL_IO : PL_OK;
}

void pl_segment_files_send(const pl_segment_files *files)
{
    /* Some clients also send dirty data when a duplicate is closed. The next fdatasync reports an error again. */
    sync_file_range(files->seg, 0, 0, SYNC_FILE_RANGE_WRITE);
    sync_file_range(files->idx, 0, 0, SYNC_FILE_RANGE_WRITE);
}
