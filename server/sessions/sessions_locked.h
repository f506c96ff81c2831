/* sessions_locked.h - the table's inside, for run/dispatcher.c alone: starting a session changes the
 * scheduler's books and the session's state in one piece, under the table's mutex.
 */
#ifndef PLIANT_SERVER_SESSIONS_SESSIONS_LOCKED_H
#define PLIANT_SERVER_SESSIONS_SESSIONS_LOCKED_H

#include "server/sessions/sessions.h"

void pl_sessions_lock(pl_sessions *sessions);
void pl_sessions_unlock(pl_sessions *sessions);

/* With the mutex held: running now, as a new attempt, in the database and among the events. */
void pl_sessions_run_locked(pl_sessions *sessions, pl_session *session);
/* With the mutex held: running, as it was already. */
void pl_sessions_adopt_locked(pl_sessions *sessions, pl_session *session);
/* With the mutex held: the session as lists show it. */
void pl_sessions_encode_locked(pl_sessions *sessions, const pl_session *session, pl_json_writer *w);

/* Without it: whoever watches the session, or what happens at all. */
void pl_sessions_wake(pl_sessions *sessions, pl_session *session);
void pl_sessions_count_cores(pl_sessions *sessions, int64_t more);

#endif
