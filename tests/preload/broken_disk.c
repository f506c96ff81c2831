/* broken_disk.c - loaded before the C library: a disk that cannot be written. The file in PLIANT_BROKEN_DISK is shared
 * with the test and has three 64-bit numbers: the errno of every write (0: none fails), the count of failures, and the
 * device concerned.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ERROR, FAILED, DEVICE, NUMBERS };

static _Atomic int64_t *shared;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PLIANT_BROKEN_DISK");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, 8 * NUMBERS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at != MAP_FAILED)
        shared = at;
}

/* True with errno if a write to this file must fail. */
static bool fails(int fd)
{
    struct stat st;
    if (!shared || atomic_load(&shared[ERROR]) == 0 || fd <= STDERR_FILENO || fstat(fd, &st) != 0 ||
        (int64_t)st.st_dev != atomic_load(&shared[DEVICE]))
        return false;
    atomic_fetch_add(&shared[FAILED], 1);
    errno = (int)atomic_load(&shared[ERROR]);
    return true;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size)
{
    return fails(fd) ? -1 : REAL(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return fails(fd) ? -1 : REAL(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return fails(fd) ? -1 : REAL(pwrite64)(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return fails(fd) ? -1 : REAL(writev)(fd, parts, count);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    return fails(fd) ? -1 : REAL(pwritev)(fd, parts, count, at);
}

int posix_fallocate(int fd, off_t at, off_t size)
{
    return fails(fd) ? errno : REAL(posix_fallocate)(fd, at, size);
}

int fsync(int fd)
{
    return fails(fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return fails(fd) ? -1 : REAL(fdatasync)(fd);
}

int syncfs(int fd)
{
    return fails(fd) ? -1 : REAL(syncfs)(fd);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    return fails(fd) ? -1 : REAL(mkdirat)(fd, path, mode);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return fails(to_fd) ? -1 : REAL(renameat)(from_fd, from, to_fd, to);
}

/* Fails to open a file for writing. */
int openat(int at, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return (flags & O_ACCMODE) != O_RDONLY && fails(at) ? -1 : REAL(openat)(at, path, flags, mode);
}
