#include "server/streams/watch.h"

#include "engine/clock.h"
#include "protocol/log/cores.h"
#include "protocol/log/fresh.h"
#include "server/base/logger.h"
#include "server/sessions/session_view.h"
#include "server/streams/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Writes of another machine raise no inotify event here; followers must see them within 300 ms. */
enum { POLL_FIRST_MS = 50, POLL_MOST_MS = 500, POLL_REMOTE_MS = 150, IDLE_MS = 1000 };

/* A file that is replaced by rename: one that was read has this inode and time. */
typedef struct seen_file {
    ino_t inode;
    struct timespec written;
} seen_file;

typedef struct followed {
    struct followed *next;
    pl_session *session;       /* a reference */
    int log_wd, dir_wd;        /* inotify descriptors; -1: not watched */
    int slowest_ms;            /* longest interval of polling without inotify; 0: not polled */
    int64_t frames;            /* committed, as last seen */
    seen_file warnings, cores; /* warnings.json and threads.json, as last read */
    int64_t due_ms;            /* next look, where polled */
    int interval_ms;
    bool touched;       /* a frame is in its log, or a file was replaced */
    bool files_touched; /* a file was replaced */
    int64_t grown_ms;   /* when to look at a segment that has grown; INT64_MAX: it has not */
    bool busy;          /* a thread reads its log, without the mutex */
} followed;

struct pl_watch {
    pl_sessions *sessions;
    pl_counters *counters;
    pthread_t thread;
    int inotify_fd, stop_fd;
    pthread_mutex_t mutex; /* guards the list; not held while a log is read */
    pthread_cond_t idle;   /* an entry is no longer busy */
    followed *list;
};

/* Open the session's directory if the file in it differs from the one last seen; *now describes it. -1: it does not. */
static int open_if_new(const followed *f, const char *name, const seen_file *last, seen_file *now)
{
    struct stat file;
    int dir_fd = open(f->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return -1;
    }
    if (pl_stat_fresh_at(dir_fd, name, &file) != 0 ||
        (file.st_ino == last->inode && file.st_mtim.tv_sec == last->written.tv_sec &&
         file.st_mtim.tv_nsec == last->written.tv_nsec)) {
        close(dir_fd);
        return -1;
    }
    *now = (seen_file){file.st_ino, file.st_mtim};
    return dir_fd;
}

/* The worker replaces warnings.json when its counts change, at most once a second. */
static void look_at_warnings(pl_watch *watch, followed *f)
{
    seen_file now;
    int dir_fd = open_if_new(f, "warnings.json", &f->warnings, &now);
    char *warnings = dir_fd >= 0 ? pl_warnings_load(dir_fd) : NULL;
    if (warnings) {
        f->warnings = now;
        pl_sessions_set_warnings(watch->sessions, f->session, warnings);
    }
    free(warnings);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
}

/* The worker replaces threads.json once it has the cores that were requested. */
static void look_at_cores(pl_watch *watch, followed *f)
{
    seen_file now;
    pl_cores cores;
    int dir_fd = open_if_new(f, PL_CORES_HAD, &f->cores, &now);
    if (dir_fd < 0) {
        return;
    }
    if (pl_cores_read(dir_fd, PL_CORES_HAD, &cores) == PL_OK) {
        f->cores = now;
        if (cores.attempt == f->session->attempt) {
            pl_sessions_set_cores(watch->sessions, f->session, cores.number, cores.cores);
        }
    }
    close(dir_fd);
}

/* At the log, and with `files` at the files that are replaced. True if there was something new. Its entry is then
 * busy, or no longer in the list. */
static bool look(pl_watch *watch, followed *f, bool files)
{
    if (files) {
        look_at_warnings(watch, f);
        look_at_cores(watch, f);
    }
    atomic_fetch_add(&watch->counters->log_looks, 1);
    double time = f->session->time;
    int64_t frames = pl_tail_refresh(f->session, f->frames, &time);
    if (frames <= f->frames) {
        return false;
    }
    f->frames = frames;
    pl_sessions_set_progress(watch->sessions, f->session, frames - 1, time);
    pl_session_wake(f->session);
    return true;
}

/* Read the log of an entry in the list, and again if it is touched meanwhile. The mutex is released while reading: a
 * slow disk delays only those who want this session. */
