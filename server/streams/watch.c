#include "server/streams/watch.h"

#include "server/base/logger.h"
#include "server/streams/stream_hub.h"
#include "server/streams/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { POLL_FIRST_MS = 50, POLL_MOST_MS = 500, TICK_MS = 1000 };

typedef struct followed {
    struct followed *next;
    pl_session *session; /* a reference */
    int log_wd, dir_wd;  /* -1: not watched, so polled */
    int64_t frames;      /* committed, as last seen */
    int64_t due_ms;      /* next look, where polled */
    int interval_ms;
    bool touched;
} followed;

struct pl_watch {
    pl_daemon *daemon;
    pthread_t thread;
    int inotify_fd, stop_fd;
    pthread_mutex_t mutex; /* guards the list */
    followed *list;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* True where there was something new. */
static bool look(pl_watch *watch, followed *f)
{
    double time = f->session->time;
    int64_t frames = pl_tail_refresh(f->session, f->frames, &time);
    if (frames <= f->frames) {
        return false;
    }
    f->frames = frames;
    pl_sessions_set_progress(watch->daemon->sessions, f->session, frames - 1, time);
    pl_session_wake(f->session);
    return true;
}

/* ---- the thread ---- */

static void mark_touched(pl_watch *watch)
{
    _Alignas(struct inotify_event) char buffer[16384];
    ssize_t n = read(watch->inotify_fd, buffer, sizeof buffer);
    for (char *p = buffer; n > 0 && p < buffer + n;) {
        const struct inotify_event *event = (const struct inotify_event *)p;
        bool overflow = event->mask & IN_Q_OVERFLOW;
        for (followed *f = watch->list; f; f = f->next) {
            if (overflow || f->log_wd == event->wd || f->dir_wd == event->wd) {
                f->touched = true;
            }
        }
        p += sizeof *event + event->len;
    }
}

/* Look at what was touched and at what is polled and due; ms until the next is due. */
static int look_around(pl_watch *watch)
{
    int64_t now = now_ms(), next = now + TICK_MS;
    for (followed *f = watch->list; f; f = f->next) {
        bool polled = f->log_wd < 0;
        if (f->touched || (polled && f->due_ms <= now)) {
            f->touched = false;
            bool news = look(watch, f);
            int slower = 2 * f->interval_ms;
            f->interval_ms = news ? POLL_FIRST_MS : slower < POLL_MOST_MS ? slower : POLL_MOST_MS;
            f->due_ms = now + f->interval_ms;
        }
        if (polled && f->due_ms < next) {
            next = f->due_ms;
        }
    }
    return (int)(next - now);
}

static void *run(void *context)
{
    pl_watch *watch = context;
    int64_t tick = now_ms() + TICK_MS;
    int timeout = TICK_MS;
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
        timeout = look_around(watch);
        pthread_mutex_unlock(&watch->mutex);
        if (now_ms() >= tick) {
            pl_stream_hub_tick(watch->daemon->streams);
            tick = now_ms() + TICK_MS;
        }
    }
}

pl_watch *pl_watch_create(pl_daemon *daemon)
{
    pl_watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        return NULL;
    }
    watch->daemon = daemon;
    pthread_mutex_init(&watch->mutex, NULL);
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
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}

void pl_watch_start(pl_watch *watch, pl_session *session)
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
    if (f->log_wd < 0) {
        pl_logf(PL_LEVEL_WARN, "session %s: polled, as its log can not be watched: %s", session->id,
                strerror(errno));
    }
    if (pl_tail_open(session, dir_fd) != PL_OK) {
        pl_logf(PL_LEVEL_WARN, "session %s: its log can not be read: %s", session->id,
                strerror(errno));
    }
    close(dir_fd);
    f->interval_ms = POLL_FIRST_MS;
    f->session = session;
    pl_session_acquire(session);
    pthread_mutex_lock(&watch->mutex);
    f->next = watch->list;
    watch->list = f;
    look(watch, f);
    pthread_mutex_unlock(&watch->mutex);
}

int64_t pl_watch_finish(pl_watch *watch, pl_session *session)
{
    pthread_mutex_lock(&watch->mutex);
    followed **link = &watch->list;
    while (*link && (*link)->session != session) {
        link = &(*link)->next;
    }
    followed *f = *link;
    int64_t frames = 0;
    if (f) {
        *link = f->next;
        look(watch, f);
        frames = f->frames;
    }
    pthread_mutex_unlock(&watch->mutex);
    if (f) {
        release(watch, f);
    }
    return frames - 1;
}
