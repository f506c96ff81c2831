#include "server/run/check_queue.h"

#include "server/base/logger.h"
#include "server/http/waiter.h"
#include "server/run/check_result.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct check {
    struct check *next;
    pl_session *session; /* a reference */
    bool running;
    pl_preflight_run run; /* where it runs */
} check;

struct pl_check_queue {
    pl_sessions *sessions;
    pl_machine machine;
    pl_preflight_host host;
    pthread_t thread;
    int wake_fd;
    int per_owner;
    pthread_mutex_t mutex; /* guards what follows; only the thread removes entries */
    check *list;           /* in order of arrival */
    int running;
    bool stopping;
};

static void wake(pl_check_queue *q)
{
    uint64_t one = 1;
    ssize_t put = write(q->wake_fd, &one, sizeof one);
    (void)put; /* full means that it is awake already */
}

/* ---- turns; the mutex is held ---- */

static bool has_no_turn(const pl_check_queue *q, const char *owner)
{
    int theirs = 0;
    for (const check *c = q->list; c; c = c->next) {
        theirs += c->running && strcmp(c->session->owner, owner) == 0;
    }
    return theirs >= q->per_owner || q->running >= 2 * q->per_owner;
}

/* The first whose turn it is, marked as running; NULL: none. */
static check *take_turn(pl_check_queue *q)
{
    for (check *c = q->list; c; c = c->next) {
        if (!c->running && !has_no_turn(q, c->session->owner)) {
            c->running = true;
            q->running++;
            return c;
        }
    }
    return NULL;
}

/* ---- the thread ---- */

static void remove_check(pl_check_queue *q, check *gone)
{
    pthread_mutex_lock(&q->mutex);
    check **link = &q->list;
    while (*link != gone) {
        link = &(*link)->next;
    }
    *link = gone->next;
    q->running -= gone->running;
    pthread_mutex_unlock(&q->mutex);
    pl_session_release(gone->session);
    free(gone);
}

static void conclude(pl_check_queue *q, check *c, pl_preflight_outcome outcome, pl_faults *faults)
{
    if (outcome != PL_PREFLIGHT_STOPPED) {
        pl_check_conclude(q->sessions, &q->machine, c->session, outcome, faults);
    }
    pl_faults_clear(faults);
    remove_check(q, c);
}

static void start_next(pl_check_queue *q)
{
    for (;;) {
        pthread_mutex_lock(&q->mutex);
        check *c = q->stopping ? NULL : take_turn(q);
        pthread_mutex_unlock(&q->mutex);
        if (!c) {
            return;
        }
        pl_preflight_run run;
        bool wanted = pl_sessions_desired(q->sessions, c->session) < PL_DESIRE_CANCELLED;
        bool begun = wanted &&
                     pl_preflight_begin(&q->host, "--session", c->session->directory, &run);
        c->run = run;
        if (!begun) {
            conclude(q, c, PL_PREFLIGHT_BROKEN, &(pl_faults){0});
        }
    }
}

static check *first(pl_check_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    check *c = q->list;
    pthread_mutex_unlock(&q->mutex);
    return c;
}

static check *after(pl_check_queue *q, const check *c)
{
    pthread_mutex_lock(&q->mutex);
    check *next = c->next;
    pthread_mutex_unlock(&q->mutex);
    return next;
}

static void conclude_ended(pl_check_queue *q)
{
    for (check *c = first(q), *next; c; c = next) {
        next = after(q, c);
        pl_faults faults = {0};
        pl_preflight_outcome outcome = c->running ? pl_preflight_await(&c->run, 0, &faults)
                                                  : PL_PREFLIGHT_RUNNING;
        if (outcome != PL_PREFLIGHT_RUNNING) {
            pl_preflight_end(&c->run);
            conclude(q, c, outcome, &faults);
        }
    }
}

/* Until a child has ended or is late, or something was added. */
static void sleep_until_due(pl_check_queue *q)
{
    int64_t due = INT64_MAX;
    nfds_t n = 0;
    pthread_mutex_lock(&q->mutex);
    struct pollfd *fds = calloc((size_t)q->running + 1, sizeof *fds);
    struct pollfd wake_only;
    for (const check *c = fds ? q->list : NULL; c; c = c->next) {
        if (c->running) {
            fds[++n] = (struct pollfd){c->run.child.pidfd, POLLIN, 0};
            due = c->run.deadline_ms < due ? c->run.deadline_ms : due;
        }
    }
    pthread_mutex_unlock(&q->mutex);
    struct pollfd *waited = fds ? fds : &wake_only;
    waited[0] = (struct pollfd){q->wake_fd, POLLIN, 0};
    int64_t left = due == INT64_MAX ? (fds ? -1 : 100) : due - pl_monotonic_ms();
    poll(waited, n + 1, due != INT64_MAX && left < 0 ? 0 : (int)left);
    uint64_t count;
    ssize_t got = read(q->wake_fd, &count, sizeof count);
    (void)got;
    free(fds);
}

static bool is_stopping(pl_check_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    bool stopping = q->stopping;
    pthread_mutex_unlock(&q->mutex);
    return stopping;
}

static void *run(void *context)
{
    pl_check_queue *q = context;
    while (!is_stopping(q)) {
        start_next(q);
        sleep_until_due(q);
        conclude_ended(q);
    }
    return NULL;
}

/* ---- from other threads ---- */

pl_check_queue *pl_check_queue_create(pl_sessions *sessions, const pl_machine *machine,
                                      const pl_preflight_host *host, int per_owner)
{
    pl_check_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return NULL;
    }
    q->sessions = sessions;
    q->machine = *machine;
    q->host = *host;
    q->per_owner = per_owner;
    pthread_mutex_init(&q->mutex, NULL);
    q->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->wake_fd < 0 || pthread_create(&q->thread, NULL, run, q) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the queue of checks did not start: %s", strerror(errno));
        close(q->wake_fd);
        free(q);
        return NULL;
    }
    pthread_setname_np(q->thread, "check queue");
    return q;
}

void pl_check_queue_destroy(pl_check_queue *q)
{
    if (!q) {
        return;
    }
    pthread_mutex_lock(&q->mutex);
    q->stopping = true;
    pthread_mutex_unlock(&q->mutex);
    wake(q);
    pthread_join(q->thread, NULL);
    while (q->list) {
        if (q->list->running) {
            pl_child_kill(&q->list->run.child);
            pl_preflight_end(&q->list->run);
        }
        remove_check(q, q->list);
    }
    close(q->wake_fd);
    pthread_mutex_destroy(&q->mutex);
    free(q);
}

bool pl_check_queue_full(pl_check_queue *q, const char *owner)
{
    pthread_mutex_lock(&q->mutex);
    bool full = has_no_turn(q, owner);
    pthread_mutex_unlock(&q->mutex);
    return full;
}

void pl_check_queue_add(pl_check_queue *q, pl_session *session, const pl_preflight_run *run)
{
    check *c = calloc(1, sizeof *c);
    if (!c) {
        pl_logf(PL_LEVEL_ERROR, "session %s: no memory to check it; the next daemon does",
                session->id);
        if (run) {
            pl_preflight_run ended = *run;
            pl_child_kill(&ended.child);
            pl_preflight_end(&ended);
        }
        return;
    }
    c->session = session;
    pl_session_acquire(session);
    if (run) {
        c->running = true;
        c->run = *run;
    }
    pthread_mutex_lock(&q->mutex);
    check **link = &q->list;
    while (*link) {
        link = &(*link)->next;
    }
    *link = c;
    q->running += c->running;
    pthread_mutex_unlock(&q->mutex);
    wake(q);
}
