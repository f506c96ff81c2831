/* batch_state.h - a session whose worker is a job of a batch system: it is queued until the job's worker begins, and
 * keeps the job's id meanwhile.
 */
#ifndef PLIANT_SERVER_SESSIONS_BATCH_STATE_H
#define PLIANT_SERVER_SESSIONS_BATCH_STATE_H

#include "server/sessions/sessions.h"

/* Of a job that is being submitted. */
#define PL_JOB_SUBMITTING "?"

/* With the table's mutex held: its turn has come. It gets a new attempt and stays queued. */
void pl_batch_state_submit_locked(pl_sessions *sessions, pl_session *session);

/* Whether the session, in this attempt, still waits for its job or runs in it. */
bool pl_batch_state_wants(pl_sessions *sessions, pl_session *session, int64_t attempt);
/* The worker has begun: running now. False where the attempt does not wait for that. */
bool pl_batch_state_begin(pl_sessions *sessions, pl_session *session, int64_t attempt);
/* The job's id, of this attempt alone; NULL: it has none any more. */
void pl_batch_state_set_job(pl_sessions *sessions, pl_session *session, int64_t attempt,
                            const char *job);
/* The job's id, malloc'ed; NULL: none. */
char *pl_batch_state_job(pl_sessions *sessions, pl_session *session);
/* What the batch system says of a job that waits; reason NULL: nothing. */
void pl_batch_state_place(pl_sessions *sessions, pl_session *session, int64_t position,
                          int64_t start, const char *reason);
/* It is of this attempt after all: a daemon was killed before the database had the newest one. */
void pl_batch_state_set_attempt(pl_sessions *sessions, pl_session *session, int64_t attempt);

#endif
