/* batch_executor.h - runs sessions as jobs of a batch system (server/batch). One thread submits, cancels and queries.
 * Each command has a time limit, and requests never wait for commands.
 *
 * Daemon and worker share only the session directory, in a file system that the other machines share: control.log goes
 * one way, log and exit.json the other. exit.json is authoritative about an end. Without it the batch system's state
 * counts, after two good queries in a row. A failed query changes nothing.
 *
 * A job is named after its session and attempt. If the outcome of a submission is unknown (the command failed, or the
 * daemon was killed), the daemon repeats it as the same attempt, but only after a good query that began later has not
 * shown that name. If both jobs start nevertheless, the second worker finds its attempt taken (worker/session_enter.c).
 */
#ifndef PLIANT_SERVER_RUN_BATCH_EXECUTOR_H
#define PLIANT_SERVER_RUN_BATCH_EXECUTOR_H

#include "server/batch/batch_system.h"
#include "server/run/worker_setup.h"

typedef struct pl_batch pl_batch;

/* Load the system that --batch names; *out is NULL for "none". False with the error as text. */
bool pl_batch_load(const pl_options *options, pl_batch_system **out, char *error, size_t size);
/* The caller owns the system, which must outlive the executor. NULL with a line in the log. */
pl_batch *pl_batch_create(const pl_worker_setup *setup, const pl_batch_system *system);
/* Stop the thread; jobs keep running. */
void pl_batch_destroy(pl_batch *batch);

/* Submit the session's new attempt, exactly once. */
void pl_batch_start(pl_batch *batch, pl_session *session);
/* At the daemon's start, take over a session that runs or whose row has a job. */
void pl_batch_adopt(pl_batch *batch, pl_session *session);
/* Cancel the job if it has not ended by the deadline; 0 removes the deadline. */
void pl_batch_set_deadline(pl_batch *batch, const pl_session *session, int64_t deadline_ms);
/* Send SIGTERM to the workers of all running jobs. */
void pl_batch_stop_all(pl_batch *batch);
/* Number of jobs known to run. */
int pl_batch_count(pl_batch *batch);
/* Wake the thread to look for work. NULL is allowed. */
void pl_batch_wake(pl_batch *batch);

#endif
