#include "protocol/log/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pl_status write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return PL_IO;
        data += n;
        size -= (size_t)n;
    }
    return PL_OK;
}

void pl_close_fd(int fd)
{
    int kept = errno;
    close(fd);
    errno = kept;
}

/* fsync of the directory of `name`, so that its entry survives a power cut. */
static pl_status sync_parent(int dir_fd, const char *name)
{
    char parent[256] = ".";
    const char *slash = strrchr(name, '/');
    if (slash)
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
    int fd = openat(dir_fd, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return PL_IO;
    int failed = fsync(fd);
    close(fd);
    return failed ? PL_IO : PL_OK;
}

static pl_status write_and_rename(int dir_fd, int fd, const char *temporary, const char *name,
                                  const struct iovec *parts, int count, bool synced)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++)
        status = write_all(fd, parts[i].iov_base, parts[i].iov_len);
    if (status == PL_OK && synced && fsync(fd) != 0)
        status = PL_IO;
    int kept = errno;
    if (close(fd) != 0 && status == PL_OK) {
        kept = errno;
        status = PL_IO;
    }
    if (status == PL_OK && renameat(dir_fd, temporary, dir_fd, name) != 0) {
        kept = errno;
        status = PL_IO;
    }
    errno = kept;
    return status;
}

pl_status pl_file_replace(int dir_fd, const char *name, const void *data, size_t size, bool durable)
{
    struct iovec whole = {(void *)data, size};
    return pl_file_replace_parts(dir_fd, name, &whole, 1, durable);
}

static pl_status replace(int dir_fd, const char *name, const struct iovec *parts, int count,
                         bool synced)
{
    /* Two writers of one name (a stale worker, another thread) must not share a temporary. */
    static atomic_uint counter;
    char temporary[320];
    int n = snprintf(temporary, sizeof temporary, "%s.%ld.%u.tmp", name, (long)getpid(),
                     atomic_fetch_add(&counter, 1u));
    if (n >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return PL_IO;
    }
    int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0)
        return PL_IO;
    pl_status status = write_and_rename(dir_fd, fd, temporary, name, parts, count, synced);
    if (status != PL_OK) {
        int kept = errno;
        unlinkat(dir_fd, temporary, 0);
        errno = kept;
    }
    return status;
}

pl_status pl_file_replace_parts(int dir_fd, const char *name, const struct iovec *parts, int count,
                                bool durable)
{
    pl_status status = replace(dir_fd, name, parts, count, true);
    return status == PL_OK && durable ? sync_parent(dir_fd, name) : status;
}

pl_status pl_file_put(int dir_fd, const char *name, const struct iovec *parts, int count)
{
    return replace(dir_fd, name, parts, count, false);
}

pl_status pl_file_put_text(int dir_fd, const char *name, const char *text, size_t length)
{
    return pl_file_put(dir_fd, name, &(struct iovec){(void *)text, length}, 1);
}

/* Reads to the end of fd, at most `limit` bytes, into a buffer of `capacity` that grows. */
static pl_status read_all(int fd, size_t limit, size_t capacity, char **out, size_t *size)
{
    size_t used = 0;
    char *text = malloc(capacity + 1);
    if (!text)
        return PL_NO_MEMORY;
    for (;;) {
        if (used == capacity) {
            char *larger = realloc(text, 2 * capacity + 4096 + 1);
            if (!larger) {
                free(text);
                return PL_NO_MEMORY;
            }
            text = larger;
            capacity = 2 * capacity + 4096;
        }
        ssize_t n = read(fd, text + used, capacity - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        used += n > 0 ? (size_t)n : 0;
        if (n < 0 || used > limit) {
            int kept = n < 0 ? errno : EFBIG;
            free(text);
            errno = kept;
            return PL_IO;
        }
    }
    text[used] = 0;
    *out = text;
    *size = used;
    return PL_OK;
}

pl_status pl_file_read(int dir_fd, const char *name, size_t limit, char **out, size_t *size)
{
    struct stat st;
    /* O_NONBLOCK: a FIFO in place of the file must not block the reader. */
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return PL_IO;
    pl_status status = PL_IO;
    if (fstat(fd, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        else if (st.st_size > 0 && (uint64_t)st.st_size > limit)
            errno = EFBIG;
        else
            status = read_all(fd, limit, (size_t)st.st_size + 1, out, size);
    }
    pl_close_fd(fd);
    return status;
}
