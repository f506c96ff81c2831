#include "server/run/executor.h"

#include "protocol/log/record.h"
#include "protocol/log/session_dir.h"
#include "server/sessions/control_log.h"
#include "server/run/ending.h"
#include "server/run/lifecycle.h"
#include "server/sessions/removal.h"
#include "server/base/logger.h"
#include "server/sessions/session_view.h"
#include "server/base/spawn.h"
#include "server/sessions/directory_record.h"
#include "server/streams/watch.h"

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
    STOP_POLL_MS = 10,
    STATUS_REFUSED = 5, /* of a worker that could not take the lock, or whose attempt is stale */
    LOCK_POLL_MS = 500, /* of adopted workers whose process is not known */
    EVENTS = 32,
};

/* What the sessions of one worker hold together, until the last of them is concluded: cores, and a context there. */
typedef struct holding {
    int sessions; /* not concluded */
    int64_t cores;
    char *owner, *gpu;
} holding;

/* A process that several sessions share, a child, until it has ended. */
typedef struct process {
    struct process *next;
    pl_child child;
} process;

typedef struct worker {
    struct worker *next;
    pl_session *session; /* a reference */
    pl_child child;      /* pidfd -1: known by its lock only, or shared */
    process *shared;     /* or NULL */
    holding *holding;    /* what it holds with others; NULL: what it holds is its own */
    bool ours;           /* a child, to be reaped */
    bool killed, dragged;
    int64_t deadline_ms;  /* 0: none */
    int64_t memory_kills; /* pl_memory_kills when it was started */
} worker;

struct pl_executor {
    pl_daemon *daemon;
    pthread_t thread;
    int epoll_fd, kick_fd;
    pthread_mutex_t mutex; /* guards workers, processes, holdings, stopping; before the table's */
    worker *workers;
    process *processes;
    bool stopping;
};

/* In an event, of a process that is shared; else it is a worker's, or NULL's. */
#define IS_PROCESS UINT64_C(1)

/* Of the process that it is in; -1: known by its lock only. */
static int pidfd_of(const worker *w)
{
    return w->shared ? w->shared->child.pidfd : w->child.pidfd;
}

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

/* ---- starting ---- */

static bool watch_worker(pl_executor *e, worker *w)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uintptr_t)w};
    if (w->child.pidfd >= 0 && epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, w->child.pidfd, &event) != 0) {
        return false;
    }
    pthread_mutex_lock(&e->mutex);
    w->next = e->workers;
    e->workers = w;
    pthread_mutex_unlock(&e->mutex);
    return true;
}

/* The same for all sessions of an owner. Two owners may meet in one where the range is small; the sandbox keeps their
 * sessions apart all the same. */
static uint32_t worker_uid(const pl_options *o, const char *owner)
{
    uint32_t count = o->worker_uid_last - o->worker_uid + 1;
    return o->worker_uid ? o->worker_uid + pl_crc32c(0, owner, strlen(owner)) % count : 0;
}

