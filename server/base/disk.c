#include "server/base/disk.h"

#include "server/base/clock.h"
#include "server/base/logger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 1000,
    HOLD_MS = 1000,        /* hold after a write failed for lack of space, doubled each time, */
    HOLD_MOST_MS = 600000, /* up to this; */
    FORGET_MS = 1800000,   /* reset this long after the last failure */
    PART_OF_DISK = 8,      /* the reserve takes at most an eighth of the disk */
    LOW_PART = 4,          /* full: less than a quarter of the reserve's size is free */
    FILES_LOW = 16,        /* or fewer files than this can be created */
    FILES_ENOUGH = 64,
    RELEASE_PART = 8, /* fraction of the rest that is released at once, */
    RELEASE_LEAST = 256 << 10,
    ENOUGH_LEAST = 1 << 20, /* bytes */
};

struct pl_disk {
    int state_fd;
    int64_t wanted; /* of the reserve, bytes */
    _Atomic bool full;
    pthread_t thread;
    bool watched;
    void (*changed)(void *context, bool full);
    void *context;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    bool stopping, complained;
    bool noted; /* a write failed since the last look */
    int error;  /* errno of the newest such write; EROFS while the file system is read-only */
    int64_t noted_ms, hold_ms;
    pl_disk_state seen;
};

static int64_t held_by(int state_fd)
{
    struct stat st;
    return fstatat(state_fd, "reserve", &st, AT_SYMLINK_NOFOLLOW) == 0 ? 512 * (int64_t)st.st_blocks
                                                                       : 0;
}

