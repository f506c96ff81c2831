/* sessions.h - the table of sessions in memory, which requests read, and the only code that changes a session's state.
 * Every change is checked against the transition table (README.md), queued for the database and announced to waiting
 * parties.
 *
 * Locks: one mutex for the table and every session's plain fields; the atomics below are read without it. A session's
 * watchers have their own mutex, always taken last.
 */
#ifndef PLIANT_SERVER_SESSIONS_SESSIONS_H
#define PLIANT_SERVER_SESSIONS_SESSIONS_H

#include "protocol/scene/notes.h"
#include "server/base/limits.h"
#include "server/http/principal.h"
#include "server/sessions/session.h"
#include "server/store/store.h"

typedef struct pl_sessions pl_sessions;

/* The queue of waiting and running sessions, implemented by the dispatcher (run/dispatcher.h). The table calls these
 * functions under its mutex, except `changed`. */
typedef struct pl_session_queue {
    bool (*push)(void *context, pl_session *session, bool first); /* false: out of memory */
    bool (*delay)(void *context, pl_session *session);            /* until its due_ms */
    void (*move)(void *context, pl_session *session);             /* its priority has changed */
    void (*remove)(void *context, pl_session *session);           /* from the waiting sessions */
    /* releases what it held while running */
    void (*free)(void *context, pl_session *session);
    /* Its worker has answered a request to change cores; true if that has changed what is free. */
    bool (*resized)(void *context, pl_session *session, int64_t number, int64_t cores);
    /* Its position, expected start and reason for waiting. */
    void (*place)(void *context, const pl_session *session, pl_queue_place *out);
    /* Something may be startable; `ended` has just ended, or is NULL. Called without the mutex. */
    void (*changed)(void *context, pl_session *ended);
} pl_session_queue;

/* Copied; what it points to outlives the table. */
typedef struct pl_sessions_setup {
    pl_store *store;
    int state_fd;          /* of the state directory */
    struct pl_pool *files; /* removes directories */
    pl_counters *counters;
    struct pl_events *events;
    const _Atomic bool *ready; /* sessions inserted before that cause no events */
    int64_t longest_delay_ms;  /* of a restart */
    const pl_session_queue *queue;
    void *context; /* of the queue */
} pl_sessions_setup;
pl_sessions *pl_sessions_create(const pl_sessions_setup *setup);
void pl_sessions_destroy(pl_sessions *sessions);

/* A row with the session's present values; owned by the caller. */
pl_row pl_session_row(pl_sessions *sessions, pl_session *session);

/* Put into the table (which keeps a reference); a queued one joins the queue. Once the daemon is
 * ready, the dispatcher is notified. False if out of memory; the session is then in neither. */
bool pl_sessions_insert(pl_sessions *sessions, pl_session *session);
/* Find by id, with a reference, and in *access (may be NULL) the principal's access; NULL if they may see no such
 * object. */
pl_session *pl_sessions_find(pl_sessions *sessions, const pl_principal *principal, const char *id,
                             pl_access *access);
pl_access pl_sessions_access(pl_sessions *sessions, const pl_principal *principal,
                             const pl_session *session);
/* True if a follower of a session may continue: the principal is valid, and may still see it after changes of its
 * group. `seen` belongs to the follower, initially 0. */
bool pl_sessions_may_follow(pl_sessions *t, const pl_principal *principal, pl_session *session,
                            _Atomic int64_t *seen);
pl_session *pl_sessions_find_any(pl_sessions *sessions, const char *id); /* regardless of owner */
/* Remove from the table and the queue; watchers are woken with `deleted` set. */
void pl_sessions_remove(pl_sessions *sessions, pl_session *session);

/* State kept across a session's attempts. */
typedef struct pl_recovery {
    int64_t attempt; /* the newest */
    int64_t crashes; /* restarts since the last new checkpoint */
    int64_t checkpoint;
    int64_t memory_retries;
    double memory, memory_limit; /* bytes: estimated, allowed */
} pl_recovery;
pl_recovery pl_sessions_recovery(pl_sessions *sessions, pl_session *session);

