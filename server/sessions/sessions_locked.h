/* sessions_locked.h - the table's internals, for the files of this room that change or list sessions, and functions for
 * run/dispatcher.c: starting a session changes the scheduler's books and the session's state atomically, under the
 * table's mutex.
 */
#ifndef PLIANT_SERVER_SESSIONS_SESSIONS_LOCKED_H
#define PLIANT_SERVER_SESSIONS_SESSIONS_LOCKED_H

#include "server/sessions/search_key.h"
#include "server/sessions/sessions.h"

#include <pthread.h>

struct pl_sessions {
    pl_sessions_setup setup;
    pthread_mutex_t mutex;
    pl_session **buckets; /* [bucket_count] by id */
    size_t bucket_count;
    pl_session **order;  /* [count], by creation */
    pl_search_key *keys; /* [count], in the same order */
    size_t count, capacity;
    int64_t last_stamp; /* newest value given */
    _Atomic int64_t counts[PL_STATE_COUNT];
    _Atomic int64_t cores_used;
};

void pl_sessions_lock(pl_sessions *sessions);
void pl_sessions_unlock(pl_sessions *sessions);

/* With the mutex held: set it running with a new attempt, in the database and the events. */
void pl_sessions_run_locked(pl_sessions *sessions, pl_session *session);
/* With the mutex held: set it running, as it already was. */
void pl_sessions_adopt_locked(pl_sessions *sessions, pl_session *session);
/* With the mutex held: store the session and add an event of this type. */
void pl_sessions_note_locked(pl_sessions *sessions, pl_session *session, const char *type);
/* With the mutex held: the session as JSON with these parts (session_view.h). */
void pl_sessions_encode_locked(const pl_sessions *sessions, const pl_session *session,
                               unsigned parts, pl_json_writer *w);
/* With the mutex held: index in `order` of the first session created at that time or later. */
size_t pl_sessions_place(const pl_sessions *sessions, int64_t created_us);

/* With the mutex held: find by id, without a reference; NULL: none. */
pl_session *pl_sessions_find_locked(pl_sessions *sessions, const char *id);

/* Without the mutex: wake the watchers of the session and of all events. */
void pl_sessions_wake(pl_sessions *sessions, pl_session *session);
void pl_sessions_count_cores(pl_sessions *sessions, int64_t more);

#endif
