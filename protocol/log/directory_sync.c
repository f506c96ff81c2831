#include "protocol/log/directory_sync.h"

#include "protocol/log/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum {
    /* Session directories are a few levels deep; the bound keeps an unusual one from exhausting the stack. */
    DEPTH_MAX = 16,
    DIRTY_EACH_KB = 32 << 10 /* unwritten on the machine, for each directory that is being synced */
};

/* ---- file by file ---- */

static int open_folder(int at, const char *path)
{
    return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool sync_and_close(int fd)
{
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        pl_close_fd(fd);
    return good;
}

static bool sync_tree(int dir_fd, int depth);

static bool sync_entry(int dir_fd, const char *name, int depth)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT; /* another process's temporary file */
    if (S_ISREG(st.st_mode))
        return sync_and_close(openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!S_ISDIR(st.st_mode))
        return true;
    int fd = open_folder(dir_fd, name);
    bool good = fd >= 0 && sync_tree(fd, depth + 1);
    if (fd >= 0)
        pl_close_fd(fd);
    return good;
}

/* Syncs the content, then the directory. */
static bool sync_tree(int dir_fd, int depth)
{
    int fd = open_folder(dir_fd, ".");
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    bool good = dir && depth <= DEPTH_MAX;
    if (!dir && fd >= 0)
        pl_close_fd(fd);
    for (struct dirent *e; good && (e = readdir(dir));)
        good = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
               sync_entry(dir_fd, e->d_name, depth);
    int kept = depth > DEPTH_MAX ? ELOOP : errno;
    if (dir)
        closedir(dir);
    errno = kept;
    return good && fsync(dir_fd) == 0;
}

/* Syncs the directories that hold the entries of a path: "a/b" and "a" of "a/b/c". */
static bool sync_parents(int base_fd, const char *path)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    for (char *slash; (slash = strrchr(parent, '/'));) {
        *slash = 0;
        if (!sync_and_close(open_folder(base_fd, parent)))
            return false;
    }
    return true;
}

/* ---- all at once ---- */

typedef struct waiter {
    struct waiter *next;
    bool done, good;
} waiter;

static struct {
    pthread_mutex_t mutex; /* guards the following */
    pthread_cond_t done;
    waiter *waiting; /* waiting for a sync that has not begun */
    bool leading;    /* a sync is running */
    dev_t device;    /* of the file system that holds all of them */
    bool known;
} together = {.mutex = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static atomic_long pending; /* directories that are being synced, or wait for that */

/* An error is reported to only one syncfs, possibly not the one that waits for the file. */
static atomic_bool distrusted;

static bool reports_errors(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 8));
}

static bool is_trusted(int fd)
{
    struct statfs f;
    if (atomic_load(&distrusted) || fstatfs(fd, &f) != 0)
        return false;
    switch ((unsigned long)f.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
        return reports_errors();
    default:
        return false;
    }
}

/* Dirty data of the whole machine that is not on disk yet, in KB. */
static long dirty_kb(void)
{
    long dirty = 0, kb;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file)
        return LONG_MAX;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Dirty: %ld", &kb) == 1 || sscanf(line, "Writeback: %ld", &kb) == 1)
            dirty += kb;
    fclose(file);
    return dirty;
}

/* A directory alone should not wait for much of other processes' data. When several are pending, writing that data
 * once takes less time than the dozen of fsyncs that each needs; and then it is written. */
static bool sync_file_system(int fd)
{
    if (dirty_kb() >= DIRTY_EACH_KB * atomic_load(&pending))
        return false;
    bool good = syncfs(fd) == 0;
    if (!good)
        atomic_store(&distrusted, true);
    return good;
}

/* Runs with the mutex held. One sync for all waiting threads. */
static void lead(int fd)
{
    waiter *all = together.waiting;
    together.waiting = NULL;
    together.leading = true;
    pthread_mutex_unlock(&together.mutex);
    bool good = sync_file_system(fd);
    pthread_mutex_lock(&together.mutex);
    together.leading = false;
    for (waiter *w = all, *next; w; w = next) {
        next = w->next;
        w->done = true;
        w->good = good && !atomic_load(&distrusted);
    }
    pthread_cond_broadcast(&together.done);
}

/* False if it was not done, or failed. */
static bool sync_together(int fd)
{
    struct stat st;
    waiter me = {0};
    if (!is_trusted(fd) || fstat(fd, &st) != 0)
        return false;
    pthread_mutex_lock(&together.mutex);
    together.device = together.known ? together.device : st.st_dev;
    together.known = true;
    if (st.st_dev == together.device) {
        me.next = together.waiting;
        together.waiting = &me;
        while (!me.done) {
            if (together.leading)
                pthread_cond_wait(&together.done, &together.mutex);
            else
                lead(fd);
        }
    }
    pthread_mutex_unlock(&together.mutex);
    return me.good;
}

static _Atomic int64_t shared_count, single_count;

pl_directory_syncs pl_directory_sync_counts(void)
{
    return (pl_directory_syncs){atomic_load(&shared_count), atomic_load(&single_count)};
}

pl_status pl_directory_sync(int base_fd, const char *path)
{
    int fd = open_folder(base_fd, path);
    if (fd < 0)
        return PL_IO;
    atomic_fetch_add(&pending, 1);
    bool shared = sync_together(fd);
    bool good = shared || (sync_tree(fd, 0) && sync_parents(base_fd, path));
    atomic_fetch_sub(&pending, 1);
    atomic_fetch_add(shared ? &shared_count : &single_count, 1);
    pl_close_fd(fd);
    return good ? PL_OK : PL_IO;
}