/* A worker for one session, or for several that share it: threads are those of each, memory is that of all. */
static int spawn_worker(pl_executor *e, pl_session *const *sessions, int count, pl_child *child)
{
    const pl_options *o = &e->daemon->options;
    const pl_session *first = sessions[0];
    char program[PATH_MAX + 32], attempts[PL_GPU_SHARE_MAX][24], threads[24], memory[32], every[16];
    char log_path[PATH_MAX + 80], uid_text[16];
    double most = 0;
    bool limited = true;
    char *argv[4 * PL_GPU_SHARE_MAX + 20] = {program};
    size_t n = 1;
    for (int i = 0; i < count; i++) {
        snprintf(attempts[i], sizeof attempts[i], "%lld", (long long)sessions[i]->attempt);
        argv[n++] = (char *)"--session";
        argv[n++] = sessions[i]->directory;
        argv[n++] = (char *)"--attempt";
        argv[n++] = attempts[i];
        most += sessions[i]->memory_limit;
        limited = limited && sessions[i]->memory_limit >= 1;
    }
    snprintf(program, sizeof program, "%s/pliant-worker", e->daemon->programs);
    snprintf(threads, sizeof threads, "%lld", count > 1 ? 1LL : (long long)first->cores);
    snprintf(every, sizeof every, "%d", o->checkpoint_every);
    snprintf(memory, sizeof memory, "%.0f", most);
    snprintf(log_path, sizeof log_path, "%s/worker.log", first->directory);
    int log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0) {
        return errno;
    }
    argv[n++] = (char *)"--threads";
    argv[n++] = threads;
    argv[n++] = (char *)"--checkpoint-every";
    argv[n++] = every;
    uint32_t uid = worker_uid(o, first->owner);
    if (uid) {
        snprintf(uid_text, sizeof uid_text, "%u", uid);
        argv[n++] = (char *)"--uid";
        argv[n++] = uid_text;
    }
    if (limited) {
        argv[n++] = (char *)"--memory";
        argv[n++] = memory;
    }
    if (first->gpu_memory > 0) {
        argv[n++] = (char *)"--gpu";
        argv[n++] = first->gpu;
    }
    if (first->gpu_memory > 0 && o->gpu_plugin) {
        argv[n++] = (char *)"--gpu-plugin";
        argv[n++] = (char *)o->gpu_plugin;
    }
    int error = pl_spawn(argv, log_fd, log_fd, "/", child);
    close(log_fd);
    return error;
}

static void fail_start(pl_executor *e, pl_session *s, int error)
{
    pl_failure failure = {
        .code = PL_FAILURE_INTERNAL, .step = -1, .body = -1, .element = -1, .vertex = -1};
    snprintf(failure.message, sizeof failure.message, "the worker could not be started: %s",
             strerror(error));
    failure.frame = pl_watch_finish(e->daemon->watch, s);
    char *text = pl_failure_view(&failure);
    pl_directory_record_move(
        e->daemon, s, PL_STATE_FAILED,
        &(pl_move){.reason = "internal", .message = failure.message, .failure = text});
    free(text);
}

static void name_worker(pl_executor *e, pl_session *s, const pl_child *child)
{
    char identity[96], boot[40];
    pl_boot_id(boot);
    snprintf(identity, sizeof identity, "%s %d %llu", boot, (int)child->pid,
             (unsigned long long)pl_process_start(child->pid));
    pl_sessions_set_worker(e->daemon->sessions, s, identity);
}

static void start(pl_executor *e, pl_session *s)
{
    worker *w = calloc(1, sizeof *w);
    pl_watch_start(e->daemon->watch, s);
    int64_t kills = pl_memory_kills();
    int error = w ? spawn_worker(e, &s, 1, &w->child) : ENOMEM;
    if (!error) {
        name_worker(e, s, &w->child);
        atomic_fetch_add(&e->daemon->counters.workers_started, 1);
        w->ours = true;
        w->memory_kills = kills;
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
        fail_start(e, s, error);
    } else if (pl_sessions_desired(e->daemon->sessions, s)) {
        pl_executor_hurry(e, s); /* asked between its place in the queue and here */
    }
}

/* ---- several in one process: known by lock and exit.json while it lives, else concluded ---- */

static void free_holding(holding *h)
{
    if (h) {
        free(h->owner);
        free(h->gpu);
    }
    free(h);
}

/* Of nobody and nothing yet, on the GPU of this one; NULL: out of memory. */
static holding *create_holding(const pl_session *host)
{
    holding *h = calloc(1, sizeof *h);
    if (h && (!(h->owner = strdup(host->owner)) || !(h->gpu = strdup(host->gpu)))) {
        free_holding(h);
        h = NULL;
    }
    return h;
}

static process *spawn_shared(pl_executor *e, pl_session *const *group, int count, int *error)
{
    process *p = calloc(1, sizeof *p);
    *error = ENOMEM;
    if (!p || (*error = spawn_worker(e, group, count, &p->child)) != 0) {
        free(p);
        return NULL;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uintptr_t)p | IS_PROCESS};
    if (epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, p->child.pidfd, &event) != 0) {
        *error = errno;
        pl_child_kill(&p->child);
        free(p);
        return NULL;
    }
    return p;
}

