#include "server/executor.h"

#include "protocol/json.h"
#include "protocol/log.h"
#include "protocol/record.h"
#include "protocol/session_dir.h"
#include "server/removal.h"
#include "server/say.h"
#include "server/session_view.h"
#include "server/spawn.h"
#include "server/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CANCEL_PATIENCE_MS = 10000,
    LOCK_POLL_MS = 500, /* of adopted workers whose process is not known */
    EVENTS = 32,
};

typedef struct worker {
    struct worker *next;
    pl_session *session; /* a reference */
    pl_child child;      /* pidfd -1: known by its lock only */
    bool ours;           /* a child, to be reaped */
    bool killed;
    int64_t deadline_ms; /* 0: none */
} worker;

struct pl_executor {
    pl_daemon *daemon;
    pthread_t thread;
    int epoll_fd, kick_fd;
    pthread_mutex_t mutex; /* guards workers and stopping */
    worker *workers;
    bool stopping;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int open_directory(const pl_session *s)
{
    return open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- how a worker ended ------------------------------------------------------------------------
 */

static void finish_as(pl_executor *e, pl_session *s, pl_session_state to, const char *reason,
                      const pl_failure *failure)
{
    char *text = failure ? pl_failure_view(failure) : NULL;
    pl_sessions_move(e->daemon->sessions, s, to,
                     &(pl_move){.reason = reason,
                                .message = failure ? failure->message : NULL,
                                .failure = text});
    free(text);
}

static void finish_by_report(pl_executor *e, pl_session *s, const pl_exit *report)
{
    if (strcmp(report->state, "succeeded") == 0) {
        finish_as(e, s, PL_STATE_SUCCEEDED, NULL, NULL);
    } else if (strcmp(report->state, "cancelled") == 0) {
        finish_as(e, s, PL_STATE_CANCELLED, "user", NULL);
    } else {
        finish_as(e, s, PL_STATE_FAILED, pl_failure_name(report->failure.code), &report->failure);
    }
}

/* The lock is free and there is no exit.json of this attempt. */
static void finish_crashed(pl_executor *e, pl_session *s, bool status_known, int status,
                           bool killed, int64_t frame)
{
    if (killed && pl_sessions_desired(e->daemon->sessions, s)) {
        pl_sessions_move(
            e->daemon->sessions, s, PL_STATE_CANCELLED,
            &(pl_move){.reason = "killed", .message = "the worker did not react in 10 s"});
        return;
    }
    pl_failure failure = {.code = PL_FAILURE_WORKER_CRASHED,
                          .step = -1,
                          .frame = frame,
                          .body = -1,
                          .element = -1,
                          .vertex = -1};
    if (!status_known) {
        snprintf(failure.message, sizeof failure.message,
                 "the worker ended without a report while no daemon watched it");
    } else if (WIFSIGNALED(status)) {
        snprintf(failure.message, sizeof failure.message, "the worker was ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(failure.message, sizeof failure.message,
                 "the worker ended with status %d and no report", WEXITSTATUS(status));
    }
    bool out_of_memory = status_known && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    snprintf(failure.advice, sizeof failure.advice, "%s",
             out_of_memory ? "signal 9 with no one asking is most often the kernel being out of "
                             "memory; the frames until then are kept"
                           : "the frames until then are kept; the session's log says more");
    atomic_fetch_add(&e->daemon->counters.workers_crashed, 1);
    pl_say(PL_LEVEL_WARN, "session %s: %s", s->id, failure.message);
    finish_as(e, s, PL_STATE_FAILED, "worker_crashed", &failure);
}

static void finish(pl_executor *e, pl_session *s, bool status_known, int status, bool killed)
{
    int dir_fd = open_directory(s);
    pl_exit report = {0};
    bool reported = dir_fd >= 0 && pl_exit_read(dir_fd, &report) == PL_OK &&
                    report.attempt >= s->attempt;
    int64_t frame = pl_watch_finish(e->daemon->watch, s);
    if (reported) {
        finish_by_report(e, s, &report);
    } else if (dir_fd < 0) {
        pl_failure lost = {.code = PL_FAILURE_INTERNAL,
                           .step = -1,
                           .frame = -1,
                           .body = -1,
                           .element = -1,
                           .vertex = -1,
                           .message = "the session's directory is gone"};
        finish_as(e, s, PL_STATE_FAILED, "storage_lost", &lost);
    } else {
        finish_crashed(e, s, status_known, status, killed, frame);
    }
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    pl_say(PL_LEVEL_INFO, "session %s: %s after frame %lld", s->id, pl_state_name(s->state),
           (long long)frame);
    if (pl_sessions_desired(e->daemon->sessions, s) == 2) {
        pl_removal_start(e->daemon, s);
    }
}

/* ---- starting ----------------------------------------------------------------------------------
 */

static bool watch_worker(pl_executor *e, worker *w)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = w};
    if (w->child.pidfd >= 0 && epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, w->child.pidfd, &event) != 0) {
        return false;
    }
    pthread_mutex_lock(&e->mutex);
    w->next = e->workers;
    e->workers = w;
    pthread_mutex_unlock(&e->mutex);
    return true;
}

