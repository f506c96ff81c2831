/* batch_state.h - state of a session that runs as a job of a batch system. It is queued until the job's worker begins,
 * and has the job's id meanwhile.
 */
#ifndef PLIANT_SERVER_SESSIONS_BATCH_STATE_H
#define PLIANT_SERVER_SESSIONS_BATCH_STATE_H

#include "server/sessions/sessions.h"

/* Stands for the id of a job that is being submitted. */
#define PL_JOB_SUBMITTING "?"

/* Start a new attempt of a session whose turn has come; it stays queued. Called with the table's mutex held. */
void pl_batch_state_submit_locked(pl_sessions *sessions, pl_session *session);

/* True while the session, in this attempt, waits for its job or runs in it. */
bool pl_batch_state_wants(pl_sessions *sessions, pl_session *session, int64_t attempt);
/* Set the session running: its worker has begun. False if the attempt is not waiting for its worker. */
bool pl_batch_state_begin(pl_sessions *sessions, pl_session *session, int64_t attempt);
/* Set the job's id for this attempt; NULL removes it. */
void pl_batch_state_set_job(pl_sessions *sessions, pl_session *session, int64_t attempt,
                            const char *job);
/* The job's id, malloc'ed; NULL: none. */
char *pl_batch_state_job(pl_sessions *sessions, pl_session *session);
/* Set the batch system's view of a waiting job; reason NULL: none. */
void pl_batch_state_place(pl_sessions *sessions, pl_session *session, int64_t position,
                          int64_t start, const char *reason);
/* Correct the attempt: a daemon was killed before the database had the newest one. */
void pl_batch_state_set_attempt(pl_sessions *sessions, pl_session *session, int64_t attempt);

#endif
