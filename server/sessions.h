/* sessions.h - the table of sessions in memory: what requests read, and the one place where a
 * session's state changes. Every change is checked against the transition table (README.md), queued
 * for the database and told to whoever waits.
 *
 * Locks: one mutex for the table and every session's plain fields; the atomics below are read
 * without it. A session's watchers have a mutex of their own, always taken last.
 */
#ifndef PLIANT_SERVER_SESSIONS_H
#define PLIANT_SERVER_SESSIONS_H

#include "server/daemon.h"
#include "server/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum pl_session_state {
    PL_STATE_CHECKING,
    PL_STATE_QUEUED,
    PL_STATE_RUNNING,
    PL_STATE_PAUSED,
    PL_STATE_SUCCEEDED,
    PL_STATE_FAILED,
    PL_STATE_REJECTED,
    PL_STATE_CANCELLED,
    PL_STATE_COUNT
} pl_session_state;
const char *pl_state_name(pl_session_state state);
bool pl_state_parse(const char *name, pl_session_state *out);
bool pl_state_terminal(pl_session_state state);
/* Whether the transition table has it. */
bool pl_state_may_move(pl_session_state from, pl_session_state to);

/* Whoever wants to know of a session's changes: a stream, or a request that waits. wake is called
 * with the session's watcher mutex held and must not take another lock of this header. */
typedef struct pl_watcher {
    struct pl_watcher *next, **slot;
    void (*wake)(struct pl_watcher *watcher);
} pl_watcher;

typedef struct pl_session {
    char id[33];
    char *directory; /* absolute */
    char *owner, *name;
    int64_t created_us;
    _Atomic int references;
    _Atomic int state;     /* pl_session_state; written under the table's mutex */
    _Atomic bool deleted;  /* removed, or about to be: streams end */
    _Atomic int64_t frame; /* last committed; -1: none; written under the table's mutex */
    /* under the table's mutex */
    int64_t since_ms;
    char *reason, *message, *bodies, *failure, *worker, *desired;
    int64_t cores, frames, attempt;
    double memory, time, time_limit;
    int queue_position; /* from 1; 0: not queued */
    /* watchers */
    pthread_mutex_t watcher_mutex;
    pl_watcher *watchers;
    struct pl_session *bucket_next;
} pl_session;

typedef struct pl_sessions pl_sessions;

pl_sessions *pl_sessions_create(pl_daemon *daemon);
void pl_sessions_destroy(pl_sessions *sessions);

/* A session made of a row, with one reference for the caller; in no table yet. */
pl_session *pl_session_create(pl_daemon *daemon, const pl_row *row);
void pl_session_acquire(pl_session *session);
void pl_session_release(pl_session *session);
/* A row that says what the session is now; owned by the caller. */
pl_row pl_session_row(pl_sessions *sessions, pl_session *session);

/* Put into the table (which keeps a reference); a queued one joins the queue. */
bool pl_sessions_insert(pl_sessions *sessions, pl_session *session);
/* By id, with a reference; NULL where there is none or it is another owner's. */
pl_session *pl_sessions_find(pl_sessions *sessions, const char *owner, const char *id);
pl_session *pl_sessions_find_any(pl_sessions *sessions, const char *id); /* whosever it is */
/* Out of the table and the queue; watchers are woken with `deleted` set. */
void pl_sessions_remove(pl_sessions *sessions, pl_session *session);

/* What goes along with a move; NULLs leave the field as it is. */
typedef struct pl_move {
    const char *reason, *message;
    const char *failure, *bodies; /* JSON texts */
    double memory;                /* 0: as it is */
} pl_move;
/* Change the state if the transition table has (present state, to); tells database and watchers.
 * False where it has not. */
bool pl_sessions_move(pl_sessions *sessions, pl_session *session, pl_session_state to,
                      const pl_move *what);
/* The next queued session that fits, moved to running with a new attempt and a reference; or
 * NULL. */
pl_session *pl_sessions_start_next(pl_sessions *sessions);
/* Account for a session that runs already (adopted at start). */
void pl_sessions_adopt(pl_sessions *sessions, pl_session *session);
void pl_sessions_set_worker(pl_sessions *sessions, pl_session *session, const char *worker);
void pl_sessions_set_progress(pl_sessions *sessions, pl_session *session, int64_t frame,
                              double time);
/* What its owner wants of a session that can not be had at once: "cancelled" or "deleted". */
void pl_sessions_set_desired(pl_sessions *sessions, pl_session *session, const char *desired);
/* 0 nothing, 1 cancelled, 2 deleted. */
int pl_sessions_desired(pl_sessions *sessions, pl_session *session);

/* A session as the JSON of the contract; malloc'ed. */
char *pl_sessions_encode(pl_sessions *sessions, pl_session *session);

typedef struct pl_list_query {
    const char *owner, *name;
    int state; /* -1: any */
    int64_t limit;
    int64_t before; /* keyset cursor: created_us of the last one seen; INT64_MAX at first */
} pl_list_query;
/* {"items": [...], "next": ...}, newest first. */
char *pl_sessions_list(pl_sessions *sessions, const pl_list_query *query);

/* Without the table's mutex. */
int64_t pl_sessions_count(const pl_sessions *sessions, pl_session_state state);
int64_t pl_sessions_cores_used(const pl_sessions *sessions);

void pl_session_watch(pl_session *session, pl_watcher *watcher);
void pl_session_unwatch(pl_session *session, pl_watcher *watcher);
void pl_session_wake(pl_session *session);
/* Every session in the table, with a reference each; malloc'ed list. For start and stop. */
pl_session **pl_sessions_all(pl_sessions *sessions, size_t *count);

/* Now, in microseconds since 1970, larger than every value given or inserted before: the order of
 * creation, and the key of lists. */
int64_t pl_sessions_stamp(pl_sessions *sessions);

#endif
