/* ending.h - decides what becomes of a session whose worker has ended: by its exit.json if it left one for this
 * attempt, otherwise by the crash rule of README.md.
 */
#ifndef PLIANT_SERVER_RUN_ENDING_H
#define PLIANT_SERVER_RUN_ENDING_H

#include "server/run/worker_setup.h"

/* Why the daemon killed a worker. */
typedef enum pl_kill {
    PL_KILL_NONE,
    PL_KILL_DEAF,       /* it did not react to a request within --patience */
    PL_KILL_ALONG,      /* together with another session, whose process it shared */
    PL_KILL_TIME_LIMIT, /* it exceeded its time limit and did not end by itself */
    PL_KILL_STALLED,    /* it made no progress for the longer time of --stalled-after */
} pl_kill;

/* End of a job as the batch system reports it. */
typedef enum pl_job_end {
    PL_JOB_NONE,      /* not a job */
    PL_JOB_ENDED,     /* by itself, or unknown */
    PL_JOB_LOST,      /* its node failed, or it was preempted: not the session's fault */
    PL_JOB_OVERTIME,  /* the batch system's time limit was reached */
    PL_JOB_CANCELLED, /* not by the daemon */
} pl_job_end;

typedef struct pl_ending {
    bool status_known; /* it was a child: status is as waitpid gives it */
    int status;
    int64_t frame; /* last committed; -1: none */
    pl_kill kill;
    bool out_of_memory; /* the kernel killed a process for memory while it ran */
    bool found;         /* it ended while no daemon watched */
    bool rebooted;      /* and the machine was restarted since */
    pl_job_end job;
    const char *job_state; /* in words, for messages; NULL: not a job */
} pl_ending;

void pl_ending_conclude(const pl_worker_setup *setup, pl_session *session, const pl_ending *how);

#endif