/* Values that change along with the state; NULLs and zeros leave a field unchanged. */
typedef struct pl_move {
    const char *reason, *message;
    const char *paused_by;                   /* to paused: who paused it; NULL: its owner */
    const char *failure, *bodies, *warnings; /* JSON texts */
    double memory, memory_limit, gpu_memory, estimate;
    int64_t cores_most; /* if the scene left that open */
    const pl_recovery *recovery;
    int64_t delay_ms; /* to queued: delay before the start */
    bool first;       /* to queued: ahead of the others, because it had its turn */
} pl_move;
/* Change the state if the transition table allows it; updates the database and wakes watchers. False if not allowed. */
bool pl_sessions_move(pl_sessions *sessions, pl_session *session, pl_session_state to,
                      const pl_move *what);
void pl_sessions_set_worker(pl_sessions *sessions, pl_session *session, const char *worker);
void pl_sessions_set_progress(pl_sessions *sessions, pl_session *session, int64_t frame,
                              double time);
/* Record that its worker makes no progress: why (a static word of session.h), and for how long; NULL: it makes progress
 * again. */
void pl_sessions_set_stalled(pl_sessions *sessions, pl_session *session, const char *why,
                             int64_t still_ms);

/* Record that its worker computes with so many cores since the request of that number. */
void pl_sessions_set_cores(pl_sessions *sessions, pl_session *session, int64_t number,
                           int64_t cores);
/* Set its warnings, a JSON array. */
void pl_sessions_set_warnings(pl_sessions *sessions, pl_session *session, const char *warnings);
/* Set "paused", "cancelled" or "deleted"; a weaker request than the present one changes nothing. */
void pl_sessions_set_desired(pl_sessions *sessions, pl_session *session, const char *desired);
/* True if the daemon paused the session because of the disk. */
bool pl_sessions_paused_by_disk(pl_sessions *sessions, pl_session *session);
/* Keep it paused until its owner resumes it. */
void pl_sessions_keep_paused(pl_sessions *sessions, pl_session *session);
/* Withdraw the request to pause. */
void pl_sessions_clear_pause(pl_sessions *sessions, pl_session *session);
/* Set its name, labels, metadata and priority, and increase its revision. The caller holds its lifecycle mutex, so that
 * no change is lost between reading and writing. */
void pl_sessions_annotate(pl_sessions *sessions, pl_session *session, pl_notes *notes);
/* The URL to notify of its end if that is still pending, malloc'ed; else NULL. */
char *pl_sessions_webhook(pl_sessions *sessions, pl_session *session);
void pl_sessions_set_webhook(pl_sessions *sessions, pl_session *session, const char *status);
pl_desire pl_sessions_desired(pl_sessions *sessions, pl_session *session);

/* A session as the API's JSON document; malloc'ed. */
char *pl_sessions_encode(pl_sessions *sessions, pl_session *session, const pl_principal *reader);

typedef struct pl_list_query {
    const pl_principal *principal; /* lists only sessions that it may see */
    const char *name;
    const char *whose; /* only this owner's; NULL: anyone's */
    pl_label_filter labels;
    int state; /* -1: any */
    int64_t limit;
    int64_t before; /* keyset cursor: created_us of the last one seen; INT64_MAX at first */
} pl_list_query;
/* {"items": [...], "next": ...}, newest first. */
char *pl_sessions_list(pl_sessions *sessions, const pl_list_query *query);

/* Numbers of a user's unfinished and waiting sessions, and the cores of running ones; 0 for limits that do not count
 * sessions. */
pl_limits pl_sessions_usage(pl_sessions *sessions, const char *user);
/* The same for a group's sessions. */
pl_limits pl_sessions_group_usage(pl_sessions *sessions, const char *group);
/* A session's name, owned by the caller; NULL if the principal cannot see it, or out of memory. */
char *pl_sessions_name(pl_sessions *sessions, const pl_principal *principal, const char *id);
/* Its owner and its group ("": none). */
void pl_sessions_account(pl_sessions *sessions, const pl_session *session,
                         char user[PL_NAME_MAX + 1], char group[PL_NAME_MAX + 1]);

/* Does not take the table's mutex. */
int64_t pl_sessions_count(const pl_sessions *sessions, pl_session_state state);
int64_t pl_sessions_cores_used(const pl_sessions *sessions);

/* Every session in the table, with a reference each; malloc'ed list. For start and stop. */
pl_session **pl_sessions_all(pl_sessions *sessions, size_t *count);

/* The present time in microseconds since 1970, made unique among the sessions of the table: the order of creation, and
 * the key of lists. Later values are larger unless the clock was set back. */
int64_t pl_sessions_stamp(pl_sessions *sessions);

#endif
