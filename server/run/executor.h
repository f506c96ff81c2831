/* executor.h - starts workers and finds out how they ended. One supervisor thread sleeps in epoll
 * on the workers' pidfds, an eventfd for work to do, and the deadlines of workers
 * that were cancelled or paused and of sessions that wait for their restart.
 *
 * Workers are sessions of their own and outlive the daemon; the next one adopts them. A worker is
 * alive exactly while the session's lock is held: an adopted one is watched by a pidfd if its pid
 * still names the process that was started, and by looking at the lock if not.
 */
#ifndef PLIANT_SERVER_RUN_EXECUTOR_H
#define PLIANT_SERVER_RUN_EXECUTOR_H

#include "server/run/worker_setup.h"

typedef struct pl_executor pl_executor;

/* The setup is copied; what it points at outlives the executor. NULL with a line in the log. */
pl_executor *pl_executor_create(const pl_worker_setup *setup);
/* Stops watching; workers go on. */
void pl_executor_destroy(pl_executor *executor);

/* There may be something to start. From any thread; costs one write. NULL is nothing. */
void pl_executor_kick(pl_executor *executor);
/* Kill the worker of a running session unless it ends within --patience: control.log was just told to
 * pause or cancel it. */
void pl_executor_set_deadline(pl_executor *executor, pl_session *session);
/* The request was taken back: its worker has no deadline any more. */
void pl_executor_clear_deadline(pl_executor *executor, pl_session *session);
/* SIGTERM to every worker, for the disk is full: they stop at a checkpoint, or are killed as deaf. */
void pl_executor_pause_workers(pl_executor *executor);
/* SIGTERM to every worker, and wait until they have made their checkpoints and ended. The daemon
 * drains, so nothing is started meanwhile. */
void pl_executor_stop_workers(pl_executor *executor, int timeout_ms);

#endif