static int spawn_worker(pl_executor *e, const pl_session *s, pl_child *child)
{
    char program[PATH_MAX + 32], attempt[24], threads[24], log_path[PATH_MAX + 80];
    snprintf(program, sizeof program, "%s/pliant-worker", e->daemon->programs);
    snprintf(attempt, sizeof attempt, "%lld", (long long)s->attempt);
    snprintf(threads, sizeof threads, "%lld", (long long)s->cores);
    snprintf(log_path, sizeof log_path, "%s/worker.log", s->directory);
    int log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0) {
        return errno;
    }
    char *argv[] = {program, "--session", s->directory, "--attempt",
                    attempt, "--threads", threads,      NULL};
    int error = pl_spawn(argv, log_fd, log_fd, "/", child);
    close(log_fd);
    return error;
}

static void start(pl_executor *e, pl_session *s)
{
    worker *w = calloc(1, sizeof *w);
    pl_watch_start(e->daemon->watch, s);
    int error = w ? spawn_worker(e, s, &w->child) : ENOMEM;
    if (!error) {
        char identity[96], boot[40];
        pl_boot_id(boot);
        snprintf(identity, sizeof identity, "%s %d %llu", boot, (int)w->child.pid,
                 (unsigned long long)pl_process_start(w->child.pid));
        pl_sessions_set_worker(e->daemon->sessions, s, identity);
        atomic_fetch_add(&e->daemon->counters.workers_started, 1);
        w->ours = true;
        w->session = s;
        pl_session_acquire(s);
        if (!watch_worker(e, w)) {
            error = errno;
            pl_child_kill(&w->child);
            pl_session_release(s);
        }
    }
    if (error) {
        free(w);
        pl_failure failure = {.code = PL_FAILURE_INTERNAL,
                              .step = -1,
                              .frame = -1,
                              .body = -1,
                              .element = -1,
                              .vertex = -1};
        snprintf(failure.message, sizeof failure.message, "the worker could not be started: %s",
                 strerror(error));
        pl_watch_finish(e->daemon->watch, s);
        finish_as(e, s, PL_STATE_FAILED, "internal", &failure);
    }
}

static void start_what_fits(pl_executor *e)
{
    for (pl_session *s;
         !e->daemon->draining && (s = pl_sessions_start_next(e->daemon->sessions));) {
        start(e, s);
        pl_session_release(s);
    }
}

/* ---- the supervisor ----------------------------------------------------------------------------
 */

static void forget(pl_executor *e, worker *w)
{
    pthread_mutex_lock(&e->mutex);
    for (worker **link = &e->workers; *link; link = &(*link)->next) {
        if (*link == w) {
            *link = w->next;
            break;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    pl_session_release(w->session);
    free(w);
}

static void ended(pl_executor *e, worker *w)
{
    int status = 0;
    bool known = false;
    if (w->child.pidfd >= 0) {
        epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, w->child.pidfd, NULL);
        known = pl_child_reap(&w->child, &status) && w->ours;
    }
    finish(e, w->session, known, status, w->killed);
    forget(e, w);
}

static bool lock_held(const pl_session *s)
{
    int dir_fd = open_directory(s);
    bool held = dir_fd >= 0 && pl_session_locked(dir_fd);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return held;
}

/* What is due by the clock: workers to kill, locks to look at. Returns ms until the next, or -1. */
static int tend(pl_executor *e)
{
    int64_t now = now_ms(), next = INT64_MAX;
    worker *over = NULL;
    pthread_mutex_lock(&e->mutex);
    for (worker *w = e->workers; w && !over; w = w->next) {
        if (w->child.pidfd < 0) {
            over = lock_held(w->session) ? NULL : w;
            next = next < now + LOCK_POLL_MS ? next : now + LOCK_POLL_MS;
        }
        if (w->deadline_ms && w->child.pidfd >= 0) {
            if (w->deadline_ms <= now) {
                w->deadline_ms = 0;
                w->killed = true;
                pidfd_send_signal(w->child.pidfd, SIGKILL, NULL, 0);
            } else {
                next = next < w->deadline_ms ? next : w->deadline_ms;
            }
        }
    }
    pthread_mutex_unlock(&e->mutex);
    if (over) {
        ended(e, over);
        return 0;
    }
    return next == INT64_MAX ? -1 : (int)(next - now);
}

static void *supervise(void *context)
{
    pl_executor *e = context;
    for (;;) {
        struct epoll_event events[EVENTS];
        int n = epoll_wait(e->epoll_fd, events, EVENTS, tend(e));
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr) {
                ended(e, events[i].data.ptr);
            } else {
                uint64_t count;
                ssize_t got = read(e->kick_fd, &count, sizeof count);
                (void)got; /* it only wakes */
            }
        }
        pthread_mutex_lock(&e->mutex);
        bool stopping = e->stopping;
        pthread_mutex_unlock(&e->mutex);
        if (stopping) {
            return NULL;
        }
        start_what_fits(e);
    }
}

