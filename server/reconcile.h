/* reconcile.h - at start: the database's rows and the session directories are brought together, and
 * what ran is taken up again. */
#ifndef PLIANT_SERVER_RECONCILE_H
#define PLIANT_SERVER_RECONCILE_H

#include "server/daemon.h"

/* Loads every session into the table; removes directories without row and half-made ones; rows
 * without directory become failed `storage_lost`; adopts or concludes what was running, and checks
 * again what was checking. 0, or -1 with a line in the log. */
int pl_reconcile(pl_daemon *daemon);

#endif
