/* workers.h - the workers that the executor watches: one entry a session, the process that several
 * sessions share, and what those hold together. Private to the executor's own files.
 *
 * Entries are added by any thread and removed by the supervisor alone, which may therefore walk the
 * list and read a worker's files without the mutex.
 */
#ifndef PLIANT_SERVER_RUN_WORKERS_H
#define PLIANT_SERVER_RUN_WORKERS_H

#include "server/base/spawn.h"
#include "server/run/ending.h"
#include "server/run/memory_groups.h"
#include "server/run/progress.h"
#include "server/run/worker_setup.h"

#include <pthread.h>

/* What the sessions of one worker hold together until the last of them has ended: cores, and a
 * driver's context on the GPU. */
typedef struct pl_holding {
    int sessions; /* that have not ended */
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
    pl_holding *holding;       /* what it holds with others; NULL: what it holds is its own */
    bool ours;                 /* a child, to be reaped */
    pl_kill kill;              /* by the daemon */
    int64_t deadline_ms;       /* to react to a request; 0: none */
    int64_t limit_ms;          /* when its time limit is over, on pl_monotonic_ms; 0: it has none */
    pl_progress progress;      /* the supervisor's own */
    char group[PL_MEMORY_GROUP_NAME]; /* of its process's memory; "": none, or of the shared one */
    int64_t memory_kills;             /* pl_memory_kills when it was started */
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

/* Of the process that it runs in; -1: known by its lock only. */
int pl_worker_pidfd(const pl_worker *worker);
bool pl_worker_lock_held(const pl_worker *worker); /* reads a file */

/* What a worker is known by after the daemon: boot id, pid, start time, and the seconds that its session ran before. */
enum { PL_WORKER_NAME_MAX = 128 };
void pl_worker_name(pid_t pid, double spent, char out[PL_WORKER_NAME_MAX]);

/* Watch a new worker. False with errno where its pidfd cannot be watched. */
bool pl_workers_add(pl_executor *executor, pl_worker *worker);
void pl_workers_remove(pl_executor *executor, pl_worker *worker); /* not freed */
/* Of a process that has ended; false where it is no child of ours. Under the mutex, so that a thread
 * that signals all workers does not use a descriptor that is closed. */
bool pl_workers_reap(pl_executor *executor, pl_child *child, int *status);
/* Kill the session's worker if it has not ended by then; 0: take the deadline back. */
void pl_workers_set_deadline(pl_executor *executor, const pl_session *session, int64_t deadline_ms);
/* Tell the session's worker to stop at a checkpoint, and kill it if it has not by then. False where it runs in no
 * process of its own that is known. */
bool pl_workers_tell_to_stop(pl_executor *executor, const pl_session *session);
/* The process that the session's worker is alone in, or 0: it is not known. */
pid_t pl_workers_process(pl_executor *executor, const pl_session *session);
/* The deadline of a worker that was told something just now, by --patience. */
int64_t pl_workers_deadline(const pl_executor *executor);
void pl_workers_wake(pl_executor *executor); /* the supervisor, from any thread */

/* Of nobody yet, on the GPU of `host`; NULL: out of memory. */
pl_holding *pl_holding_create(const pl_session *host);
void pl_holding_destroy(pl_holding *holding);
/* The session has ended: with the last of its worker what they held together is given back. */
void pl_holding_leave(pl_executor *executor, pl_worker *worker);
/* What an adopted session holds with those adopted before it from the same process; NULL: none, or
 * out of memory. What the first of them was counted with becomes all theirs. */
pl_holding *pl_holding_join(pl_executor *executor, const pl_session *session, pid_t pid);
/* Whether the worker's session is the last of several in its process. */
bool pl_holding_last(pl_executor *executor, const pl_worker *worker);

#endif
