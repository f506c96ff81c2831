/* dispatcher.h - decides which session starts next: the scheduler (server/schedule), kept in step with the table of
 * sessions under its mutex. Decisions are carried out here and by the executor.
 */
#ifndef PLIANT_SERVER_RUN_DISPATCHER_H
#define PLIANT_SERVER_RUN_DISPATCHER_H

#include "server/base/limits.h"
#include "server/run/cpus.h"
#include "server/run/machine.h"
#include "server/sessions/sessions.h"
#include "server/store/usage.h"

typedef struct pl_dispatcher pl_dispatcher;

/* The resources to share out, and callbacks. Copied; what it points to outlives the dispatcher. */
typedef struct pl_dispatcher_setup {
    pl_machine machine;
    int64_t batch_cores; /* in the batch system, if any */
    bool has_batch;
    int64_t interactive_cores; /* of these, reserved for interactive sessions */
    pl_cpus *cpus;             /* for them; owned by the dispatcher. NULL: no pinning */
    struct pl_disk *disk;      /* nothing starts while it is full */
    struct pl_store *store;    /* keeps the record of usage (store/usage.h) */
    /* Limits of a user or a group, and its share. */
    pl_limits (*limits_of)(void *context, const char *name, bool group);
    int64_t (*limits_version)(void *context); /* another number whenever limits may have changed */
    void (*changed)(void *context, pl_session *ended); /* as pl_session_queue's */
    void *context;
} pl_dispatcher_setup;
pl_dispatcher *pl_dispatcher_create(const pl_dispatcher_setup *setup); /* NULL: out of memory */
void pl_dispatcher_destroy(pl_dispatcher *dispatcher);
/* The queue of a table of sessions, whose context is the dispatcher. Create the table with it, then attach the
 * table. */
extern const pl_session_queue pl_dispatcher_queue;
void pl_dispatcher_attach(pl_dispatcher *dispatcher, pl_sessions *sessions);

typedef enum pl_task_kind {
    PL_TASK_START,  /* moved to running, with a new attempt */
    PL_TASK_STOP,   /* stop a running session at a checkpoint, for another */
    PL_TASK_RESIZE, /* change the number of cores of a running session */
    PL_TASK_PIN,    /* a running session has given back some of its CPUs */
} pl_task_kind;
typedef struct pl_task {
    pl_task_kind kind;
    pl_session *session; /* with a reference; NULL: nothing to do */
    int64_t number;      /* of the request for other cores */
    int64_t cores, had;  /* cores requested, and cores held */
} pl_task;
/* The next task. */
pl_task pl_dispatcher_next(pl_dispatcher *dispatcher);
/* The CPUs for a session's worker; malloc'ed, NULL: any. */
char *pl_dispatcher_cpus(pl_dispatcher *dispatcher, const pl_session *session);
/* Do not pin its worker: it shares one. */
void pl_dispatcher_unpin(pl_dispatcher *dispatcher, pl_session *session);
/* The worker could not be told to change its cores: it keeps them and is not asked again. */
void pl_dispatcher_fix(pl_dispatcher *dispatcher, const pl_task *task);
/* The worker could not be told to stop; it is not asked again. */
void pl_dispatcher_keep(pl_dispatcher *dispatcher, pl_session *session);
/* Start one more session in the worker of `host`, which was just started this way: small, on a GPU, the next session of
 * the same owner, not crashed since its last checkpoint, and with no more cores. NULL: none. */
pl_session *pl_dispatcher_start_beside(pl_dispatcher *dispatcher, const pl_session *host);
/* Resources that the sessions of one worker hold together. */
typedef struct pl_common_hold {
    char session[33];            /* the host's id */
    char group[PL_NAME_MAX + 1]; /* "": none */
    char *owner, *gpu;
    int64_t cores, since_ms; /* since 1970 */
} pl_common_hold;
/* Transfer what the host held for all sessions of its worker (cores, and a context on the GPU) to the worker, until it
 * is reclaimed, before the last session is concluded. Fills in all but owner and gpu, which the caller sets. */
void pl_dispatcher_transfer(pl_dispatcher *dispatcher, pl_session *host, pl_common_hold *out);
void pl_dispatcher_reclaim(pl_dispatcher *dispatcher, const pl_common_hold *held);
/* When the next session that waits for its restart may start, on pl_monotonic_ms; INT64_MAX: none. */
int64_t pl_dispatcher_next_due(pl_dispatcher *dispatcher);
/* Account for a session that runs already, or may run (adopted at start); it becomes running. `beside`: its worker's
 * cores and context are already counted. `rigid`: its worker does not follow requests for other cores. `cpus`: its
 * CPUs, or NULL. */
void pl_dispatcher_adopt(pl_dispatcher *dispatcher, pl_session *session, bool beside, bool rigid,
                         const char *cpus);

/* Account for a session that has or may have a job of the batch system (adopted at the start). */
void pl_dispatcher_adopt_job(pl_dispatcher *dispatcher, pl_session *session);

/* Call `see` for each running session with what it has held since it began, under the table's mutex. Resources that the
 * sessions of one worker hold together are not included. */
typedef void (*pl_dispatcher_see)(void *context, const pl_usage_span *span,
                                  const pl_session *session);
void pl_dispatcher_each_running(pl_dispatcher *dispatcher, pl_dispatcher_see see, void *context);

typedef struct pl_load {
    int64_t cores, cores_used;
    double memory, memory_used; /* bytes */
    bool draining;
} pl_load;
pl_load pl_dispatcher_load(pl_dispatcher *dispatcher);
/* Stop starting sessions, or start them again; until the daemon ends. */
void pl_dispatcher_drain(pl_dispatcher *dispatcher, bool draining);
/* Write the queue, next session first, as far as the principal may see it: at most `limit` members of an array that the
 * writer has begun. `after` is the id of the last session of the previous page, NULL for the first page. If that
 * session no longer waits, listing restarts from the front, so earlier entries that still wait appear again. *next is
 * the id to continue after, "" at the end. */
void pl_dispatcher_queue_view(pl_dispatcher *dispatcher, const pl_principal *principal,
                              const char *after, int64_t limit, pl_json_writer *w, char next[33]);

#endif
