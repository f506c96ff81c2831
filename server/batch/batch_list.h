/* batch_list.h - the daemon's jobs as a query lists them, each with its state, position and expected start. Pure. */
#ifndef PLIANT_SERVER_BATCH_BATCH_LIST_H
#define PLIANT_SERVER_BATCH_BATCH_LIST_H

#include "server/batch/batch_system.h"

#include <stdint.h>

enum { PL_BATCH_ID_MAX = 64, PL_BATCH_NAME_MAX = 72 };

typedef struct pl_batch_job {
    char id[PL_BATCH_ID_MAX];
    char session[33]; /* from its name: the session, or the pilot */
    /* also from its name: the first attempt that it was submitted for; 1 for a pilot */
    int64_t attempt;
    char word[32]; /* its state */
    pl_batch_phase phase;
    char reason[120];
    int64_t start;    /* expected, s since 1970; -1: unknown */
    double priority;  /* larger ones go first */
    int64_t position; /* among pending jobs, from 1; 0: not pending */
} pl_batch_job;

typedef struct pl_batch_list {
    pl_batch_job *jobs; /* malloc'ed, by session */
    size_t count;
} pl_batch_list;

/* "pliant-SESSION-ATTEMPT": the name that identifies a job. */
void pl_batch_job_name(const char *session, int64_t attempt, char out[PL_BATCH_NAME_MAX]);

/* "pliant-pilot-ID": that of a job for many sessions. */
void pl_batch_pilot_name(const char *pilot, char out[PL_BATCH_NAME_MAX]);

/* Jobs with other names are ignored. False if a line lacks job, name or state, or if out of memory; then nothing is
 * known. Changes the text. */
bool pl_batch_list_read(const pl_batch_system *system, char *text, pl_batch_list *out);
void pl_batch_list_clear(pl_batch_list *list);
/* Find a job by id; NULL if missing. */
const pl_batch_job *pl_batch_list_find(const pl_batch_list *list, const char *id);
/* The session's next live job after `last`, or its first if `last` is NULL. */
const pl_batch_job *pl_batch_list_live(const pl_batch_list *list, const char *session,
                                       const pl_batch_job *last);
/* True if the job may still run, or its state is unknown. */
bool pl_batch_job_lives(const pl_batch_job *job);

#endif