static void start_shared(pl_executor *e, pl_session *const *group, int count)
{
    worker *workers[PL_GPU_SHARE_MAX];
    int64_t kills = pl_memory_kills();
    int made = 0, error = ENOMEM;
    for (int i = 0; i < count; i++) {
        pl_watch_start(e->daemon->watch, group[i]);
    }
    while (made < count && (workers[made] = calloc(1, sizeof **workers))) {
        made++;
    }
    holding *h = made == count ? create_holding(group[0]) : NULL;
    process *p = h ? spawn_shared(e, group, count, &error) : NULL;
    if (!p) {
        free_holding(h);
        for (int i = 0; i < count; i++) {
            fail_start(e, group[i], error);
        }
        while (made > 0) {
            free(workers[--made]);
        }
        return;
    }
    h->sessions = count;
    h->cores = pl_sessions_transfer(e->daemon->sessions, group[0]);
    atomic_fetch_add(&e->daemon->counters.workers_started, 1);
    pl_logf(PL_LEVEL_INFO, "%d sessions share a worker on GPU %s", count, h->gpu);
    for (int i = 0; i < count; i++) {
        name_worker(e, group[i], &p->child);
        *workers[i] = (worker){.session = group[i],
                               .child = {.pid = p->child.pid, .pidfd = -1},
                               .shared = p,
                               .holding = h,
                               .ours = true,
                               .memory_kills = kills};
        pl_session_acquire(group[i]);
    }
    pthread_mutex_lock(&e->mutex);
    p->next = e->processes;
    e->processes = p;
    for (int i = 0; i < count; i++) {
        workers[i]->next = e->workers;
        e->workers = workers[i];
    }
    pthread_mutex_unlock(&e->mutex);
    for (int i = 0; i < count; i++) {
        if (pl_sessions_desired(e->daemon->sessions, group[i])) {
            pl_executor_hurry(e, group[i]);
        }
    }
}

/* Not before all of an earlier daemon's sessions are taken up: one that waits by its row may have a worker, and what
 * were started here would be taken for one that is gone. */
static bool may_start(const pl_executor *e)
{
    return atomic_load(&e->daemon->ready) && !e->daemon->draining;
}

static void start_what_fits(pl_executor *e)
{
    pl_session *group[PL_GPU_SHARE_MAX];
    while (may_start(e) && (group[0] = pl_sessions_start_next(e->daemon->sessions))) {
        int count = 1;
        while (count < e->daemon->options.gpu_share &&
               (group[count] = pl_sessions_start_beside(e->daemon->sessions, group[0]))) {
            count++;
        }
        if (count > 1) {
            start_shared(e, group, count);
        } else {
            start(e, group[0]);
        }
        while (count > 0) {
            pl_session_release(group[--count]);
        }
    }
}

/* ---- the supervisor ---- */

static void take_out(pl_executor *e, worker *gone)
{
    pthread_mutex_lock(&e->mutex);
    for (worker **link = &e->workers; *link; link = &(*link)->next) {
        if (*link == gone) {
            *link = gone->next;
            break;
        }
    }
    pthread_mutex_unlock(&e->mutex);
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

/* Another holds the lock: a worker that an earlier daemon started at its very end. It is the one to
 * watch, by its lock. */
static bool watch_other(worker *w, bool known, int status)
{
    if (!known || !WIFEXITED(status) || WEXITSTATUS(status) != STATUS_REFUSED ||
        !lock_held(w->session)) {
        return false;
    }
    pl_logf(PL_LEVEL_WARN, "session %s: another worker holds its lock, and is watched now",
            w->session->id);
    w->ours = false;
    return true;
}

/* It has ended: with the last of its worker what they held together goes back. */
static void leave_holding(pl_executor *e, worker *w)
{
    pthread_mutex_lock(&e->mutex);
    holding *h = w->holding;
    bool last = h && --h->sessions == 0;
    w->holding = NULL;
    pthread_mutex_unlock(&e->mutex);
    if (last) {
        pl_sessions_reclaim(e->daemon->sessions, h->owner, h->gpu, h->cores);
        free_holding(h);
    }
}

/* It is over, as `how` says. Out of the list first: the conclusion may start the session again, as another worker. */
static void conclude(pl_executor *e, worker *w, const pl_ending *how)
{
    take_out(e, w);
    leave_holding(e, w);
    pl_ending_conclude(e->daemon, w->session, how);
    pl_session_release(w->session);
    free(w);
}

static bool killed_for_memory(const worker *w, const pl_ending *how)
{
    return how->status_known && !w->killed && !w->dragged && WIFSIGNALED(how->status) &&
           WTERMSIG(how->status) == SIGKILL && pl_memory_kills() > w->memory_kills;
}

/* Of a process that has ended: who tells all workers to stop does not take its descriptor for one that is open. */
static bool reap(pl_executor *e, pl_child *child, int *status)
{
    pthread_mutex_lock(&e->mutex);
    bool known = pl_child_reap(child, status);
    pthread_mutex_unlock(&e->mutex);
    return known;
}

static void ended(pl_executor *e, worker *w)
{
    pl_ending how = {.killed = w->killed, .dragged = w->dragged};
    if (w->child.pidfd >= 0) {
        epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, w->child.pidfd, NULL);
        how.status_known = reap(e, &w->child, &how.status) && w->ours;
        if (watch_other(w, how.status_known, how.status)) {
            return;
        }
    }
    how.out_of_memory = killed_for_memory(w, &how);
    conclude(e, w, &how);
}

