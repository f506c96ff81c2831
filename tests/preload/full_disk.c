/* full_disk.c - loaded before the C library: a disk that is full from its n-th write on. The file that
 * PLIANT_FULL_DISK names is shared with the test: five numbers of 64 bits, how many writes until it is full (0: it is
 * not armed), whether it is full, how many writes have failed, how many may still succeed because a file was cut
 * short, and the device that all this is about.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LEFT, FULL, FAILED, CREDIT, DEVICE, NUMBERS };

static _Atomic int64_t *shared;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PLIANT_FULL_DISK");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, 8 * NUMBERS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at != MAP_FAILED)
        shared = at;
}

static bool is_ours(int fd)
{
    struct stat st;
    return shared && fd > STDERR_FILENO && fstat(fd, &st) == 0 &&
           (int64_t)st.st_dev == atomic_load(&shared[DEVICE]);
}

/* Count one more write: true if there is no room for it. */
static bool fails(void)
{
    int64_t left = atomic_load(&shared[LEFT]) > 0 ? atomic_fetch_sub(&shared[LEFT], 1) : 0;
    if (left == 1)
        atomic_store(&shared[FULL], 1);
    if (!atomic_load(&shared[FULL]))
        return false;
    if (atomic_load(&shared[CREDIT]) > 0 && atomic_fetch_sub(&shared[CREDIT], 1) > 0)
        return false;
    atomic_fetch_add(&shared[FAILED], 1);
    errno = ENOSPC;
    return true;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size)
{
    return is_ours(fd) && fails() ? -1 : REAL(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return is_ours(fd) && fails() ? -1 : REAL(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return is_ours(fd) && fails() ? -1 : REAL(pwrite64)(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return is_ours(fd) && fails() ? -1 : REAL(writev)(fd, parts, count);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    return is_ours(fd) && fails() ? -1 : REAL(pwritev)(fd, parts, count, at);
}

int posix_fallocate(int fd, off_t at, off_t size)
{
    return is_ours(fd) && fails() ? ENOSPC : REAL(posix_fallocate)(fd, at, size);
}

int ftruncate(int fd, off_t size)
{
    struct stat st;
    if (is_ours(fd) && fstat(fd, &st) == 0 && st.st_size - size >= 65536)
        atomic_fetch_add(&shared[CREDIT], (st.st_size - size) / 4096);
    return REAL(ftruncate)(fd, size);
}

int fstatvfs(int fd, struct statvfs *out)
{
    int result = REAL(fstatvfs)(fd, out);
    if (result == 0 && is_ours(fd) && atomic_load(&shared[FULL]))
        out->f_bavail = out->f_bfree = 0;
    return result;
}

/* A new file needs room, too. */
int openat(int at, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & O_CREAT && is_ours(at) && faccessat(at, path, F_OK, 0) != 0 && fails())
        return -1;
    return REAL(openat)(at, path, flags, mode);
}
