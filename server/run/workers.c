#include "server/run/workers.h"

#include "protocol/log/session_dir.h"
#include "server/http/waiter.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <unistd.h>

int pl_worker_pidfd(const pl_worker *w)
{
    return w->shared ? w->shared->child.pidfd : w->child.pidfd;
}

bool pl_worker_lock_held(const pl_worker *w)
{
    int dir_fd = open(w->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool held = dir_fd >= 0 && pl_session_locked(dir_fd);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    return held;
}

void pl_worker_name(pid_t pid, double spent, char out[PL_WORKER_NAME_MAX])
{
    char boot[40];
    pl_boot_id(boot);
    snprintf(out, PL_WORKER_NAME_MAX, "%s %d %llu %.3f", boot, (int)pid,
             (unsigned long long)pl_process_start(pid), spent);
}

/* ---- the list ---- */

bool pl_workers_add(pl_executor *e, pl_worker *w)
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

void pl_workers_remove(pl_executor *e, pl_worker *gone)
{
    pthread_mutex_lock(&e->mutex);
    for (pl_worker **link = &e->workers; *link; link = &(*link)->next) {
        if (*link == gone) {
            *link = gone->next;
            break;
        }
    }
    pthread_mutex_unlock(&e->mutex);
}

bool pl_workers_reap(pl_executor *e, pl_child *child, int *status)
{
    pthread_mutex_lock(&e->mutex);
    bool known = pl_child_reap(child, status);
    pthread_mutex_unlock(&e->mutex);
    return known;
}

void pl_workers_set_deadline(pl_executor *e, const pl_session *s, int64_t deadline_ms)
{
    pthread_mutex_lock(&e->mutex);
    for (pl_worker *w = e->workers; w; w = w->next) {
        /* A cancel after a pause does not allow another 10 s. */
        if (w->session == s && !w->kill && (!w->deadline_ms || !deadline_ms)) {
            w->deadline_ms = deadline_ms;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    pl_workers_wake(e);
}

bool pl_workers_tell_to_stop(pl_executor *e, const pl_session *s)
{
    bool told = false;
    pthread_mutex_lock(&e->mutex);
    for (pl_worker *w = e->workers; w; w = w->next) {
        if (w->session == s && !w->shared && !w->holding && pl_worker_pidfd(w) >= 0) {
            told = pidfd_send_signal(pl_worker_pidfd(w), SIGTERM, NULL, 0) == 0;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    if (told) {
        pl_workers_set_deadline(e, s, pl_workers_deadline(e));
    }
    return told;
}

pid_t pl_workers_process(pl_executor *e, const pl_session *s)
{
    pid_t pid = 0;
    pthread_mutex_lock(&e->mutex);
    for (pl_worker *w = e->workers; w; w = w->next) {
        if (w->session == s && !w->shared && !w->holding) {
            pid = w->child.pid;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    return pid;
}

int64_t pl_workers_deadline(const pl_executor *e)
{
    return pl_monotonic_ms() + 1000 * (int64_t)e->setup.options->patience;
}

void pl_workers_wake(pl_executor *e)
{
    uint64_t one = 1;
    ssize_t put = write(e->wake_fd, &one, sizeof one);
    (void)put; /* full means that it is already awake */
}

/* ---- resources that sessions of one worker hold together ---- */

void pl_holding_destroy(pl_holding *h)
{
    if (h) {
        free(h->held.owner);
        free(h->held.gpu);
    }
    free(h);
}

/* Without sessions and resources yet, on this session's GPU; NULL: out of memory. */
pl_holding *pl_holding_create(const pl_session *host)
{
    pl_holding *h = calloc(1, sizeof *h);
    if (h && (!(h->held.owner = strdup(host->owner)) || !(h->held.gpu = strdup(host->gpu)))) {
        pl_holding_destroy(h);
        h = NULL;
    }
    return h;
}

void pl_holding_leave(pl_executor *e, pl_worker *w)
{
    pthread_mutex_lock(&e->mutex);
    pl_holding *h = w->holding;
    bool last = h && --h->sessions == 0;
    w->holding = NULL;
    pthread_mutex_unlock(&e->mutex);
    if (last) {
        pl_dispatcher_reclaim(e->setup.dispatcher, &h->held);
        pl_holding_destroy(h);
    }
}

pl_holding *pl_holding_join(pl_executor *e, const pl_session *s, pid_t pid)
{
    pl_holding *h = NULL;
    pthread_mutex_lock(&e->mutex);
    pl_worker *host = pid > 0 && s->gpu_memory > 0 ? e->workers : NULL;
    while (host && host->child.pid != pid) {
        host = host->next;
    }
    if (host && !host->holding && (host->holding = pl_holding_create(host->session)) != NULL) {
        host->holding->sessions = 1;
        pl_dispatcher_transfer(e->setup.dispatcher, host->session, &host->holding->held);
    }
    if (host && host->holding) {
        h = host->holding;
        h->sessions++;
    }
    pthread_mutex_unlock(&e->mutex);
    return h;
}

bool pl_holding_last(pl_executor *e, const pl_worker *w)
{
    pthread_mutex_lock(&e->mutex);
    bool last = w->holding && w->holding->sessions == 1;
    pthread_mutex_unlock(&e->mutex);
    return last;
}
