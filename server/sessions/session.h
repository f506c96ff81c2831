/* session.h - one session: its states, and its data in the daemon's memory. sessions.h says who may change it. */
#ifndef PLIANT_SERVER_SESSIONS_SESSION_H
#define PLIANT_SERVER_SESSIONS_SESSION_H

#include "server/base/clock.h"
#include "server/store/row.h"

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
/* True if the transition table allows it. */
bool pl_state_may_move(pl_session_state from, pl_session_state to);

/* Pending request of its owner (pause, cancel, delete) that has not been carried out yet, weakest first: a stronger one
 * replaces a weaker one, and only a pause can be withdrawn. */
typedef enum pl_desire {
    PL_DESIRE_NOTHING,
    PL_DESIRE_PAUSED,
    PL_DESIRE_CANCELLED,
    PL_DESIRE_DELETED
} pl_desire;
pl_desire pl_desire_parse(const char *name); /* NULL and unknown names count as none */

/* A party that wants to know of a session's changes: a stream, or a waiting request. wake is called with the session's
 * watcher mutex held and must not take another lock of this header. */
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
    _Atomic int state;               /* pl_session_state; written under the table's mutex */
    _Atomic int64_t bytes, bytes_ms; /* of its directory, and when they were measured (quota.c) */
    _Atomic bool bytes_final;        /* the session had ended by then */
    _Atomic bool deleted;            /* removed, or about to be: streams end */
    _Atomic int64_t frame;           /* last committed; -1: none; written under the table's mutex */
    /* under the table's mutex */
    int64_t since_ms;
    char *group; /* NULL: none; changed under the events' mutex, too */
    char *gpu;   /* UUID, as in pl_row */
    double gpu_memory;
    char *reason, *message, *bodies, *failure, *warnings, *worker, *desired, *paused_by;
    char *labels, *metadata, *webhook, *webhook_status; /* as in pl_row */
    double keep_days;
    int64_t keep_last, keep_every; /* as in the row */
    int64_t priority;
    _Atomic int64_t regroups; /* number of changes of its group: readers must be checked again */
    _Atomic int64_t revision; /* written under the table's mutex */
    int64_t cores;            /* of the running worker, else the fewest */
    int64_t cores_least, cores_most;
    bool preemptible, interactive;
    int64_t
        stalled_ms; /* since when its worker was found without progress, since 1970; 0: it was not */
    const char *stalled; /* reason: "stopped", "disk" or "idle"; NULL: not stalled */
    bool preempting;     /* its worker was told to stop for another session */
    char *after;         /* as in the row */
    double estimate;     /* as in the row */
    char *executor;      /* as in the row; constant */
    char *batch_job;     /* the row's `job` */
    struct {
        int64_t position; /* among the daemon's waiting jobs there; 0: unknown */
        int64_t start;    /* expected, s since 1970; -1: unknown */
        char *reason;     /* NULL: none */
    } batch;              /* the batch system's view of a waiting job */
    struct pl_job *job;   /* the scheduler's job (dispatcher.c); NULL: neither waits nor runs */
    int64_t cores_held;   /* included in the cores in use while it runs */
    int64_t held_ms;      /* start of holding them, ms since 1970; 0: since the run began */
    int64_t
        ended_ms; /* since 1970: when its worker ended while no daemon was there; 0: it did not */
    char *cpus;   /* CPUs that its worker is pinned to, "0-3"; NULL: not pinned, or not running */
    bool repin;   /* its worker still runs on more */
    int64_t resizes; /* requests to change cores sent to its worker in this attempt */
    int64_t frames, attempt;
    double memory, memory_limit, time, time_limit;
    double rate;      /* simulated s per s, over the last second or two; -1: unknown */
    double rate_time; /* simulated time at which the measurement began, */
    int64_t rate_ms;  /* and its monotonic time; 0: not begun */
    int64_t crashes, checkpoint, memory_retries; /* as in pl_row */
    int64_t restart_ms;                          /* since 1970, for the row */
    int64_t due_ms;                              /* the same on the monotonic clock; 0: now */
    /* Serialises the owner's requests, which become entries of control.log and states, with the worker's end, so that a
     * pause, a resume and an end cannot overtake one another. Taken before the table's. */
    pthread_mutex_t lifecycle;
    int64_t
        controls;  /* under it: number of the newest control; 0: to be looked for in control.log */
    bool stepping; /* under it: the newest of pause, resume and step was a step */
    /* A reader at the end of its log while a worker writes it, for all who want the newest frame (tail.h). */
    pthread_mutex_t tail_mutex;
    struct pl_log_reader *tail;
    /* watchers */
    pthread_mutex_t watcher_mutex;
    pl_watcher *watchers;
    struct pl_session *bucket_next;
} pl_session;

/* The place of a queued session. */
typedef struct pl_queue_place {
    int64_t position; /* from 1; 0: not queued, or no turn yet */
    const char *code; /* of the reason, as a word; "": none */
    char reason[480]; /* in words; "": none */
    int64_t start;    /* estimated, s since 1970; -1: not known */
} pl_queue_place;

/* Create a session from a row, with one reference for the caller, in no table yet. Its directory is below `state_path`,
 * the absolute path of the state directory. */
pl_session *pl_session_create(const char *state_path, const pl_row *row);
void pl_session_acquire(pl_session *session);
void pl_session_release(pl_session *session);
/* A row with the session's present values, owned by the caller; the table's mutex is held. Empty, including its id, if
 * out of memory. */
pl_row pl_session_describe(const pl_session *session);
/* Replace a text member. */
void pl_session_set_text(char **member, const char *text);

void pl_session_watch(pl_session *session, pl_watcher *watcher);
void pl_session_unwatch(pl_session *session, pl_watcher *watcher);
void pl_session_wake(pl_session *session);

#endif
