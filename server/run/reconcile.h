/* reconcile.h - at start: the database's rows and the session directories are brought together, and
 * what ran is taken up again. */
#ifndef PLIANT_SERVER_RUN_RECONCILE_H
#define PLIANT_SERVER_RUN_RECONCILE_H

#include "server/sessions/sessions.h"

/* Call see(context, parent_fd, "PATH/xx", name) for each entry of each folder below STATE/PATH. */
void pl_each_below(int state_fd, const char *path,
                   void (*see)(void *context, int parent_fd, const char *path, const char *name),
                   void *context);

/* Loads every session into the table; removes directories without row and half-made ones; rows
 * without directory become failed `storage_lost`; adopts or concludes what was running, and checks
 * again what was checking. A row whose checksum does not fit is rebuilt from its directory; as such
 * a row may be the one of any directory without, none is removed then. 0, or -1 with a line in the
 * log. */
int pl_reconcile(pl_daemon *daemon);

#endif
