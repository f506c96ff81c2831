/* batch_jobs.h - the jobs that the batch executor watches. Private to the files batch_*.c of this room.
 *
 * Entries are added by any thread, under the mutex; all else in them is the batch thread's, but for what stands under
 * the mutex. That thread alone removes entries, so it may walk the list without the mutex.
 */
#ifndef PLIANT_SERVER_RUN_BATCH_JOBS_H
#define PLIANT_SERVER_RUN_BATCH_JOBS_H

#include "server/batch/batch_list.h"
#include "server/run/ending.h"
#include "server/run/worker_setup.h"

#include <pthread.h>

typedef enum pl_batch_step {
    PL_BATCH_WAITS,   /* to be submitted, or to be found */
    PL_BATCH_SENT,    /* its id is known */
    PL_BATCH_LEAVING, /* nobody wants it any more: it is being cancelled */
} pl_batch_step;

typedef struct pl_batch_entry {
    struct pl_batch_entry *next;
    pl_session *session; /* a reference */
    int64_t attempt;
    pl_batch_step step;
    char job[PL_BATCH_ID_MAX]; /* "": not known */
    bool found_only;           /* of an earlier daemon: if no query shows it, it has ended */
    bool looked;               /* whether an earlier daemon may have submitted it */
    bool tried;                /* submitted at least once, with whatever outcome */
    int64_t after_ms;          /* only queries that began later count */
    int64_t due_ms;            /* not submitted, or cancelled, again before */
    int failures;              /* in a row */
    bool began;                /* its log is followed */
    int64_t absent_ms;         /* since when good queries have not shown it alive; 0: they have */
    int64_t absent_queries, seen_query;
    char word[32]; /* the last state that was shown */
    pl_batch_phase phase;
    pl_kill kill;
    int64_t deadline_ms; /* under the mutex: to be ended by then; 0: none */
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
    /* the thread's own */
    pl_batch_list jobs; /* of the last good query */
    int64_t asked_ms;   /* when that began; 0: there was none yet */
    int64_t queries;    /* good ones */
    int64_t next_ms;    /* when the next one is due */
    int room;           /* for submissions, until all jobs are looked at again */
    int failures;       /* of queries, in a row */
    int64_t failed_us;  /* since when, since 1970 */
    char error[240];    /* of the last one */
} pl_batch;

/* s of a setting, as ms. */
int64_t pl_batch_ms(const pl_batch *batch, pl_batch_number which);
/* Submit an entry whose outcome nothing shows yet. */
void pl_batch_submit(pl_batch *batch, pl_batch_entry *entry);
/* Run `cancel` or `signal` on its job. */
void pl_batch_tell(pl_batch *batch, const pl_batch_entry *entry, pl_batch_verb verb);
/* Whether a submission by an earlier daemon is still going on. */
bool pl_batch_being_submitted(const pl_batch_entry *entry);
/* Whether any was begun of the session, for whatever attempt. */
bool pl_batch_was_submitted(const pl_batch_entry *entry);
/* Say why it waits. */
__attribute__((format(printf, 3, 4))) void
pl_batch_say(pl_batch *batch, const pl_batch_entry *entry, const char *format, ...);
/* What is to be done with an entry now. False: it is over and is to be removed. */
bool pl_batch_advance(pl_batch *batch, pl_batch_entry *entry, int64_t now);

#endif
