/* check_queue.h - the checks of sessions that wait in `checking`: a preflight that outlasts its request,
 * or one that waits for its turn. One thread sleeps on the pidfds of those that run and concludes each
 * session, so that no thread that answers requests waits for another request's check.
 *
 * As many run for one owner as there are threads for requests, and twice as many for all; beyond that
 * they wait, and the next POST of such an owner is answered in `checking` without having begun.
 */
#ifndef PLIANT_SERVER_RUN_CHECK_QUEUE_H
#define PLIANT_SERVER_RUN_CHECK_QUEUE_H

#include "server/run/machine.h"
#include "server/run/preflight_run.h"
#include "server/sessions/sessions.h"

typedef struct pl_check_queue pl_check_queue;

/* Of a table's sessions, each held against the machine. NULL with a line in the log. */
pl_check_queue *pl_check_queue_create(pl_sessions *sessions, const pl_machine *machine,
                                      const pl_preflight_host *host, int per_owner);
/* Ends the thread and the children; sessions stay in `checking` for the next daemon. */
void pl_check_queue_destroy(pl_check_queue *queue);

/* Whether another check of this owner must wait for its turn. */
bool pl_check_queue_full(pl_check_queue *queue, const char *owner);
/* Any thread. `run` is one that goes on, taken over; NULL: to be started when its turn comes. */
void pl_check_queue_add(pl_check_queue *queue, pl_session *session, const pl_preflight_run *run);

#endif