static worker *of_process(pl_executor *e, const process *p)
{
    worker *w;
    pthread_mutex_lock(&e->mutex);
    for (w = e->workers; w && w->shared != p; w = w->next) {
    }
    pthread_mutex_unlock(&e->mutex);
    return w;
}

/* And with it all sessions that had not ended before. */
static void process_ended(pl_executor *e, process *p)
{
    int status = 0;
    epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, p->child.pidfd, NULL);
    bool known = reap(e, &p->child, &status);
    pthread_mutex_lock(&e->mutex);
    for (process **link = &e->processes; *link; link = &(*link)->next) {
        if (*link == p) {
            *link = p->next;
            break;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    for (worker *w; (w = of_process(e, p));) {
        pl_ending how = {
            .killed = w->killed, .dragged = w->dragged, .status_known = known, .status = status};
        if (known && WIFEXITED(status) && WEXITSTATUS(status) == STATUS_REFUSED &&
            lock_held(w->session)) {
            leave_holding(e, w);
            pthread_mutex_lock(&e->mutex);
            w->shared = NULL;
            w->ours = false;
            pthread_mutex_unlock(&e->mutex);
            continue;
        }
        how.out_of_memory = killed_for_memory(w, &how);
        conclude(e, w, &how);
    }
    free(p);
}

/* One of several that has ended while the others go on: it gave its lock back and left its exit.json. */
static bool has_left(const worker *w)
{
    pl_exit report = {0};
    int dir_fd = open_directory(w->session);
    bool left = dir_fd >= 0 && pl_exit_read(dir_fd, &report) == PL_OK &&
                report.attempt >= w->session->attempt && !pl_session_locked(dir_fd);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return left;
}

/* Whether a worker that is no process of its own is over. The last of several ends with their process: what they hold
 * on the GPU is free then, and not before. */
static bool is_over(const worker *w)
{
    if (w->shared || (w->child.pidfd >= 0 && !w->ours)) {
        return !(w->holding && w->holding->sessions == 1) && has_left(w);
    }
    return w->child.pidfd < 0 && !lock_held(w->session);
}

/* Kill a process that did not react for one of its sessions; the mutex is held. */
static void kill_worker(pl_executor *e, worker *late)
{
    late->deadline_ms = 0;
    late->killed = true;
    for (worker *w = e->workers; w; w = w->next) {
        if (w != late && w->child.pid == late->child.pid && !w->killed) {
            w->dragged = true;
        }
    }
    pidfd_send_signal(pidfd_of(late), SIGKILL, NULL, 0);
}

/* What is due by the clock: workers to kill, locks to look at, sessions to restart. Returns ms until the next, or -1. */
static int tend(pl_executor *e)
{
    int64_t now = now_ms(), next = INT64_MAX;
    worker *over = NULL;
    pthread_mutex_lock(&e->mutex);
    for (worker *w = e->workers; w && !over; w = w->next) {
        if (w->child.pidfd < 0 || !w->ours) {
            over = is_over(w) ? w : NULL;
            next = next < now + LOCK_POLL_MS ? next : now + LOCK_POLL_MS;
        }
        if (w->deadline_ms && pidfd_of(w) >= 0) {
            if (w->deadline_ms <= now) {
                kill_worker(e, w);
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
    int64_t due = pl_sessions_next_due(e->daemon->sessions);
    if (due < next && may_start(e)) {
        next = due > now ? due : now;
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
            uint64_t whose = events[i].data.u64;
            if (whose & IS_PROCESS) {
                process_ended(e, (process *)(uintptr_t)(whose & ~IS_PROCESS));
            } else if (whose) {
                ended(e, (worker *)(uintptr_t)whose);
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
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (e->epoll_fd < 0 || e->kick_fd < 0 ||
        epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->kick_fd, &event) != 0 ||
        pthread_create(&e->thread, NULL, supervise, e) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the supervisor did not start: %s", strerror(errno));
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
        worker *w = e->workers;
        take_out(e, w);
        if (w->holding && --w->holding->sessions == 0) {
            free_holding(w->holding);
        }
        pl_session_release(w->session);
        free(w);
    }
    for (process *p; (p = e->processes);) {
        e->processes = p->next;
        close(p->child.pidfd);
        free(p);
    }
    close(e->epoll_fd);
    close(e->kick_fd);
    pthread_mutex_destroy(&e->mutex);
    free(e);
}

/* ---- hurrying ---- */

static void set_deadline(pl_executor *e, const pl_session *s, int64_t deadline_ms)
{
    pthread_mutex_lock(&e->mutex);
    for (worker *w = e->workers; w; w = w->next) {
        /* A cancel after a pause does not give it another 10 s. */
        if (w->session == s && !w->killed && (!w->deadline_ms || !deadline_ms)) {
            w->deadline_ms = deadline_ms;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    pl_executor_kick(e);
}

void pl_executor_hurry(pl_executor *e, pl_session *s)
{
    set_deadline(e, s, now_ms() + 1000 * (int64_t)e->daemon->options.patience);
}

void pl_executor_relax(pl_executor *e, pl_session *s)
{
    set_deadline(e, s, 0);
}

/* ---- stopping ---- */

/* Workers that can be told, which is those whose process is known. */
static int count_told(pl_executor *e, bool tell)
{
    int count = 0;
    pthread_mutex_lock(&e->mutex);
    for (worker *w = e->workers; w; w = w->next) {
        if (pidfd_of(w) >= 0) {
            count++;
            if (tell) {
                pidfd_send_signal(pidfd_of(w), SIGTERM, NULL, 0);
            }
        }
    }
    pthread_mutex_unlock(&e->mutex);
    return count;
}

void pl_executor_stop_workers(pl_executor *e, int timeout_ms)
{
    int count = count_told(e, true);
    int64_t end = now_ms() + timeout_ms;
    if (count) {
        pl_logf(PL_LEVEL_INFO, "%d workers are told to stop at a checkpoint", count);
    }
    while ((count = count_told(e, false)) > 0 && now_ms() < end) {
        nanosleep(&(struct timespec){.tv_nsec = STOP_POLL_MS * 1000000L}, NULL);
    }
    if (count) {
        pl_logf(PL_LEVEL_WARN, "%d workers did not stop in time and are left", count);
    }
}

/* ---- adopting ---- */

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
    *pid = pidfd >= 0 ? number : 0;
    return pidfd;
}

/* The machine was started anew since the worker was. */
static bool rebooted_since(const char *identity)
{
    char boot[40];
    pl_boot_id(boot);
    size_t n = strlen(boot);
    return identity && n > 0 && strncmp(identity, boot, n) != 0;
}

/* What it holds with those in its worker that were taken over before it; NULL: there is none, or no memory to count
 * them together. What the first of them was counted with becomes all theirs. */
static holding *join_holding(pl_executor *e, const pl_session *s, pid_t pid)
{
    holding *h = NULL;
    pthread_mutex_lock(&e->mutex);
    worker *host = pid > 0 && s->gpu_memory > 0 ? e->workers : NULL;
    while (host && host->child.pid != pid) {
        host = host->next;
    }
    if (host && !host->holding && (host->holding = create_holding(host->session)) != NULL) {
        host->holding->sessions = 1;
        host->holding->cores = pl_sessions_transfer(e->daemon->sessions, host->session);
    }
    if (host && host->holding) {
        h = host->holding;
        h->sessions++;
    }
    pthread_mutex_unlock(&e->mutex);
    return h;
}

static void adopt_living(pl_executor *e, pl_session *s, worker *w)
{
    w->session = s;
    pl_session_acquire(s);
    w->child.pidfd = open_worker(s->worker, &w->child.pid);
    w->holding = join_holding(e, s, w->child.pid);
    pl_sessions_adopt(e->daemon->sessions, s, w->holding);
    pl_watch_start(e->daemon->watch, s);
    atomic_fetch_add(&e->daemon->counters.workers_adopted, 1);
    pl_logf(PL_LEVEL_INFO, "session %s: its worker still runs and was adopted", s->id);
    if (!watch_worker(e, w)) {
        close(w->child.pidfd);
        w->child.pidfd = -1;
        watch_worker(e, w);
    }
    pl_control_state control;
    bool known = pl_control_read(s->directory, &control) == 0; /* otherwise the row stands */
    if (control.cancelled) {
        pl_sessions_set_desired(e->daemon->sessions, s, "cancelled");
    } else if (control.paused) {
        pl_sessions_set_desired(e->daemon->sessions, s, "paused");
    } else if (known) {
        pl_sessions_clear_pause(e->daemon->sessions, s);
    }
    if (pl_sessions_desired(e->daemon->sessions, s) >= PL_DESIRE_CANCELLED && !control.cancelled) {
        pl_lifecycle_cancel(e->daemon, s); /* wanted, but the daemon died before it said so */
    } else if (pl_sessions_desired(e->daemon->sessions, s)) {
        pl_executor_hurry(e, s);
    }
}

/* One that waits, by its row: what control.log says of it goes before. */
static void settle_waiting(pl_executor *e, pl_session *s)
{
    pl_sessions *sessions = e->daemon->sessions;
    pl_control_state control;
    if (pl_control_read(s->directory, &control) != 0) { /* the row stands */
        control.paused = s->state == PL_STATE_PAUSED;
    }
    if (pl_sessions_desired(sessions, s) >= PL_DESIRE_CANCELLED || control.cancelled) {
        pl_lifecycle_cancel(e->daemon, s);
        if (pl_sessions_desired(sessions, s) == PL_DESIRE_DELETED) {
            pl_removal_start(e->daemon, s);
        }
    } else if (control.paused && s->state == PL_STATE_QUEUED) {
        pl_sessions_move(sessions, s, PL_STATE_PAUSED, &(pl_move){.reason = "user"});
    } else if (!control.paused && s->state == PL_STATE_PAUSED) {
        pl_sessions_move(sessions, s, PL_STATE_QUEUED, &(pl_move){.reason = "resumed"});
    }
}

void pl_executor_adopt(pl_executor *e, pl_session *s)
{
    int dir_fd = open_directory(s);
    pl_exit report = {0};
    bool held = dir_fd >= 0 && pl_session_locked(dir_fd);
    /* Of a session that waits by its row, only an attempt that the row knows nothing of counts. */
    bool newer = !held && dir_fd >= 0 && pl_exit_read(dir_fd, &report) == PL_OK &&
                 report.attempt > s->attempt;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    if (!held && !newer && s->state != PL_STATE_RUNNING) {
        settle_waiting(e, s);
        return;
    }
    worker *w = held ? calloc(1, sizeof *w) : NULL;
    if (w) {
        adopt_living(e, s, w);
    } else {
        pl_sessions_adopt(e->daemon->sessions, s, false);
        pl_watch_start(e->daemon->watch, s);
        pl_ending how = {.found = true, .rebooted = rebooted_since(s->worker)};
        pl_ending_conclude(e->daemon, s, &how);
    }
}
