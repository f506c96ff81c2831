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

#include <limits.h>
#include <pthread.h>

typedef enum pl_batch_step {
    PL_BATCH_WAITS,   /* to be submitted or found */
    PL_BATCH_SENT,    /* its id is known */
    PL_BATCH_LEAVING, /* no longer wanted: being cancelled */
} pl_batch_step;

/* Where a pilot's folder has an assignment (server/worker/pilot.h). */
typedef enum pl_pilot_place {
    PL_PILOT_UNKNOWN, /* the folder could not be read */
    PL_PILOT_NOWHERE,
    PL_PILOT_TODO,
    PL_PILOT_RUN,
    PL_PILOT_DONE,
} pl_pilot_place;

/* Consecutive good queries that have not shown a job alive. */
typedef struct pl_batch_absence {
    int64_t queries, seen; /* how many; the number of the last one that was looked at */
    int64_t ms;            /* the first of them */
} pl_batch_absence;

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
    pl_batch_absence absence;
    char word[32]; /* the last state that was shown */
    pl_batch_phase phase;
    pl_kill kill;
    int64_t deadline_ms; /* under the mutex: to be ended by then; 0: none */
    /* if it runs in a pilot instead of its own job (batch_pilots.h) */
    struct pl_batch_pilot *pilot; /* NULL: it does not */
    bool searched;                /* for a pilot of an earlier daemon */
    pl_pilot_place place;
    int64_t over_ms; /* when its worker was found to have ended; 0: it has not */
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
    struct pl_batch_pilot *pilots;
    pl_batch_list jobs; /* of the last good query */
    int64_t asked_ms;   /* start of that query; 0: no good query yet */
    int64_t queries;    /* good ones */
    int64_t next_ms;    /* when the next one is due */
    int room;           /* for submissions, until all jobs are looked at again */
    int failures;       /* of queries, in a row */
    int64_t failed_us;  /* start of the failures, since 1970 */
    char error[240];    /* of the last one */
} pl_batch;

/* A job to submit, and the outcome. */
typedef struct pl_batch_request {
    char name[PL_BATCH_NAME_MAX];
    const char *id, *directory; /* of the session or pilot */
    int64_t attempt, cores;
    double memory_mb;
    long minutes;
    bool gpu;
    const char *user, *group;
    const char *const *words; /* the command, up to a NULL */
    bool tried;               /* the submitting command ran */
    char job[PL_BATCH_ID_MAX], error[280];
} pl_batch_request;

/* A worker's command, with storage for its words. */
typedef struct pl_batch_words {
    const char *words[24];
    char program[PATH_MAX + 32], plugin[PATH_MAX], attempt[24], cores[24], memory[32], every[16];
} pl_batch_words;

/* A setting in seconds, as ms. */
int64_t pl_batch_ms(const pl_batch *batch, pl_batch_number which);
/* Fills in `words`. */
void pl_batch_worker_words(const pl_batch *batch, const pl_batch_entry *entry,
                           pl_batch_words *words);
/* Memory that a session's job asks for, MB. */
double pl_batch_memory_mb(const pl_session *session);
/* Submit an entry that no query shows yet. */
void pl_batch_submit(pl_batch *batch, pl_batch_entry *entry);
/* True with `job`; false with `error`. */
bool pl_batch_send(pl_batch *batch, pl_batch_request *request);
/* How long to wait after a failed request; counts it. */
int64_t pl_batch_backoff_ms(const pl_batch_request *request, int *failures);
/* Run `cancel` or `signal` on a job; `id` is that of its session or pilot. */
void pl_batch_tell(pl_batch *batch, const char *id, const char *job, pl_batch_verb verb);
/* True if an earlier daemon's submission is still in progress, for the session or pilot with this directory. */
bool pl_batch_being_submitted(const char *directory);
/* True if any submission was begun, for any attempt; its job (may be NULL), or "" if unknown. */
bool pl_batch_was_submitted(const char *directory, char job[PL_BATCH_ID_MAX]);
/* Count good queries that began after that moment and do not show the job (NULL: it is not listed) alive. True if they
 * prove its end. */
bool pl_batch_gone(const pl_batch *batch, pl_batch_absence *absence, int64_t after_ms,
                   const pl_batch_job *job, int64_t now);
/* True if a good query began after that moment; otherwise one is made soon. */
bool pl_batch_known(pl_batch *batch, int64_t after_ms, int64_t now);
/* Set the reason why it waits. */
__attribute__((format(printf, 3, 4))) void
pl_batch_say(pl_batch *batch, const pl_batch_entry *entry, const char *format, ...);
/* Carry out the next action for an entry. False when it is finished and must be removed. */
bool pl_batch_advance(pl_batch *batch, pl_batch_entry *entry, int64_t now);

#endif
