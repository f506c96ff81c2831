/* sessions.h - the table of sessions in memory: what requests read, and the one place where a
 * session's state changes. Every change is checked against the transition table (README.md), queued
 * for the database and told to whoever waits.
 *
 * Locks: one mutex for the table and every session's plain fields; the atomics below are read
 * without it. A session's watchers have a mutex of their own, always taken last.
 */
#ifndef PLIANT_SERVER_SESSIONS_SESSIONS_H
#define PLIANT_SERVER_SESSIONS_SESSIONS_H

#include "protocol/scene/notes.h"
#include "server/base/limits.h"
#include "server/http/principal.h"
#include "server/sessions/session.h"
#include "server/store/store.h"

typedef struct pl_sessions pl_sessions;

/* What waits for its turn and what runs is kept by whoever starts sessions (run/dispatcher.h). The table
 * calls these under its mutex, but for `changed`. */
typedef struct pl_session_queue {
    bool (*push)(void *context, pl_session *session, bool first); /* false: out of memory */
    bool (*delay)(void *context, pl_session *session);            /* until its due_ms */
    void (*move)(void *context, pl_session *session);             /* its priority has changed */
    void (*remove)(void *context, pl_session *session);           /* where it waits */
    void (*free)(void *context, pl_session *session);             /* what it held while it ran */
    /* Its worker has answered a request for other cores; true where that has changed what is free. */
    bool (*resized)(void *context, pl_session *session, int64_t number, int64_t cores);
    /* Where it stands, when it may start and why it waits. */
    void (*place)(void *context, const pl_session *session, pl_queue_place *out);
    /* Something may be startable; `ended` has just ended, or is NULL. Without the mutex. */
    void (*changed)(void *context, pl_session *ended);
} pl_session_queue;

/* Copied; what it points at outlives the table. */
typedef struct pl_sessions_setup {
    pl_store *store;
    int state_fd;          /* of the state directory */
    struct pl_pool *files; /* removes directories */
    pl_counters *counters;
    struct pl_events *events;
    const _Atomic bool *ready; /* sessions inserted before are no news */
    int64_t longest_delay_ms;  /* of a restart */
    const pl_session_queue *queue;
    void *context; /* of the queue */
} pl_sessions_setup;
pl_sessions *pl_sessions_create(const pl_sessions_setup *setup);
void pl_sessions_destroy(pl_sessions *sessions);

/* A row that says what the session is now; owned by the caller. */
pl_row pl_session_row(pl_sessions *sessions, pl_session *session);

/* Put into the table (which keeps a reference); a queued one joins the queue. Once the daemon is
 * ready, the dispatcher is notified. False if out of memory; the session is then in neither. */
bool pl_sessions_insert(pl_sessions *sessions, pl_session *session);
/* By id, with a reference and in *access (may be NULL) what the principal may do with it; NULL where
 * there is none that they may see. */
pl_session *pl_sessions_find(pl_sessions *sessions, const pl_principal *principal, const char *id,
                             pl_access *access);
pl_access pl_sessions_access(pl_sessions *sessions, const pl_principal *principal,
                             const pl_session *session);
/* Whether whoever follows a session still may: the principal is valid, and may see it since its group has changed.
 * `seen` is the follower's, 0 at first. */
bool pl_sessions_may_follow(pl_sessions *t, const pl_principal *principal, pl_session *session,
                            _Atomic int64_t *seen);
pl_session *pl_sessions_find_any(pl_sessions *sessions, const char *id); /* whosever it is */
/* Out of the table and the queue; watchers are woken with `deleted` set. */
void pl_sessions_remove(pl_sessions *sessions, pl_session *session);

/* What is remembered of a session's attempts. */
typedef struct pl_recovery {
    int64_t attempt; /* the newest */
    int64_t crashes; /* restarts since the last new checkpoint */
    int64_t checkpoint;
    int64_t memory_retries;
    double memory, memory_limit; /* bytes: planned with, allowed */
} pl_recovery;
pl_recovery pl_sessions_recovery(pl_sessions *sessions, pl_session *session);

