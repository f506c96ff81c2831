/* batch_jobs.h - the jobs that the batch executor watches. Private to the files batch_*.c of this room.
 *
 * Any thread adds entries, under the mutex. The batch thread owns their fields, except those marked as under the mutex.
 * Only it removes entries, so it may walk the list without the mutex.
 */
#ifndef PLIANT_SERVER_RUN_BATCH_JOBS_H
#define PLIANT_SERVER_RUN_BATCH_JOBS_H

#include "server/batch/batch_list.h"
#include "server/run/ending.h"
#include "server/run/worker_setup.h"

#include <pthread.h>

typedef enum pl_batch_step {
    PL_BATCH_WAITS,   /* to be submitted or found */
    PL_BATCH_SENT,    /* its id is known */
    PL_BATCH_LEAVING, /* no longer wanted: being cancelled */
} pl_batch_step;

typedef struct pl_batch_entry {
    struct pl_batch_entry *next;
    pl_session *session; /* a reference */
    int64_t attempt;
    pl_batch_step step;
    char job[PL_BATCH_ID_MAX]; /* "": unknown */
    bool found_only;           /* left by an earlier daemon: if no query shows it, it has ended */
    bool looked;               /* an earlier daemon's submission was looked for */
    bool tried;                /* submitted at least once, whatever the outcome */
    int64_t after_ms;          /* only queries that began later count */
    int64_t due_ms;            /* no repeated submission or cancellation before */
    int failures;              /* in a row */
    bool began;                /* its log is followed */
    int64_t absent_ms;         /* time since which good queries have not shown it alive; 0: alive */
    int64_t absent_queries, seen_query;
    char word[32]; /* the last reported state */
    pl_batch_phase phase;
    pl_kill kill;
    int64_t deadline_ms; /* under the mutex: deadline of its end; 0: none */
} pl_batch_entry;

typedef struct pl_batch {
    pl_worker_setup setup;
    const pl_batch_system *system;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards list, deadlines, stopping, woken, stop_all */
    pthread_cond_t changed;
    int stop_fd;
    bool stopping, woken, stop_all;
    pl_batch_entry *list;
    /* for the thread only */
    pl_batch_list jobs; /* jobs in the last good query */
    int64_t asked_ms;   /* start of that query; 0: none yet */
    int64_t queries;    /* number of good queries */
    int64_t next_ms;    /* due time of the next query */
    int room;           /* submissions left until all jobs are looked at again */
    int failures;       /* failed queries in a row */
    int64_t failed_us;  /* start of the failures, us since 1970 */
    char error[240];    /* error of the last failed query */
} pl_batch;

/* A setting of seconds, in ms. */
int64_t pl_batch_ms(const pl_batch *batch, pl_batch_number which);
/* Submit an entry that is not known to have a job. */
void pl_batch_submit(pl_batch *batch, pl_batch_entry *entry);
/* Run `cancel` or `signal` on the entry's job. */
void pl_batch_tell(pl_batch *batch, const pl_batch_entry *entry, pl_batch_verb verb);
/* True while an earlier daemon's submission is still in progress. */
bool pl_batch_being_submitted(const pl_batch_entry *entry);
/* True if a submission of the session was begun, for any attempt. */
bool pl_batch_was_submitted(const pl_batch_entry *entry);
/* Set the reason why the session waits. */
__attribute__((format(printf, 3, 4))) void
pl_batch_say(pl_batch *batch, const pl_batch_entry *entry, const char *format, ...);
/* Carry out the next action for an entry. False when it is finished and must be removed. */
bool pl_batch_advance(pl_batch *batch, pl_batch_entry *entry, int64_t now);

#endif
