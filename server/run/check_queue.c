#include "server/run/check_queue.h"

#include "protocol/log/record.h"
#include "server/base/logger.h"
#include "server/base/pool.h"
#include "server/http/waiter.h"
#include "server/run/check_result.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { OWNERS = 256, AGAIN_MS = 1000 /* delay after a check could not be started */ };

typedef struct check {
    struct check *next;
    pl_session *session;     /* a reference; NULL: a ticket's */
    pl_check_ticket *ticket; /* NULL: a session's */
    const char *owner;
    int64_t order;
    bool running;
    pl_preflight_run run; /* while it runs */
} check;

struct pl_check_queue {
    pl_sessions *sessions;
    pl_machine machine;
    pl_preflight_host host;
    pl_pool *commits;
    pthread_t thread;
    int wake_fd;
    int per_owner;
    pthread_mutex_t mutex; /* guards what follows; only the thread removes entries */
    int64_t again_ms;      /* earliest time of the next start, as in pl_monotonic_ms */
    check *list;
    int running;
    int64_t turns;          /* turns so far, */
    int64_t served[OWNERS]; /* and the last turn of an owner, by a hash of the name */
    bool stopping, stopped;
};

static void wake(pl_check_queue *q)
{
    uint64_t one = 1;
    ssize_t put = write(q->wake_fd, &one, sizeof one);
    (void)put; /* full means that it is already awake */
}

/* ---- turns; the mutex is held ---- */

static int64_t *served(pl_check_queue *q, const char *owner)
{
    return &q->served[pl_crc32c(0, owner, strlen(owner)) % OWNERS];
}

static bool has_no_turn(const pl_check_queue *q, const char *owner)
{
    int theirs = 0;
    for (const check *c = q->list; c; c = c->next) {
        theirs += c->running && strcmp(c->owner, owner) == 0;
    }
    return theirs >= q->per_owner || q->running >= 2 * q->per_owner;
}

/* The owner whose last turn was longest ago comes first; within an owner, the oldest. */
static bool comes_before(pl_check_queue *q, const check *a, const check *b)
{
    int64_t turn_a = *served(q, a->owner), turn_b = *served(q, b->owner);
    return turn_a != turn_b ? turn_a < turn_b : a->order < b->order;
}

/* The next check, marked as running; NULL: none. */
static check *take_turn(pl_check_queue *q)
{
    check *next = NULL;
    for (check *c = q->list; c; c = c->next) {
        if (!c->running && (!next || comes_before(q, c, next)) && !has_no_turn(q, c->owner)) {
            next = c;
        }
    }
    if (next) {
        next->running = true;
        q->running++;
        *served(q, next->owner) = ++q->turns;
    }
    return next;
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
    if (gone->session) {
        pl_session_release(gone->session);
    }
    free(gone);
}

/* Hand it back to the ticket's caller, with the run if it was begun. */
static void hand_back(pl_check_queue *q, check *c, pl_preflight_outcome outcome, bool begun)
{
    pl_check_ticket *t = c->ticket;
    t->outcome = outcome;
    t->begun = begun;
    t->run = c->run;
    remove_check(q, c);
    t->done(t->context);
}

typedef struct conclusion {
    pl_check_queue *queue;
    pl_session *session; /* a reference */
    pl_preflight_outcome outcome;
    pl_faults faults;
} conclusion;

/* Repeats a check that could not be concluded, after a delay. */
static void check_again(pl_check_queue *q, pl_session *session)
{
    pthread_mutex_lock(&q->mutex);
    q->again_ms = pl_monotonic_ms() + AGAIN_MS;
    pthread_mutex_unlock(&q->mutex);
    pl_check_queue_add(q, session, NULL);
}

static void run_conclusion(void *context)
{
    conclusion *c = context;
    if (!pl_check_conclude(c->queue->sessions, &c->queue->machine, c->session, c->outcome,
                           &c->faults)) {
        check_again(c->queue, c->session);
    }
    pl_faults_clear(&c->faults);
    pl_session_release(c->session);
    free(c);
}