/* What goes along with a move; NULLs and zeros leave the field as it is. */
typedef struct pl_move {
    const char *reason, *message;
    const char *paused_by;                   /* to paused: by whom; NULL: its owner */
    const char *failure, *bodies, *warnings; /* JSON texts */
    double memory, memory_limit, gpu_memory, estimate;
    int64_t cores_most; /* where the scene left that open */
    const pl_recovery *recovery;
    int64_t delay_ms; /* to queued: not to be started before */
    bool first;       /* to queued: before the others, for it had its turn */
} pl_move;
/* Change the state if the transition table has (present state, to); tells database and watchers.
 * False where it has not. */
bool pl_sessions_move(pl_sessions *sessions, pl_session *session, pl_session_state to,
                      const pl_move *what);
void pl_sessions_set_worker(pl_sessions *sessions, pl_session *session, const char *worker);
void pl_sessions_set_progress(pl_sessions *sessions, pl_session *session, int64_t frame,
                              double time);
/* Its worker makes no progress, for how long and why (a static word of session.h); NULL: it does again. */
void pl_sessions_set_stalled(pl_sessions *sessions, pl_session *session, const char *why,
                             int64_t still_ms);

/* Its worker computes with so many cores since the request of that number. */
void pl_sessions_set_cores(pl_sessions *sessions, pl_session *session, int64_t number,
                           int64_t cores);
/* Its warnings, a JSON array. */
void pl_sessions_set_warnings(pl_sessions *sessions, pl_session *session, const char *warnings);
/* "paused", "cancelled" or "deleted"; a weaker wish than the present one changes nothing. */
void pl_sessions_set_desired(pl_sessions *sessions, pl_session *session, const char *desired);
/* True if the daemon paused the session because of the disk. */
bool pl_sessions_paused_by_disk(pl_sessions *sessions, pl_session *session);
/* It is paused, and stays so until its owner resumes it. */
void pl_sessions_keep_paused(pl_sessions *sessions, pl_session *session);
/* Take the wish for a pause back. */
void pl_sessions_clear_pause(pl_sessions *sessions, pl_session *session);
/* Its name, labels, metadata and priority, and one more revision. The caller holds its lifecycle
 * mutex, so that it has read what it changes. */
void pl_sessions_annotate(pl_sessions *sessions, pl_session *session, pl_notes *notes);
/* Where its end is still to be told, malloc'ed; NULL where it is not. */
char *pl_sessions_webhook(pl_sessions *sessions, pl_session *session);
void pl_sessions_set_webhook(pl_sessions *sessions, pl_session *session, const char *status);
pl_desire pl_sessions_desired(pl_sessions *sessions, pl_session *session);

/* A session as the JSON of the contract; malloc'ed. */
char *pl_sessions_encode(pl_sessions *sessions, pl_session *session, const pl_principal *reader);

typedef struct pl_list_query {
    const pl_principal *principal; /* lists what it may see */
    const char *name;
    const char *whose; /* only this owner's; NULL: anyone's */
    pl_label_filter labels;
    int state; /* -1: any */
    int64_t limit;
    int64_t before; /* keyset cursor: created_us of the last one seen; INT64_MAX at first */
} pl_list_query;
/* {"items": [...], "next": ...}, newest first. */
char *pl_sessions_list(pl_sessions *sessions, const pl_list_query *query);

/* A user's sessions that have not ended, wait, and the cores of those that run; 0 for what is no number of
 * sessions. */
pl_limits pl_sessions_usage(pl_sessions *sessions, const char *user);
/* The same of a group's sessions. */
pl_limits pl_sessions_group_usage(pl_sessions *sessions, const char *group);
/* A session's name, owned by the caller; NULL where the principal cannot see it, or out of memory. */
char *pl_sessions_name(pl_sessions *sessions, const pl_principal *principal, const char *id);
/* Whose it is: its owner and its group, "": none. */
void pl_sessions_account(pl_sessions *sessions, const pl_session *session,
                         char user[PL_NAME_MAX + 1], char group[PL_NAME_MAX + 1]);

/* Without the table's mutex. */
int64_t pl_sessions_count(const pl_sessions *sessions, pl_session_state state);
int64_t pl_sessions_cores_used(const pl_sessions *sessions);

/* Every session in the table, with a reference each; malloc'ed list. For start and stop. */
pl_session **pl_sessions_all(pl_sessions *sessions, size_t *count);

/* Now, in microseconds since 1970, which no session in the table has: the order of creation, and the key of lists.
 * Later ones are larger unless the clock was put back. */
int64_t pl_sessions_stamp(pl_sessions *sessions);

#endif