pl_executor *pl_executor_create(pl_daemon *daemon)
{
    pl_executor *e = calloc(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    e->daemon = daemon;
    pthread_mutex_init(&e->mutex, NULL);
    e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    e->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (e->epoll_fd < 0 || e->kick_fd < 0 ||
        epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->kick_fd, &event) != 0 ||
        pthread_create(&e->thread, NULL, supervise, e) != 0) {
        pl_say(PL_LEVEL_ERROR, "the supervisor did not start: %s", strerror(errno));
        close(e->epoll_fd);
        close(e->kick_fd);
        free(e);
        return NULL;
    }
    pthread_setname_np(e->thread, "supervisor");
    return e;
}

void pl_executor_kick(pl_executor *e)
{
    if (e) {
        uint64_t one = 1;
        ssize_t put = write(e->kick_fd, &one, sizeof one);
        (void)put; /* full means that it is awake already */
    }
}

void pl_executor_destroy(pl_executor *e)
{
    if (!e) {
        return;
    }
    pthread_mutex_lock(&e->mutex);
    e->stopping = true;
    pthread_mutex_unlock(&e->mutex);
    pl_executor_kick(e);
    pthread_join(e->thread, NULL);
    while (e->workers) {
        if (e->workers->child.pidfd >= 0) {
            close(e->workers->child.pidfd);
        }
        forget(e, e->workers);
    }
    close(e->epoll_fd);
    close(e->kick_fd);
    pthread_mutex_destroy(&e->mutex);
    free(e);
}

/* ---- cancelling --------------------------------------------------------------------------------
 */

static int append_control(const pl_session *s, const char *json)
{
    char path[PATH_MAX + 80];
    unsigned char record[PL_RECORD_HEADER + 64] = {0};
    size_t length = strlen(json);
    pl_record r = {
        .type = PL_RECORD_CONTROL, .length = length, .payload_crc = pl_crc32c(0, json, length)};
    pl_record_encode(&r, record);
    memcpy(record + PL_RECORD_HEADER, json, length);
    size_t size = pl_record_size(length);
    snprintf(path, sizeof path, "%s/control.log", s->directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return errno;
    }
    int error = 0;
    if (write(fd, record, size) != (ssize_t)size || fdatasync(fd) != 0) {
        error = errno ? errno : EIO;
    }
    close(fd);
    return error;
}

int pl_executor_cancel(pl_executor *e, pl_session *s)
{
    int error = append_control(s, "{\"action\": \"cancel\"}");
    if (error) {
        return error;
    }
    pthread_mutex_lock(&e->mutex);
    for (worker *w = e->workers; w; w = w->next) {
        if (w->session == s && !w->deadline_ms && !w->killed) {
            w->deadline_ms = now_ms() + CANCEL_PATIENCE_MS;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    pl_executor_kick(e);
    return 0;
}

/* ---- adopting ----------------------------------------------------------------------------------
 */

/* A pidfd for the process that was started as `identity`, or -1: the start time is compared after
 * the pidfd is open, so that a reused pid is never taken for it. */
static int open_worker(const char *identity, pid_t *pid)
{
    char boot[40], now_boot[40];
    int number = 0;
    unsigned long long started = 0;
    pl_boot_id(now_boot);
    if (!identity || sscanf(identity, "%39s %d %llu", boot, &number, &started) != 3 ||
        strcmp(boot, now_boot) != 0 || number <= 1) {
        return -1;
    }
    int pidfd = pidfd_open(number, 0);
    if (pidfd >= 0 && pl_process_start(number) != started) {
        close(pidfd);
        pidfd = -1;
    }
    *pid = number;
    return pidfd;
}

void pl_executor_adopt(pl_executor *e, pl_session *s)
{
    int dir_fd = open_directory(s);
    pl_exit report = {0};
    bool held = dir_fd >= 0 && pl_session_locked(dir_fd);
    bool reported = !held && dir_fd >= 0 && pl_exit_read(dir_fd, &report) == PL_OK &&
                    report.attempt >= s->attempt && report.attempt > 0;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    if (!held && !reported && s->state == PL_STATE_QUEUED) {
        return; /* never ran: it waits on */
    }
    pl_sessions_adopt(e->daemon->sessions, s);
    pl_watch_start(e->daemon->watch, s);
    worker *w = held ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        finish(e, s, false, 0, false);
        return;
    }
    w->session = s;
    pl_session_acquire(s);
    w->child.pidfd = open_worker(s->worker, &w->child.pid);
    atomic_fetch_add(&e->daemon->counters.workers_adopted, 1);
    pl_say(PL_LEVEL_INFO, "session %s: its worker still runs and was adopted", s->id);
    if (!watch_worker(e, w)) {
        close(w->child.pidfd);
        w->child.pidfd = -1;
        watch_worker(e, w);
    }
    if (pl_sessions_desired(e->daemon->sessions, s)) {
        pl_executor_cancel(e, s);
    }
}
