/* batch_executor.h - runs sessions as jobs of a batch system (server/batch). One thread submits, cancels and asks; each
 * command has a time limit, and requests never wait for one.
 *
 * The session directory, in a file system that the other machines share, is all that daemon and worker have in common:
 * control.log goes one way, log and exit.json the other. exit.json is the truth about an end. The batch system's word
 * counts only where there is none, after two good queries in a row; a query that failed says nothing.
 *
 * A job is named after its session and attempt. A submission whose outcome is not known (the command failed, or the
 * daemon was killed) is repeated, as the same attempt, only after a good query that began later has not shown that
 * name. Should it come through even so, the worker that is second finds its attempt taken (worker/session_enter.c).
 */
#ifndef PLIANT_SERVER_RUN_BATCH_EXECUTOR_H
#define PLIANT_SERVER_RUN_BATCH_EXECUTOR_H

#include "server/batch/batch_system.h"
#include "server/run/worker_setup.h"

typedef struct pl_batch pl_batch;

/* The system that --batch names; *out NULL: none. False with what is wrong. */
bool pl_batch_load(const pl_options *options, pl_batch_system **out, char *error, size_t size);
/* The system is the caller's, and outlives it. NULL with a line in the log. */
pl_batch *pl_batch_create(const pl_worker_setup *setup, const pl_batch_system *system);
/* Jobs go on. */
void pl_batch_destroy(pl_batch *batch);

/* The session has a new attempt: submit it, once. */
void pl_batch_start(pl_batch *batch, pl_session *session);
/* At the daemon's start: it runs, or its row says that it has a job. */
void pl_batch_adopt(pl_batch *batch, pl_session *session);
/* Cancel the job if it has not ended by then; 0: take that back. */
void pl_batch_set_deadline(pl_batch *batch, const pl_session *session, int64_t deadline_ms);
/* SIGTERM to the workers of all jobs that run. */
void pl_batch_stop_all(pl_batch *batch);
/* How many run, as far as is known. */
int pl_batch_count(pl_batch *batch);
/* Something may be to be done. NULL is nothing. */
void pl_batch_wake(pl_batch *batch);

#endif
