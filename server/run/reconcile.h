/* reconcile.h - at start, makes the database's rows and the session directories agree, and takes over running
 * sessions. */
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

/* Load every session into the table; remove directories without a row, and incomplete ones. A row with a wrong checksum
 * is rebuilt from its directory; since such a row may belong to any directory without a row, none is removed in that
 * case. 0, or -1 with a line in the log. */
int pl_reconcile(const char *state_path, int state_fd, pl_store *store, pl_sessions *sessions);
/* Process the loaded sessions: rows without a directory fail as `storage_lost`; running sessions are adopted or
 * concluded; sessions in `checking` are checked again; pending removals are done. */
void pl_reconcile_take_up(pl_sessions *sessions, pl_dispatcher *dispatcher,
                          pl_check_queue *check_queue, pl_executor *executor);

#endif