/* Conclusions sync the check's files in a pool, so that other checks do not wait. */
static void conclude(pl_check_queue *q, check *c, pl_preflight_outcome outcome, pl_faults *faults)
{
    conclusion *end = outcome != PL_PREFLIGHT_STOPPED ? malloc(sizeof *end) : NULL;
    if (end) {
        pl_session_acquire(c->session);
        *end = (conclusion){q, c->session, outcome, *faults};
        *faults = (pl_faults){0};
        if (!pl_pool_submit(q->commits, run_conclusion, end)) {
            run_conclusion(end);
        }
    } else if (outcome != PL_PREFLIGHT_STOPPED &&
               !pl_check_conclude(q->sessions, &q->machine, c->session, outcome, faults)) {
        check_again(q, c->session);
    }
    pl_faults_clear(faults);
    remove_check(q, c);
}

static pl_preflight_outcome begin(pl_check_queue *q, check *c)
{
    bool wanted = c->ticket || pl_sessions_desired(q->sessions, c->session) < PL_DESIRE_CANCELLED;
    pl_preflight_run run = {0};
    pl_preflight_outcome outcome = PL_PREFLIGHT_BROKEN;
    if (wanted) {
        outcome = pl_preflight_begin(&q->host, c->owner,
                                     c->ticket ? c->ticket->option : "--session",
                                     c->ticket ? c->ticket->path : c->session->directory, &run);
    }
    c->run = run;
    return outcome;
}

/* Put a check back in the queue. */
static void put_off(pl_check_queue *q, check *c)
{
    pthread_mutex_lock(&q->mutex);
    c->running = false;
    q->running--;
    q->again_ms = pl_monotonic_ms() + AGAIN_MS;
    pthread_mutex_unlock(&q->mutex);
}

static void end_unbegun(pl_check_queue *q, check *c, pl_preflight_outcome outcome)
{
    if (c->ticket) {
        hand_back(q, c, outcome, false);
    } else if (outcome == PL_PREFLIGHT_BUSY) {
        put_off(q, c);
    } else {
        conclude(q, c, outcome, &(pl_faults){0});
    }
}