static bool look_in_list(pl_watch *watch, followed *f)
{
    bool news = false;
    f->busy = true;
    do {
        bool files = f->files_touched || f->slowest_ms > 0 || f->dir_wd < 0;
        f->touched = f->files_touched = false;
        f->grown_ms = INT64_MAX;
        pthread_mutex_unlock(&watch->mutex);
        news |= look(watch, f, files);
        pthread_mutex_lock(&watch->mutex);
    } while (f->touched);
    f->busy = false;
    pthread_cond_broadcast(&watch->idle);
    return news;
}

/* ---- the thread ---- */

static bool ends_in(const struct inotify_event *event, const char *end)
{
    const char *dot = event->len > 0 ? strrchr(event->name, '.') : NULL;
    return dot && strcmp(dot, end) == 0;
}

/* The index is written last of a frame, so writes of its segment say nothing yet; nor does a file before it is renamed.
 */
static void mark(followed *f, const struct inotify_event *event, int64_t now)
{
    if (f->dir_wd == event->wd) {
        f->touched = f->files_touched = true;
    } else if (f->log_wd == event->wd && ends_in(event, ".seg")) {
        f->grown_ms = f->grown_ms < now + POLL_FIRST_MS ? f->grown_ms : now + POLL_FIRST_MS;
    } else if (f->log_wd == event->wd && !ends_in(event, ".tmp")) {
        f->touched = true;
    }
}

static void mark_touched(pl_watch *watch)
{
    _Alignas(struct inotify_event) char buffer[16384];
    int64_t now = pl_monotonic_ms();
    ssize_t n = read(watch->inotify_fd, buffer, sizeof buffer);
    for (char *p = buffer; n > 0 && p < buffer + n;) {
        const struct inotify_event *event = (const struct inotify_event *)p;
        bool overflow = event->mask & IN_Q_OVERFLOW;
        for (followed *f = watch->list; f; f = f->next) {
            mark(f, event, now);
            f->touched |= overflow;
            f->files_touched |= overflow;
        }
        p += sizeof *event + event->len;
    }
}

static bool wants_look(const followed *f, int64_t now)
{
    return !f->busy &&
           (f->touched || f->grown_ms <= now || (f->slowest_ms > 0 && f->due_ms <= now));
}

/* Check the entries that were touched, and those that are polled and due. Each check releases the mutex, so the list is
 * searched from its start again. */
static void look_around(pl_watch *watch)
{
    int64_t now = pl_monotonic_ms();
    for (followed *f = watch->list; f;) {
        if (!wants_look(f, now)) {
            f = f->next;
            continue;
        }
        f->due_ms = INT64_MAX; /* once a round */
        bool news = look_in_list(watch, f);
        int slower = 2 * f->interval_ms;
        f->interval_ms = news ? POLL_FIRST_MS : slower < f->slowest_ms ? slower : f->slowest_ms;
        f->due_ms = now + f->interval_ms;
        f = watch->list;
    }
}

/* Time until the next polled entry is due, ms. At most IDLE_MS, because another thread may add an entry. */
static int next_due(const pl_watch *watch)
{
    int64_t now = pl_monotonic_ms(), next = now + IDLE_MS;
    for (const followed *f = watch->list; f; f = f->next) {
        int64_t due = f->slowest_ms > 0 && f->due_ms < f->grown_ms ? f->due_ms : f->grown_ms;
        next = !f->busy && due < next ? due : next;
    }
    return next > now ? (int)(next - now) : 0;
}

static void *run(void *context)
{
    pl_watch *watch = context;
    int timeout = IDLE_MS;
    for (;;) {
        struct pollfd fds[2] = {{watch->inotify_fd, POLLIN, 0}, {watch->stop_fd, POLLIN, 0}};
        int n = poll(fds, 2, timeout);
        if (n > 0 && fds[1].revents) {
            return NULL;
        }
        pthread_mutex_lock(&watch->mutex);
        if (n > 0 && fds[0].revents) {
            mark_touched(watch);
        }
        look_around(watch);
        timeout = next_due(watch);
        pthread_mutex_unlock(&watch->mutex);
    }
}

