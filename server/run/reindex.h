/* reindex.h - `pliantd --reindex`: the database rebuilt from the session directories, while no daemon
 * runs on the state. */
#ifndef PLIANT_SERVER_RUN_REINDEX_H
#define PLIANT_SERVER_RUN_REINDEX_H

#include "server/sessions/sessions.h"

/* Moves the database aside and writes a new one, telling of it on standard output. The daemon has
 * its state open and locked, and no other part. 0, or -1 with a line in the log. */
int pl_reindex(pl_daemon *daemon);

#endif
