/* check_queue.h - every preflight of the daemon: of a scene or a mesh that a request waits for, and of a session in
 * `checking` that was answered for before. One thread starts the children, sleeps on their pidfds and tells whoever
 * asked, so that a check holds no other thread.
 *
 * Users take turns, and a user's own checks begin in the order in which they came. As many run for one user as the
 * queue was made with, and twice as many for all. One whose request waits no longer is handed back, running or not,
 * and comes again as that of its session.
 */
#ifndef PLIANT_SERVER_RUN_CHECK_QUEUE_H
#define PLIANT_SERVER_RUN_CHECK_QUEUE_H

#include "server/http/http.h"
#include "server/run/machine.h"
#include "server/run/preflight_run.h"
#include "server/sessions/sessions.h"

#include <limits.h>

typedef struct pl_check_queue pl_check_queue;

/* Of a table's sessions, each held against the machine. NULL with a line in the log. */
pl_check_queue *pl_check_queue_create(pl_sessions *sessions, const pl_machine *machine,
                                      const pl_preflight_host *host, int per_owner);
/* Ends the thread and the children. Whoever waits is told PL_PREFLIGHT_STOPPED, as is whoever asks from now on; sessions
 * stay in `checking` for the next daemon. */
void pl_check_queue_stop(pl_check_queue *queue);
void pl_check_queue_destroy(pl_check_queue *queue); /* stops it first */

/* A check that somebody waits for. */
typedef struct pl_check_ticket {
    const char *owner;         /* whose turn it takes; lives until `done`, as does the ticket */
    int64_t order;             /* of an owner's: the lowest first; microseconds since 1970 */
    const char *option;        /* as pl_preflight_begin's */
    char path[PATH_MAX + 112]; /* the same */
    int64_t until_ms; /* it is told then at the latest, on pl_monotonic_ms; INT64_MAX: at its end */
    void (*done)(
        void *context); /* called once, from any thread, in pl_check_queue_ask too; does not wait */
    void *context;
    /* when it is done */
    pl_preflight_outcome outcome; /* PL_PREFLIGHT_RUNNING: not over by then */
    bool begun;                   /* `run` is to be ended, or to be handed on */
    pl_preflight_run run;
    pl_faults faults; /* to be cleared by whoever asked */
} pl_check_ticket;
void pl_check_queue_ask(pl_check_queue *queue, pl_check_ticket *ticket);

/* Whether the request's user has fewer checks waiting than `most`; otherwise 429 is replied. */
bool pl_check_queue_takes(pl_check_queue *queue, pl_request *r, int64_t most);
/* The session is concluded when it has been checked. `run` is one that goes on, taken over; NULL: to be started when
 * its turn comes. */
void pl_check_queue_add(pl_check_queue *queue, pl_session *session, const pl_preflight_run *run);

#endif
