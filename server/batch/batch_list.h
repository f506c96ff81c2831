/* batch_list.h - what a query has shown: the daemon's jobs, each with its state, place and expected start. Pure. */
#ifndef PLIANT_SERVER_BATCH_BATCH_LIST_H
#define PLIANT_SERVER_BATCH_BATCH_LIST_H

#include "server/batch/batch_system.h"

#include <stdint.h>

enum { PL_BATCH_ID_MAX = 64, PL_BATCH_NAME_MAX = 72 };

typedef struct pl_batch_job {
    char id[PL_BATCH_ID_MAX];
    char session[33]; /* from its name: the session, or the pilot */
    int64_t attempt;  /* as well: the first that it was submitted for; of a pilot 1 */
    char word[32];    /* its state */
    pl_batch_phase phase;
    char reason[120];
    int64_t start;    /* expected, s since 1970; -1: not known */
    double priority;  /* larger ones go first */
    int64_t position; /* among those that are pending, from 1; 0: it is not */
} pl_batch_job;

typedef struct pl_batch_list {
    pl_batch_job *jobs; /* malloc'ed, by session */
    size_t count;
} pl_batch_list;

/* "pliant-SESSION-ATTEMPT": the name by which a job is found again. */
void pl_batch_job_name(const char *session, int64_t attempt, char out[PL_BATCH_NAME_MAX]);

/* "pliant-pilot-ID": that of a job for many sessions. */
void pl_batch_pilot_name(const char *pilot, char out[PL_BATCH_NAME_MAX]);

/* Jobs of other names are left out. False where a line has no job, name or state, or without memory: then nothing is
 * known. Changes the text. */
bool pl_batch_list_read(const pl_batch_system *system, char *text, pl_batch_list *out);
void pl_batch_list_clear(pl_batch_list *list);
/* NULL: none. */
const pl_batch_job *pl_batch_list_find(const pl_batch_list *list, const char *id);
/* The session's next job that has not ended, after `last`, or the first (NULL). */
const pl_batch_job *pl_batch_list_live(const pl_batch_list *list, const char *session,
                                       const pl_batch_job *last);
/* Whether it may still run, or is in a state that nothing follows from. */
bool pl_batch_job_lives(const pl_batch_job *job);

#endif