static void start_next(pl_check_queue *q)
{
    for (;;) {
        pthread_mutex_lock(&q->mutex);
        bool waits = q->stopping || pl_monotonic_ms() < q->again_ms;
        check *c = waits ? NULL : take_turn(q);
        pthread_mutex_unlock(&q->mutex);
        if (!c) {
            return;
        }
        pl_preflight_outcome outcome = begin(q, c);
        if (outcome != PL_PREFLIGHT_RUNNING) {
            end_unbegun(q, c, outcome);
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

/* Handle an entry that is finished, or no longer waited for. */
static void look_at(pl_check_queue *q, check *c)
{
    pl_faults faults = {0};
    pl_check_ticket *t = c->ticket;
    pl_preflight_outcome outcome = c->running
                                       ? pl_preflight_await(&c->run, 0, t ? &t->faults : &faults)
                                       : PL_PREFLIGHT_RUNNING;
    if (t && (outcome != PL_PREFLIGHT_RUNNING || t->until_ms <= pl_monotonic_ms())) {
        hand_back(q, c, outcome, c->running);
    } else if (outcome != PL_PREFLIGHT_RUNNING) {
        pl_preflight_end(&c->run);
        conclude(q, c, outcome, &faults);
    }
}

static void look_around(pl_check_queue *q)
{
    for (check *c = first(q), *next; c; c = next) {
        next = after(q, c);
        look_at(q, c);
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sleep until a child has ended or is late, a ticket's time is over, or something was added. */
static void sleep_until_due(pl_check_queue *q)
{
    int64_t due = INT64_MAX;
    nfds_t n = 0;
    pthread_mutex_lock(&q->mutex);
    if (q->again_ms > pl_monotonic_ms()) {
        due = q->again_ms;
    }
    struct pollfd *fds = calloc((size_t)q->running + 1, sizeof *fds);
    struct pollfd wake_only;
    for (const check *c = fds ? q->list : NULL; c; c = c->next) {
        if (c->running) {
            fds[++n] = (struct pollfd){c->run.child.pidfd, POLLIN, 0};
            due = earlier(due, c->run.deadline_ms);
        }
        due = c->ticket ? earlier(due, c->ticket->until_ms) : due;
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
        look_around(q);
    }
    return NULL;
}

/* ---- from other threads ---- */

pl_check_queue *pl_check_queue_create(pl_sessions *sessions, const pl_machine *machine,
                                      const pl_preflight_host *host, pl_pool *commits,
                                      int per_owner)
{
    pl_check_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return NULL;
    }
    q->sessions = sessions;
    q->machine = *machine;
    q->host = *host;
    q->commits = commits;
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

void pl_check_queue_stop(pl_check_queue *q)
{
    if (!q || q->stopped) {
        return;
    }
    pthread_mutex_lock(&q->mutex);
    q->stopping = true;
    pthread_mutex_unlock(&q->mutex);
    wake(q);
    pthread_join(q->thread, NULL);
    q->stopped = true;
    for (check *c = first(q), *next; c; c = next) {
        next = after(q, c);
        if (c->running) {
            pl_child_kill(&c->run.child);
        }
        if (c->ticket) {
            hand_back(q, c, PL_PREFLIGHT_STOPPED, c->running);
        } else if (c->running) {
            pl_preflight_end(&c->run);
            remove_check(q, c);
        }
    }
}

void pl_check_queue_destroy(pl_check_queue *q)
{
    if (!q) {
        return;
    }
    pl_check_queue_stop(q);
    while (q->list) {
        remove_check(q, q->list);
    }
    close(q->wake_fd);
    pthread_mutex_destroy(&q->mutex);
    free(q);
}

static int64_t count_waiting(pl_check_queue *q, const char *owner)
{
    int64_t waiting = 0;
    pthread_mutex_lock(&q->mutex);
    for (const check *c = q->list; c; c = c->next) {
        waiting += !c->running && strcmp(c->owner, owner) == 0;
    }
    pthread_mutex_unlock(&q->mutex);
    return waiting;
}

bool pl_check_queue_takes(pl_check_queue *q, pl_request *r, int64_t ahead, int64_t most)
{
    int64_t waiting = count_waiting(q, pl_request_owner(r)) + ahead;
    if (waiting < most) {
        return true;
    }
    pl_reply_problemf(r, 429, "too_many_checks", "Too many checks",
                      "%lld of your scenes and meshes wait to be checked; the maximum is %lld",
                      (long long)waiting, (long long)most);
    pl_reply_header(r, "Retry-After", "5");
    return false;
}

/* Add to the list, unless the queue is ending. */
static bool put(pl_check_queue *q, check *c)
{
    pthread_mutex_lock(&q->mutex);
    bool taken = !q->stopping;
    if (taken) {
        c->next = q->list;
        q->list = c;
        q->running += c->running;
    }
    pthread_mutex_unlock(&q->mutex);
    wake(q);
    return taken;
}

void pl_check_queue_ask(pl_check_queue *q, pl_check_ticket *t)
{
    check *c = calloc(1, sizeof *c);
    if (c) {
        *c = (check){.ticket = t, .owner = t->owner, .order = t->order};
    }
    if (!c || !put(q, c)) {
        t->outcome = c ? PL_PREFLIGHT_STOPPED : PL_PREFLIGHT_BUSY;
        free(c);
        t->done(t->context);
    }
}

static void end_run(const pl_preflight_run *run)
{
    pl_preflight_run ended = *run;
    pl_child_kill(&ended.child);
    pl_preflight_end(&ended);
}

void pl_check_queue_add(pl_check_queue *q, pl_session *session, const pl_preflight_run *run)
{
    check *c = calloc(1, sizeof *c);
    if (c) {
        *c = (check){.session = session, .owner = session->owner, .order = session->created_us};
        c->running = run;
        c->run = run ? *run : c->run;
        pl_session_acquire(session);
    } else {
        pl_logf(PL_LEVEL_ERROR,
                "session %s: out of memory for its check; the next daemon checks it", session->id);
    }
    bool taken = c && put(q, c);
    if (!taken && run) {
        end_run(run);
    }
    if (c && !taken) {
        pl_session_release(session);
        free(c);
    }
}
