/* executor.h - starts workers and finds out how they ended. One supervisor thread sleeps in epoll
 * on the workers' pidfds, an eventfd for work to do, and the deadlines of cancelled workers.
 *
 * Workers are sessions of their own and outlive the daemon; the next one adopts them. A worker is
 * alive exactly while the session's lock is held: an adopted one is watched by a pidfd if its pid
 * still names the process that was started, and by looking at the lock if not.
 */
#ifndef PLIANT_SERVER_EXECUTOR_H
#define PLIANT_SERVER_EXECUTOR_H

#include "server/sessions.h"

typedef struct pl_executor pl_executor;

pl_executor *pl_executor_create(pl_daemon *daemon);
/* Stops watching; workers go on. */
void pl_executor_destroy(pl_executor *executor);

/* There may be something to start. From any thread; costs one write. NULL is nothing. */
void pl_executor_kick(pl_executor *executor);
/* Ask a running session's worker to stop (a record in control.log, synced before this returns);
 * killed if it has not reacted in 10 s. 0, or an errno. */
int pl_executor_cancel(pl_executor *executor, pl_session *session);
/* Take up a session that ran, or may have run, under an earlier daemon: its worker if it lives, its
 * exit if it left one. Before the supervisor's first kick. */
void pl_executor_adopt(pl_executor *executor, pl_session *session);

#endif
