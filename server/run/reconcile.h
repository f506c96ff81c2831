/* reconcile.h - at start: the database's rows and the session directories are brought together, and
 * what ran is taken up again. */
#ifndef PLIANT_SERVER_RUN_RECONCILE_H
#define PLIANT_SERVER_RUN_RECONCILE_H

#include "server/run/check_queue.h"
#include "server/run/dispatcher.h"
#include "server/run/executor.h"
#include "server/sessions/sessions.h"

/* Call see(context, parent_fd, "PATH/xx", name) for each entry of each folder below STATE/PATH. */
void pl_each_below(int state_fd, const char *path,
                   void (*see)(void *context, int parent_fd, const char *path, const char *name),
                   void *context);

/* Loads every session into the table; removes directories without row and half-made ones. A row whose
 * checksum does not fit is rebuilt from its directory; as such a row may be the one of any directory
 * without, none is removed then. 0, or -1 with a line in the log. */
int pl_reconcile(const char *state_path, int state_fd, pl_store *store, pl_sessions *sessions);
/* Takes up what was loaded: fails rows without directory as `storage_lost`, adopts or concludes what
 * was running, checks again what was checking, and removes what was to be removed. */
void pl_reconcile_take_up(pl_sessions *sessions, pl_dispatcher *dispatcher,
                          pl_check_queue *check_queue, pl_executor *executor);

#endif
