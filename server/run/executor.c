#include "server/run/executor.h"

#include "protocol/log/session_dir.h"
#include "server/base/logger.h"
#include "server/base/notify.h"
#include "server/http/shortage.h"
#include "server/http/waiter.h"
#include "server/run/batch_executor.h"
#include "server/run/ending.h"
#include "server/run/executor_kind.h"
#include "server/run/worker_start.h"
#include "server/run/worker_watch.h"
#include "server/run/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STOP_POLL_MS = 10,
    SHORTAGE_MS = 50,   /* between attempts to conclude a worker without open files or memory */
    STATUS_REFUSED = 5, /* of a worker that could not take the lock, or whose attempt is stale */
    LOCK_POLL_MS = 500, /* of adopted workers with an unknown process */
    EVENTS = 32,
};

/* ---- ends ---- */

/* Another process holds the lock: a worker that an earlier daemon started just before its end. Watch that one instead,
 * by its lock, in its existing group. */
static bool watch_other(pl_executor *e, pl_worker *w, bool known, int status)
{
    if (!known || !WIFEXITED(status) || WEXITSTATUS(status) != STATUS_REFUSED ||
        !pl_worker_lock_held(w)) {
        return false;
    }
    pl_logf(PL_LEVEL_WARN, "session %s: another worker holds its lock and is now watched",
            w->session->id);
    w->ours = false;
    pl_memory_groups_remove(e->setup.memory_groups, w->group);
    pl_memory_groups_find(e->setup.memory_groups, w->session->id, 0, w->group);
    return true;
}

/* The worker has ended as `how` says. Remove it from the list first: the conclusion may start the session again, with
 * another worker. */
static void conclude(pl_executor *e, pl_worker *w, pl_ending *how)
{
    pl_workers_remove(e, w);
    pl_holding_leave(e, w);
    how->frame = e->setup.follower.finish(e->setup.follower.context, w->session);
    pl_ending_conclude(&e->setup, w->session, how);
    pl_session_release(w->session);
    free(w);
}

/* The worker's own group decides if it has one: the daemon's group also counts kills of other workers. */
static bool killed_for_memory(const pl_worker *w, const pl_ending *how, int64_t group_kills)
{
    if (w->kill || group_kills >= 0) {
        return !w->kill && group_kills > 0;
    }
    return how->status_known && WIFSIGNALED(how->status) && WTERMSIG(how->status) == SIGKILL &&
           pl_memory_kills() > w->memory_kills;
}

/* Removes the group of a process that has ended; returns its number of kills, -1: unknown. */
static int64_t close_group(pl_executor *e, const char *group)
{
    int64_t kills = pl_memory_groups_kills(e->setup.memory_groups, group);
    pl_memory_groups_remove(e->setup.memory_groups, group);
    return kills;
}

/* True if the worker's directory, which holds its result, can be opened. Otherwise the worker stays in the list for a
 * later try; sleeps a moment first, so that this thread does not spin. */
static bool can_conclude(const pl_worker *w)
{
    int dir_fd = open(w->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool can = dir_fd >= 0 || !pl_is_shortage(errno);
    if (dir_fd >= 0) {
        close(dir_fd);
    } else if (!can) {
        nanosleep(&(struct timespec){.tv_nsec = SHORTAGE_MS * 1000000L}, NULL);
    }
    return can;
}

static void ended(pl_executor *e, pl_worker *w)
{
    pl_ending how = {.kill = w->kill};
    if (!can_conclude(w)) {
        return;
    }
    if (w->child.pidfd >= 0) {
        epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, w->child.pidfd, NULL);
        how.status_known = pl_workers_reap(e, &w->child, &how.status) && w->ours;
        if (watch_other(e, w, how.status_known, how.status)) {
            return;
        }
    }
    how.out_of_memory = killed_for_memory(w, &how, close_group(e, w->group));
    conclude(e, w, &how);
}

static pl_worker *of_process(pl_executor *e, const pl_worker_process *p)
{
    pl_worker *w;
    pthread_mutex_lock(&e->mutex);
    for (w = e->workers; w && w->shared != p; w = w->next) {
    }
    pthread_mutex_unlock(&e->mutex);
    return w;
}

