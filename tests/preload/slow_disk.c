/* slow_disk.c - loaded before the C library: a disk that does not respond. While the file that PLIANT_SLOW_GATE names
 * exists, the first thread that opens a path ending in PLIANT_SLOW_FILE waits. It then writes one byte to the gate;
 * removing the gate lets it continue.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef int (*open_function)(int dir_fd, const char *path, int flags, ...);

static bool is_slow(const char *path)
{
    const char *end = getenv("PLIANT_SLOW_FILE");
    size_t length = strlen(path), n = end ? strlen(end) : 0;
    return n > 0 && length >= n && strcmp(path + length - n, end) == 0;
}

/* True for the one thread that marks the gate. */
static bool take(open_function real, const char *gate)
{
    struct stat st;
    int fd = stat(gate, &st) == 0 && st.st_size == 0 ? real(AT_FDCWD, gate, O_WRONLY | O_CLOEXEC)
                                                     : -1;
    bool taken = fd >= 0 && write(fd, "x", 1) == 1;
    if (fd >= 0)
        close(fd);
    return taken;
}

static int open_slowly(int dir_fd, const char *path, int flags, mode_t mode)
{
    open_function real = (open_function)dlsym(RTLD_NEXT, "openat");
    const char *gate = getenv("PLIANT_SLOW_GATE");
    if (gate && is_slow(path) && take(real, gate)) {
        while (access(gate, F_OK) == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return real(dir_fd, path, flags, mode);
}

int openat(int dir_fd, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_slowly(dir_fd, path, flags, mode);
}
