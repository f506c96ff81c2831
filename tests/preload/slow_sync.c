/* slow_sync.c - loaded before the C library: a disk whose flush takes PLIANT_SYNC_MS, one after the other as in a
 * journal: all requests made during one are in the next.
 *
 * While the file that PLIANT_SYNC_GATE names exists, syncs of directories and of file systems wait, and each writes one
 * byte to it. PLIANT_SYNC_BROKEN names a file: while it exists, syncfs fails, and with one byte in it fsync of a
 * directory, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

/* Flushes begin at multiples of their length: all processes agree on them without a word. */
static void flush_slowly(void)
{
    const char *text = getenv("PLIANT_SYNC_MS");
    long length = text ? 1000000 * strtol(text, NULL, 10) : 0;
    struct timespec t;
    if (length <= 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    long long ns = t.tv_sec * 1000000000LL + t.tv_nsec;
    long long end = (ns / length + 2) * length;
    t = (struct timespec){end / 1000000000, end % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static void wait_at_gate(void)
{
    const char *gate = getenv("PLIANT_SYNC_GATE");
    int fd = gate ? open(gate, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    ssize_t put = write(fd, "x", 1);
    (void)put;
    close(fd);
    while (access(gate, F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static bool is_broken(bool whole)
{
    const char *path = getenv("PLIANT_SYNC_BROKEN");
    struct stat st;
    bool broken = path && stat(path, &st) == 0 && (whole || st.st_size > 0);
    errno = broken ? EIO : errno;
    return broken;
}

int syncfs(int fd)
{
    wait_at_gate();
    flush_slowly();
    return is_broken(true) ? -1 : REAL(syncfs)(fd);
}

int fsync(int fd)
{
    struct stat st;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    if (folder)
        wait_at_gate();
    flush_slowly();
    return folder && is_broken(false) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    flush_slowly();
    return REAL(fdatasync)(fd);
}
