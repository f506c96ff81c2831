/* session_enter.h - enters a session directory: lock, fence, worker.log, sandbox; and reserves a few disk blocks for
 * the end.
 */
#ifndef PLIANT_SERVER_WORKER_SESSION_ENTER_H
#define PLIANT_SERVER_WORKER_SESSION_ENTER_H

#include "server/worker/session_options.h"

typedef struct pl_session_entry {
    int directory, lock;   /* descriptors, -1: not obtained */
    int log;               /* for its log lines */
    double started;        /* s, monotonic */
    pl_worker_exit result; /* the directory may be written only with PL_WORKER_SUCCEEDED */
} pl_session_entry;

/* Enter all [count] directories; rejected ones are skipped. If there is only one, its worker.log becomes standard
 * error. */
void pl_session_enter(const pl_session_options *options, int count, pl_session_entry *out);

/* Reserve a few blocks in a file, and release them, so that the log can be sealed and exit.json written on a full
 * disk. */
void pl_session_reserve(int directory);
void pl_session_reserve_free(int directory);

#endif