/* Only a part is released at once, because other programs may take the space before the daemon does. */
bool pl_reserve_release(int state_fd)
{
    int64_t held = held_by(state_fd);
    int fd = held > 0 ? openat(state_fd, "reserve", O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat st;
    bool released = fd >= 0 && fstat(fd, &st) == 0;
    if (released) {
        int64_t part = st.st_size / RELEASE_PART > RELEASE_LEAST ? st.st_size / RELEASE_PART
                                                                 : RELEASE_LEAST;
        released = ftruncate(fd, held > part ? (off_t)(held - part) : 0) == 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return released;
}

/* Allocate so many bytes; existing blocks stay. 0 or an errno. */
static int reserve_allocate(int state_fd, int64_t bytes)
{
    int fd = openat(state_fd, "reserve", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    if (fd >= 0) {
        close(fd);
    }
    return error;
}

/* ---- one look ---- */

static int64_t wanted_of(const pl_disk *d, int64_t size)
{
    return d->wanted < size / PART_OF_DISK ? d->wanted : size / PART_OF_DISK;
}

static int64_t enough_of(int64_t wanted)
{
    return wanted > ENOUGH_LEAST ? wanted : ENOUGH_LEAST;
}

static bool is_room(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

bool pl_disk_is_error(int error)
{
    return is_room(error) || error == EIO || error == EROFS;
}

/* Called with the mutex held. */
static void tell_broken(pl_disk *d)
{
    d->seen.broken = true;
    d->seen.error = d->error;
    snprintf(d->seen.reason, sizeof d->seen.reason,
             "the disk of the state directory cannot be written: %s", strerror(d->error));
}

/* 0 if a file can be written, else errno. */
static int probe(int state_fd)
{
    int fd = openat(state_fd, "probe", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = fd >= 0 && write(fd, "x", 1) == 1 && fdatasync(fd) == 0 ? 0 : errno;
    if (fd >= 0) {
        close(fd);
        unlinkat(state_fd, "probe", 0);
    }
    return error;
}

/* True while a broken disk stays broken. Called with the mutex held. */
static bool stays_broken(pl_disk *d)
{
    int error = d->seen.broken ? probe(d->state_fd) : 0;
    d->error = pl_disk_is_error(error) ? error : d->error;
    return error;
}

/* Called with the mutex held. */
static bool judge(pl_disk *d, const struct statvfs *v, int64_t now)
{
    pl_disk_state *s = &d->seen;
    int64_t unit = (int64_t)v->f_frsize;
    s->free_bytes = unit * (int64_t)v->f_bavail;
    s->size_bytes = unit * (int64_t)v->f_blocks;
    s->reserve_bytes = held_by(d->state_fd);
    int64_t wanted = wanted_of(d, s->size_bytes), low = wanted / LOW_PART;
    bool counts_files = v->f_files > 0;
    int64_t files = (int64_t)v->f_favail;
    bool was = atomic_load(&d->full), read_only = v->f_flag & ST_RDONLY;
    d->error = read_only ? EROFS : d->error;
    if (d->noted) {
        d->hold_ms = d->noted_ms && now - d->noted_ms < FORGET_MS ? 2 * d->hold_ms : HOLD_MS;
        d->hold_ms = d->hold_ms < HOLD_MOST_MS ? d->hold_ms : HOLD_MOST_MS;
        d->noted_ms = now;
    }
    bool held = d->noted_ms && now - d->noted_ms < d->hold_ms;
    bool room = s->free_bytes + s->reserve_bytes >= enough_of(wanted) &&
                (!counts_files || files >= FILES_ENOUGH);
    bool full = was ? !room || held || read_only || stays_broken(d)
                    : d->noted || read_only || s->free_bytes < (low ? low : 1) ||
                          (counts_files && files < FILES_LOW);
    d->noted = false;
    s->broken = false;
    if (full && room && !is_room(d->error)) {
        tell_broken(d);
    } else if (full) {
        snprintf(s->reason, sizeof s->reason,
                 "the disk of the state directory is full: %.1f MB free, %.1f MB are needed%s",
                 1e-6 * (double)s->free_bytes, 1e-6 * (double)enough_of(wanted),
                 counts_files && files < FILES_ENOUGH ? ", and no more files can be created" : "");
    }
    s->full = full;
    return full;
}

/* Takes at most half of the free space: a small disk must not become full by its reserve. */
static void fill_reserve(pl_disk *d)
{
    pl_disk_state *s = &d->seen;
    int64_t wanted = wanted_of(d, s->size_bytes);
    int64_t half = (s->free_bytes + s->reserve_bytes) / 2;
    wanted = wanted < half ? wanted : half;
    if (s->reserve_bytes >= wanted - wanted / 8) {
        return;
    }
    int error = reserve_allocate(d->state_fd, wanted);
    if (error && !d->complained) {
        pl_logf(PL_LEVEL_WARN, "no reserve for a full disk: STATE/reserve: %s", strerror(error));
    }
    d->complained = error != 0;
    s->reserve_bytes = held_by(d->state_fd);
}

/* True if `full` has changed. */
static bool look(pl_disk *d)
{
    struct statvfs v;
    pthread_mutex_lock(&d->mutex);
    bool was = d->seen.full;
    bool full = fstatvfs(d->state_fd, &v) == 0 ? judge(d, &v, pl_monotonic_ms())
                                               : atomic_load(&d->full);
    if (!full) {
        fill_reserve(d);
    }
    atomic_store(&d->full, full);
    if (!full) {
        d->seen.reason[0] = 0; /* keeps the reason for callers that saw it full */
    }
    if (full != was) {
        pl_logf(PL_LEVEL_WARN, "%s", full ? d->seen.reason : "the disk can be written again");
    }
    pthread_mutex_unlock(&d->mutex);
    return full != was;
}

/* ---- the thread ---- */

static void *watch(void *context)
{
    pl_disk *d = context;
    for (bool first = true;; first = false) {
        bool news = look(d) || first, full = atomic_load(&d->full);
        if (news || full) {
            d->changed(d->context, full);
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += LOOK_MS / 1000;
        pthread_mutex_lock(&d->mutex);
        while (!d->stopping && !d->noted &&
               pthread_cond_timedwait(&d->wake, &d->mutex, &until) == 0) {
        }
        bool stopping = d->stopping;
        pthread_mutex_unlock(&d->mutex);
        if (stopping) {
            return NULL;
        }
    }
}

pl_disk *pl_disk_create(int state_fd, int64_t reserve)
{
    pl_disk *d = calloc(1, sizeof *d);
    if (!d) {
        return NULL;
    }
    d->state_fd = state_fd;
    d->wanted = reserve;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&d->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&d->mutex, NULL);
    look(d);
    if (atomic_load(&d->full) && pl_reserve_release(state_fd)) {
        pl_logf(PL_LEVEL_WARN, "part of the reserve is released for the start");
    }
    return d;
}

bool pl_disk_watch(pl_disk *d, void (*changed)(void *context, bool full), void *context)
{
    d->changed = changed;
    d->context = context;
    int error = pthread_create(&d->thread, NULL, watch, d);
    if (error) {
        pl_logf(PL_LEVEL_ERROR, "the disk's thread did not start: %s", strerror(error));
        return false;
    }
    d->watched = true;
    pthread_setname_np(d->thread, "disk");
    return true;
}

void pl_disk_stop(pl_disk *d)
{
    if (d && d->watched) {
        pthread_mutex_lock(&d->mutex);
        d->stopping = true;
        pthread_cond_signal(&d->wake);
        pthread_mutex_unlock(&d->mutex);
        pthread_join(d->thread, NULL);
        d->watched = false;
    }
}

void pl_disk_destroy(pl_disk *d)
{
    if (d) {
        pl_disk_stop(d);
        pthread_cond_destroy(&d->wake);
        pthread_mutex_destroy(&d->mutex);
        free(d);
    }
}

bool pl_disk_full(const pl_disk *d)
{
    return d && atomic_load(&d->full);
}

pl_disk_state pl_disk_look(pl_disk *d)
{
    if (!d) {
        return (pl_disk_state){0};
    }
    pthread_mutex_lock(&d->mutex);
    pl_disk_state seen = d->seen;
    seen.full = atomic_load(&d->full); /* a write may have failed since the last check */
    pthread_mutex_unlock(&d->mutex);
    return seen;
}

int pl_disk_error(pl_disk *d)
{
    pl_disk_state seen = pl_disk_full(d) ? pl_disk_look(d) : (pl_disk_state){0};
    return !seen.full ? 0 : seen.broken ? seen.error : ENOSPC;
}

int pl_disk_probe(pl_disk *d)
{
    return probe(d->state_fd);
}

void pl_disk_note(pl_disk *d, int error)
{
    if (d) {
        pthread_mutex_lock(&d->mutex);
        d->noted = true;
        d->error = error ? error : probe(d->state_fd);
        d->error = d->error ? d->error : EIO;
        if (!is_room(d->error)) {
            tell_broken(d);
        } else if (!d->seen.reason[0]) {
            snprintf(d->seen.reason, sizeof d->seen.reason,
                     "the disk of the state directory is full: a file could not be written");
        }
        atomic_store(&d->full, true);
        pthread_cond_signal(&d->wake);
        pthread_mutex_unlock(&d->mutex);
    }
}
