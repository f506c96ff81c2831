/* workers.h - the workers that the executor watches: one entry per session, the process that several sessions share,
 * and the resources those hold together. Private to the executor's own files.
 *
 * Any thread adds entries; only the supervisor removes them, so it may walk the list and read a worker's files without
 * the mutex.
 */
#ifndef PLIANT_SERVER_RUN_WORKERS_H
#define PLIANT_SERVER_RUN_WORKERS_H

#include "server/base/spawn.h"
#include "server/run/ending.h"
#include "server/run/memory_groups.h"
#include "server/run/progress.h"
#include "server/run/worker_setup.h"

#include <pthread.h>

/* Resources that the sessions of one worker hold together until the last of them has ended: cores, and a driver's
 * context on the GPU. */
typedef struct pl_holding {
    int sessions; /* not yet ended */
    pl_common_hold held;
} pl_holding;

/* A child process that several sessions share. */
typedef struct pl_worker_process {
    struct pl_worker_process *next;
    pl_child child;
    char group[PL_MEMORY_GROUP_NAME];
} pl_worker_process;

typedef struct pl_worker {
    struct pl_worker *next;
    pl_session *session;       /* a reference */
    pl_child child;            /* pidfd -1: known by its lock only, or shared */
    pl_worker_process *shared; /* NULL: a process of its own */
    pl_holding *holding;       /* what it holds with others; NULL: it holds everything alone */
    bool ours;                 /* a child, which must be reaped */
    pl_kill kill;              /* why the daemon killed it */
    int64_t deadline_ms;       /* for a reaction to a request; 0: none */
    int64_t limit_ms;          /* end of its time limit, on pl_monotonic_ms; 0: none */
    pl_progress progress;      /* the supervisor's own */
    /* its process's memory group; "": none, or the shared process's */
    char group[PL_MEMORY_GROUP_NAME];
    int64_t memory_kills; /* pl_memory_kills when it was started */
} pl_worker;

typedef struct pl_executor {
    pl_worker_setup setup;
    pthread_t thread;
    int epoll_fd, wake_fd;
    pthread_mutex_t mutex; /* guards workers, processes, holdings, stopping; before the table's */
    pl_worker *workers;
    pl_worker_process *processes;
    bool stopping;
    struct pl_batch *batch; /* executor for a batch system (batch_executor.h); NULL: none */
    int64_t look_ms;        /* next check of workers for progress; for the supervisor only */
} pl_executor;

/* The tag of a shared process's epoll event; other events are a worker's, or NULL. */
#define PL_EVENT_PROCESS UINT64_C(1)

/* The pidfd of its process; -1: known by its lock only. */
int pl_worker_pidfd(const pl_worker *worker);
bool pl_worker_lock_held(const pl_worker *worker); /* reads a file */

/* Identifies a worker to a later daemon: boot id, pid, start time, and the seconds that its session ran before. */
enum { PL_WORKER_NAME_MAX = 128 };
void pl_worker_name(pid_t pid, double spent, char out[PL_WORKER_NAME_MAX]);

/* Watch a new worker. False with errno if its pidfd cannot be watched. */
bool pl_workers_add(pl_executor *executor, pl_worker *worker);
void pl_workers_remove(pl_executor *executor, pl_worker *worker); /* not freed */
/* Reap a process that has ended; false if it is not this daemon's child. Under the mutex, so that a thread that signals
 * all workers does not use a closed descriptor. */
bool pl_workers_reap(pl_executor *executor, pl_child *child, int *status);
/* Kill the session's worker if it has not ended by then; 0: remove the deadline. */
void pl_workers_set_deadline(pl_executor *executor, const pl_session *session, int64_t deadline_ms);
/* Tell the session's worker to stop at a checkpoint, and kill it if it has not stopped by then. False if it has no
 * known process of its own. */
bool pl_workers_tell_to_stop(pl_executor *executor, const pl_session *session);
/* The process of the session's worker if it is alone in it; 0: unknown. */
pid_t pl_workers_process(pl_executor *executor, const pl_session *session);
/* The deadline for a worker that was just told something, by --patience. */
int64_t pl_workers_deadline(const pl_executor *executor);
void pl_workers_wake(pl_executor *executor); /* wakes the supervisor, from any thread */

/* A holding without sessions yet, on the GPU of `host`; NULL: out of memory. */
pl_holding *pl_holding_create(const pl_session *host);
void pl_holding_destroy(pl_holding *holding);
/* The session has ended. After the last session of its worker, the shared resources are given back. */
void pl_holding_leave(pl_executor *executor, pl_worker *worker);
/* Join an adopted session to the holding of the sessions adopted before it from the same process; NULL: none, or out of
 * memory. The resources counted for the first of them become shared. */
pl_holding *pl_holding_join(pl_executor *executor, const pl_session *session, pid_t pid);
/* True if the worker's session is the last of several in its process. */
bool pl_holding_last(pl_executor *executor, const pl_worker *worker);

#endif
