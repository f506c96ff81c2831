/* executor.h - starts workers and determines how they ended. One supervisor thread sleeps in epoll on the workers'
 * pidfds, an eventfd for new work, and two kinds of deadlines: of cancelled or paused workers, and of sessions that
 * wait for their restart.
 *
 * Workers run in their own process sessions and outlive the daemon; the next daemon adopts them. A worker is alive
 * exactly while the session's lock is held. An adopted worker is watched by a pidfd if its pid still names the process
 * that was started, otherwise by checking the lock.
 */
#ifndef PLIANT_SERVER_RUN_EXECUTOR_H
#define PLIANT_SERVER_RUN_EXECUTOR_H

#include "server/run/worker_setup.h"

typedef struct pl_executor pl_executor;

/* The setup is copied; what it points to outlives the executor. NULL with a line in the log. */
pl_executor *pl_executor_create(const pl_worker_setup *setup);
/* Stops watching; workers continue. */
void pl_executor_destroy(pl_executor *executor);

/* There may be a session to start. From any thread; costs one write. NULL is allowed. */
void pl_executor_kick(pl_executor *executor);
/* Kill the worker of a running session unless it ends within --patience: control.log has just been told to pause or
 * cancel it. */
void pl_executor_set_deadline(pl_executor *executor, pl_session *session);
/* The request was withdrawn: remove the worker's deadline. */
void pl_executor_clear_deadline(pl_executor *executor, pl_session *session);
/* Send SIGTERM to every worker because the disk is full: they stop at a checkpoint, or are killed as unresponsive. */
void pl_executor_pause_workers(pl_executor *executor);
/* Send SIGTERM to every worker, and wait until they have made their checkpoints and ended. The daemon is draining, so
 * nothing is started meanwhile. */
void pl_executor_stop_workers(pl_executor *executor, int timeout_ms);

#endif
