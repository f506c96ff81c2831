/* session_enter.h - the way into a session directory: lock, fence, worker.log, sandbox; and the few
 * blocks that are held back for the way out.
 */
#ifndef PLIANT_SERVER_WORKER_SESSION_ENTER_H
#define PLIANT_SERVER_WORKER_SESSION_ENTER_H

#include "server/worker/session_options.h"

typedef struct pl_session_entry {
    int directory, lock;   /* descriptors, -1 where they were not got */
    int log;               /* where its lines go */
    double started;        /* s, monotonic */
    pl_worker_exit result; /* only with PL_WORKER_SUCCEEDED may the directory be written */
} pl_session_entry;

/* Enter the directories of all, [count]; those that are refused are left out. One's worker.log becomes the
 * standard error. */
void pl_session_enter(const pl_session_options *options, int count, pl_session_entry *out);

/* Hold a few blocks back in a file, so that the log can be sealed and exit.json written on a full
 * disk; and give them free. */
void pl_session_reserve(int directory);
void pl_session_reserve_free(int directory);

#endif