pl_watch *pl_watch_create(pl_sessions *sessions, pl_counters *counters)
{
    pl_watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        return NULL;
    }
    watch->sessions = sessions;
    watch->counters = counters;
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_cond_init(&watch->idle, NULL);
    watch->stop_fd = eventfd(0, EFD_CLOEXEC);
    watch->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch->stop_fd < 0 || watch->inotify_fd < 0 ||
        pthread_create(&watch->thread, NULL, run, watch) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the log watcher did not start: %s", strerror(errno));
        close(watch->stop_fd);
        close(watch->inotify_fd);
        free(watch);
        return NULL;
    }
    pthread_setname_np(watch->thread, "watch");
    return watch;
}

static void release(pl_watch *watch, followed *f)
{
    if (f->log_wd >= 0) {
        inotify_rm_watch(watch->inotify_fd, f->log_wd);
    }
    if (f->dir_wd >= 0) {
        inotify_rm_watch(watch->inotify_fd, f->dir_wd);
    }
    pl_tail_close(f->session);
    pl_session_release(f->session);
    free(f);
}

void pl_watch_destroy(pl_watch *watch)
{
    if (!watch) {
        return;
    }
    uint64_t one = 1;
    ssize_t put = write(watch->stop_fd, &one, sizeof one);
    (void)put;
    pthread_join(watch->thread, NULL);
    for (followed *f = watch->list, *next; f; f = next) {
        next = f->next;
        release(watch, f);
    }
    close(watch->stop_fd);
    close(watch->inotify_fd);
    pthread_cond_destroy(&watch->idle);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}

/* Follow a session's log until finish_watch: each new frame sets its progress and wakes its
 * watchers. */
static void start_watch(pl_watch *watch, pl_session *session)
{
    followed *f = calloc(1, sizeof *f);
    int dir_fd = open(session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!f || dir_fd < 0) {
        free(f);
        if (dir_fd >= 0) {
            close(dir_fd);
        }
        return;
    }
    char path[PATH_MAX + 80];
    snprintf(path, sizeof path, "%s/log", session->directory);
    mkdirat(dir_fd, "log", 0700);
    f->log_wd = inotify_add_watch(watch->inotify_fd, path, IN_MODIFY | IN_MOVED_TO | IN_CREATE);
    f->dir_wd = inotify_add_watch(watch->inotify_fd, session->directory, IN_MOVED_TO);
    bool remote = session->executor || pl_is_on_network(dir_fd);
    f->slowest_ms = remote ? POLL_REMOTE_MS : f->log_wd < 0 ? POLL_MOST_MS : 0;
    if (f->log_wd < 0) {
        pl_logf(PL_LEVEL_WARN, "session %s: polled, because its log cannot be watched: %s",
                session->id, strerror(errno));
    }
    if (pl_tail_open(session, dir_fd) != PL_OK) {
        pl_logf(PL_LEVEL_WARN, "session %s: its log cannot be read: %s", session->id,
                strerror(errno));
    }
    close(dir_fd);
    f->interval_ms = POLL_FIRST_MS;
    f->session = session;
    pl_session_acquire(session);
    f->files_touched = true;
    pthread_mutex_lock(&watch->mutex);
    f->next = watch->list;
    watch->list = f;
    look_in_list(watch, f);
    pthread_mutex_unlock(&watch->mutex);
}

static followed **find(pl_watch *watch, const pl_session *session)
{
    followed **link = &watch->list;
    while (*link && (*link)->session != session) {
        link = &(*link)->next;
    }
    return link;
}

/* Remove from the list once nobody reads its log; NULL: not followed. */
static followed *take(pl_watch *watch, const pl_session *session)
{
    pthread_mutex_lock(&watch->mutex);
    while (*find(watch, session) && (*find(watch, session))->busy) {
        pthread_cond_wait(&watch->idle, &watch->mutex);
    }
    followed **link = find(watch, session), *f = *link;
    if (f) {
        *link = f->next;
    }
    pthread_mutex_unlock(&watch->mutex);
    return f;
}

/* Stop following, after reading the log's end. Returns the last committed frame, -1: none. */
static int64_t finish_watch(pl_watch *watch, pl_session *session)
{
    followed *f = take(watch, session);
    int64_t frames = 0;
    if (f) {
        look(watch, f, true);
        frames = f->frames;
        release(watch, f);
    }
    return frames - 1;
}

static void start(void *context, pl_session *session)
{
    start_watch(context, session);
}

static int64_t finish(void *context, pl_session *session)
{
    return finish_watch(context, session);
}

pl_log_follower pl_watch_follower(pl_watch *watch)
{
    return (pl_log_follower){.context = watch, .start = start, .finish = finish};
}
