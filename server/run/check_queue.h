/* check_queue.h - runs all preflights of the daemon: of scenes and meshes whose request waits, and of sessions in
 * `checking` whose request has been answered. One thread starts the children, waits on their pidfds and calls `done`,
 * so that a check blocks no other thread.
 *
 * Users take turns; a user's own checks start in order of arrival. At most `per_owner` checks of a user run at once,
 * and twice as many in all. When a request stops waiting, its check is handed back, running or not, and queued again
 * for its session.
 */
#ifndef PLIANT_SERVER_RUN_CHECK_QUEUE_H
#define PLIANT_SERVER_RUN_CHECK_QUEUE_H

#include "server/http/http.h"
#include "server/run/machine.h"
#include "server/run/preflight_run.h"
#include "server/sessions/sessions.h"

#include <limits.h>

typedef struct pl_check_queue pl_check_queue;

/* For the sessions of a table, which are checked against the machine, and concluded in the pool `commits`. NULL with a
 * line in the log. */
pl_check_queue *pl_check_queue_create(pl_sessions *sessions, const pl_machine *machine,
                                      const pl_preflight_host *host, pl_pool *commits,
                                      int per_owner);
/* End the thread and the children. Waiting and later requests get PL_PREFLIGHT_STOPPED; sessions stay in `checking` for
 * the next daemon. */
void pl_check_queue_stop(pl_check_queue *queue);
void pl_check_queue_destroy(pl_check_queue *queue); /* stops it first */

/* A check and its caller. */
typedef struct pl_check_ticket {
    const char *owner;         /* whose turn it takes; lives until `done`, as does the ticket */
    int64_t order;             /* within an owner, the lowest first; microseconds since 1970 */
    const char *option;        /* as pl_preflight_begin's */
    char path[PATH_MAX + 112]; /* the same */
    /* `done` is called then at the latest, on pl_monotonic_ms; INT64_MAX: at the check's end */
    int64_t until_ms;
    void (*done)(
        void *context); /* called once, from any thread, in pl_check_queue_ask too; must not wait */
    void *context;
    /* set when `done` is called */
    pl_preflight_outcome outcome; /* PL_PREFLIGHT_RUNNING: not finished by then */
    bool begun;                   /* `run` must be ended or handed on */
    pl_preflight_run run;
    pl_faults faults; /* the caller clears them */
} pl_check_ticket;
void pl_check_queue_ask(pl_check_queue *queue, pl_check_ticket *ticket);

/* True if the request's user has fewer than `most` checks waiting, counting `ahead` that will be added before;
 * otherwise 429 is replied. */
bool pl_check_queue_takes(pl_check_queue *queue, pl_request *r, int64_t ahead, int64_t most);
/* Queue a session's check; the session is concluded afterwards. `run` is a running check to take over; NULL: start one
 * in its turn. */
void pl_check_queue_add(pl_check_queue *queue, pl_session *session, const pl_preflight_run *run);

#endif
