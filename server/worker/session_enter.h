/* session_enter.h - the way into a session directory: lock, fence, worker.log, sandbox; and the few
 * blocks that are held back for the way out.
 */
#ifndef PLIANT_SERVER_WORKER_SESSION_ENTER_H
#define PLIANT_SERVER_WORKER_SESSION_ENTER_H

#include "server/worker/session_run.h"

/* Descriptors of the directory and of its lock, -1 where they were not got. Only with
 * PL_WORKER_SUCCEEDED may the directory be written. */
pl_worker_exit pl_session_enter(const pl_session_options *options, int *directory, int *lock);

/* Hold a few blocks back in a file, so that the log can be sealed and exit.json written on a full
 * disk; and give them free. */
void pl_session_reserve(int directory);
void pl_session_reserve_free(int directory);

#endif