/* Its end is also the end of all its sessions that had not ended. */
static void process_ended(pl_executor *e, pl_worker_process *p)
{
    int status = 0;
    epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, p->child.pidfd, NULL);
    bool known = pl_workers_reap(e, &p->child, &status);
    pthread_mutex_lock(&e->mutex);
    for (pl_worker_process **link = &e->processes; *link; link = &(*link)->next) {
        if (*link == p) {
            *link = p->next;
            break;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    int64_t kills = close_group(e, p->group);
    for (pl_worker *w; (w = of_process(e, p));) {
        pl_ending how = {.kill = w->kill, .status_known = known, .status = status};
        if (known && WIFEXITED(status) && WEXITSTATUS(status) == STATUS_REFUSED &&
            pl_worker_lock_held(w)) {
            pl_holding_leave(e, w);
            pthread_mutex_lock(&e->mutex);
            w->shared = NULL;
            w->ours = false;
            pl_memory_groups_find(e->setup.memory_groups, w->session->id, 0, w->group);
            pthread_mutex_unlock(&e->mutex);
            continue;
        }
        how.out_of_memory = killed_for_memory(w, &how, kills);
        conclude(e, w, &how);
    }
    free(p);
}

/* One of several sessions in a process ended while the others continue: it has released its lock and left its
 * exit.json. */
static bool has_left(const pl_worker *w)
{
    pl_exit report = {0};
    int dir_fd = open(w->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool left = dir_fd >= 0 && pl_exit_read(dir_fd, &report) == PL_OK &&
                report.attempt >= w->session->attempt && !pl_session_locked(dir_fd);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return left;
}

/* True if a worker without its own process has ended. The last of several ends with their process: only then is their
 * GPU memory free. */
static bool is_over(pl_executor *e, const pl_worker *w)
{
    if (w->shared || (w->child.pidfd >= 0 && !w->ours)) {
        return !pl_holding_last(e, w) && has_left(w);
    }
    return w->child.pidfd < 0 && !pl_worker_lock_held(w);
}

/* The first ended worker among those whose process does not tell. Reading their files may take long, so it is done
 * without the mutex: only this thread removes entries. */
static pl_worker *find_over(pl_executor *e, bool *polled)
{
    pthread_mutex_lock(&e->mutex);
    pl_worker *w = e->workers;
    pthread_mutex_unlock(&e->mutex);
    for (; w; w = w->next) {
        if (w->child.pidfd < 0 || !w->ours) {
            *polled = true;
            if (is_over(e, w)) {
                return w;
            }
        }
    }
    return NULL;
}

/* True if a watched worker is in the group. */
static bool is_watched(void *context, const char *group)
{
    pl_executor *e = context;
    bool watched = false;
    pthread_mutex_lock(&e->mutex);
    for (pl_worker *w = e->workers; w; w = w->next) {
        watched = watched || strcmp(w->shared ? w->shared->group : w->group, group) == 0;
    }
    pthread_mutex_unlock(&e->mutex);
    return watched;
}

/* Do what is due: kill workers, check locks, restart sessions. Returns ms until the next time, or -1. */
static int tend(pl_executor *e)
{
    int64_t now = pl_monotonic_ms(), next = INT64_MAX;
    bool polled = false;
    pl_worker *over = find_over(e, &polled);
    if (over) {
        ended(e, over);
        return 0;
    }
    if (polled) {
        next = now + LOCK_POLL_MS;
    }
    int64_t watched = pl_worker_watch(e, now);
    next = watched < next ? watched : next;
    if (atomic_load(
            e->setup
                .ready)) { /* before that, workers of an earlier daemon may not be adopted yet */
        int64_t swept = pl_memory_groups_sweep(e->setup.memory_groups, now, is_watched, e);
        next = swept < next ? swept : next;
    }
    int64_t due = pl_dispatcher_next_due(e->setup.dispatcher);
    if (due < next && pl_workers_may_start(e)) {
        next = due > now ? due : now;
    }
    int64_t left = next - now;
    return next == INT64_MAX ? -1 : left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static void *supervise(void *context)
{
    pl_executor *e = context;
    for (;;) {
        struct epoll_event events[EVENTS];
        pl_notify_alive();
        int most = pl_notify_interval_ms(), wait_ms = tend(e);
        wait_ms = most && (wait_ms < 0 || wait_ms > most) ? most : wait_ms;
        int n = epoll_wait(e->epoll_fd, events, EVENTS, wait_ms);
        for (int i = 0; i < n; i++) {
            uint64_t whose = events[i].data.u64;
            if (whose & PL_EVENT_PROCESS) {
                process_ended(e, (pl_worker_process *)(uintptr_t)(whose & ~PL_EVENT_PROCESS));
            } else if (whose) {
                ended(e, (pl_worker *)(uintptr_t)whose);
            } else {
                uint64_t count;
                ssize_t got = read(e->wake_fd, &count, sizeof count);
                (void)got; /* only wakes the thread */
            }
        }
        pthread_mutex_lock(&e->mutex);
        bool stopping = e->stopping;
        pthread_mutex_unlock(&e->mutex);
        if (stopping) {
            return NULL;
        }
        pl_workers_start_next(e);
    }
}

pl_executor *pl_executor_create(const pl_worker_setup *setup)
{
    pl_executor *e = calloc(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    e->setup = *setup;
    pthread_mutex_init(&e->mutex, NULL);
    e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (e->epoll_fd < 0 || e->wake_fd < 0 ||
        epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->wake_fd, &event) != 0 ||
        pthread_create(&e->thread, NULL, supervise, e) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the supervisor did not start: %s", strerror(errno));
        close(e->epoll_fd);
        close(e->wake_fd);
        free(e);
        return NULL;
    }
    pthread_setname_np(e->thread, "supervisor");
    if (setup->batch && !(e->batch = pl_batch_create(setup, setup->batch))) {
        pl_executor_destroy(e);
        return NULL;
    }
    return e;
}

void pl_executor_kick(pl_executor *e)
{
    if (e) {
        pl_workers_wake(e);
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
    pl_batch_destroy(e->batch);
    while (e->workers) {
        if (e->workers->child.pidfd >= 0) {
            close(e->workers->child.pidfd);
        }
        pl_worker *w = e->workers;
        pl_workers_remove(e, w);
        if (w->holding && --w->holding->sessions == 0) {
            pl_holding_destroy(w->holding);
        }
        pl_session_release(w->session);
        free(w);
    }
    for (pl_worker_process *p; (p = e->processes);) {
        e->processes = p->next;
        close(p->child.pidfd);
        free(p);
    }
    close(e->epoll_fd);
    close(e->wake_fd);
    pthread_mutex_destroy(&e->mutex);
    free(e);
}

/* ---- deadlines ---- */

static void change_deadline(pl_executor *e, pl_session *s, int64_t deadline_ms)
{
    const pl_executor_kind *kind = pl_executor_kind_of(e, s);
    if (kind) {
        kind->set_deadline(e, s, deadline_ms);
    }
}

void pl_executor_set_deadline(pl_executor *e, pl_session *s)
{
    change_deadline(e, s, pl_workers_deadline(e));
}

void pl_executor_clear_deadline(pl_executor *e, pl_session *s)
{
    change_deadline(e, s, 0);
}

/* ---- stopping ---- */

static void stop_all(pl_executor *e, int64_t deadline_ms)
{
    pl_executor_local.stop_all(e, deadline_ms);
    if (e->batch) {
        pl_executor_batch.stop_all(e, deadline_ms);
    }
}

static int count_all(pl_executor *e)
{
    return pl_executor_local.count(e) + (e->batch ? pl_executor_batch.count(e) : 0);
}

void pl_executor_pause_workers(pl_executor *e)
{
    stop_all(e, pl_workers_deadline(e));
}

void pl_executor_stop_workers(pl_executor *e, int timeout_ms)
{
    int count = count_all(e);
    int64_t end = pl_monotonic_ms() + timeout_ms;
    stop_all(e, 0);
    if (count) {
        pl_logf(PL_LEVEL_INFO, "%d workers told to stop at a checkpoint", count);
    }
    while ((count = count_all(e)) > 0 && pl_monotonic_ms() < end) {
        nanosleep(&(struct timespec){.tv_nsec = STOP_POLL_MS * 1000000L}, NULL);
    }
    if (count) {
        pl_logf(PL_LEVEL_WARN, "%d workers did not stop in time and were left running", count);
    }
}
