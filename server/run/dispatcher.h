/* dispatcher.h - which session starts next: the scheduler (server/schedule), kept in step with the table of sessions
 * under its mutex. What it decides is carried out here and by the executor.
 */
#ifndef PLIANT_SERVER_RUN_DISPATCHER_H
#define PLIANT_SERVER_RUN_DISPATCHER_H

#include "server/base/limits.h"
#include "server/run/cpus.h"
#include "server/run/machine.h"
#include "server/sessions/sessions.h"
#include "server/store/usage.h"

typedef struct pl_dispatcher pl_dispatcher;

/* What there is to share out, and who is told. Copied; what it points at outlives the dispatcher. */
typedef struct pl_dispatcher_setup {
    pl_machine machine;
    int64_t batch_cores; /* in the batch system, if there is one */
    bool has_batch;
    int64_t interactive_cores; /* of these, kept for interactive sessions */
    pl_cpus *cpus;             /* for them; the dispatcher's from now on. NULL: none is pinned */
    struct pl_disk *disk;      /* nothing starts while it is full */
    struct pl_store *store;    /* where it is kept who used what (store/usage.h) */
    /* What a user, or a group, may have at once, and its share. */
    pl_limits (*limits_of)(void *context, const char *name, bool group);
    void (*changed)(void *context, pl_session *ended); /* as pl_session_queue's */
    void *context;
} pl_dispatcher_setup;
pl_dispatcher *pl_dispatcher_create(const pl_dispatcher_setup *setup); /* NULL: out of memory */
void pl_dispatcher_destroy(pl_dispatcher *dispatcher);
/* The queue of a table of sessions, whose context is the dispatcher. The table is made with it, then
 * attached. */
extern const pl_session_queue pl_dispatcher_queue;
void pl_dispatcher_attach(pl_dispatcher *dispatcher, pl_sessions *sessions);

typedef enum pl_task_kind {
    PL_TASK_START,  /* moved to running, with a new attempt */
    PL_TASK_STOP,   /* it runs, and is to be stopped at a checkpoint for another */
    PL_TASK_RESIZE, /* it runs, and is to compute with so many cores */
    PL_TASK_PIN,    /* it runs, and has given back some of its CPUs */
} pl_task_kind;
typedef struct pl_task {
    pl_task_kind kind;
    pl_session *session; /* with a reference; NULL: there is nothing to do */
    int64_t number;      /* of the request for other cores, */
    int64_t cores, had;  /* how many, and how many it has */
} pl_task;
/* What is to be done next. */
pl_task pl_dispatcher_next(pl_dispatcher *dispatcher);
/* The CPUs that a session's worker is to run on; malloc'ed, NULL: any. */
char *pl_dispatcher_cpus(pl_dispatcher *dispatcher, const pl_session *session);
/* Its worker cannot be moved: it has none of its own. */
void pl_dispatcher_unpin(pl_dispatcher *dispatcher, pl_session *session);
/* It could not be told to have other cores: it keeps those that it had, and is not asked again. */
void pl_dispatcher_fix(pl_dispatcher *dispatcher, const pl_task *task);
/* It could not be told to stop, and is not asked again. */
void pl_dispatcher_keep(pl_dispatcher *dispatcher, pl_session *session);
/* One more for the worker of `host`, which was just started so: small, on a GPU, of the same owner, not crashed since
 * its last checkpoint, of no more cores, and the next of its owner's; NULL: there is none. */
pl_session *pl_dispatcher_start_beside(pl_dispatcher *dispatcher, const pl_session *host);
/* What the sessions of one worker hold together. */
typedef struct pl_common_hold {
    char session[33];            /* the host's id */
    char group[PL_NAME_MAX + 1]; /* "": none */
    char *owner, *gpu;
    int64_t cores, since_ms; /* since 1970 */
} pl_common_hold;
/* What the host held for all of its worker is the worker's: its cores, and a context on the GPU; until
 * reclaimed, before the last of them is concluded. Fills in all but owner and gpu, which are the caller's. */
void pl_dispatcher_transfer(pl_dispatcher *dispatcher, pl_session *host, pl_common_hold *out);
void pl_dispatcher_reclaim(pl_dispatcher *dispatcher, const pl_common_hold *held);
/* When the next session that waits for its restart may start, on pl_monotonic_ms; INT64_MAX: none. */
int64_t pl_dispatcher_next_due(pl_dispatcher *dispatcher);
/* Account for a session that runs already, or may have (adopted at start): it is running now. `beside`:
 * in a worker whose cores and context are counted already. `rigid`: its worker does not follow requests for other
 * cores. `cpus`: what it is on, or NULL. */
void pl_dispatcher_adopt(pl_dispatcher *dispatcher, pl_session *session, bool beside, bool rigid,
                         const char *cpus);

/* Account for a session that has or may have a job of the batch system (adopted at the start). */
void pl_dispatcher_adopt_job(pl_dispatcher *dispatcher, pl_session *session);

/* Each session that runs, with what it has held since it began; `see` is called under the table's mutex. Not among
 * them is what the sessions of one worker hold together. */
typedef void (*pl_dispatcher_see)(void *context, const pl_usage_span *span,
                                  const pl_session *session);
void pl_dispatcher_each_running(pl_dispatcher *dispatcher, pl_dispatcher_see see, void *context);

typedef struct pl_load {
    int64_t cores, cores_used;
    double memory, memory_used; /* bytes */
    bool draining;
} pl_load;
pl_load pl_dispatcher_load(pl_dispatcher *dispatcher);
/* Start nothing, or start again; until the daemon ends. */
void pl_dispatcher_drain(pl_dispatcher *dispatcher, bool draining);
/* What waits for its turn, next first, as far as the principal may see it: at most `limit` as members of
 * an array that the writer has begun. `after` is the id of the last one of the page before, NULL for the
 * first page; where that waits no more it goes on from the front: what still waits of earlier pages comes
 * again. *next is the id to go on after, "" where there are no more. */
void pl_dispatcher_queue_view(pl_dispatcher *dispatcher, const pl_principal *principal,
                              const char *after, int64_t limit, pl_json_writer *w, char next[33]);

#endif
