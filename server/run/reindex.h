/* reindex.h - `pliantd --reindex`: the database rebuilt from the session directories, while no daemon
 * runs on the state. */
#ifndef PLIANT_SERVER_RUN_REINDEX_H
#define PLIANT_SERVER_RUN_REINDEX_H

#include "server/base/counters.h"

#include <stdbool.h>

/* Moves the database of a state directory aside and writes a new one, telling of it on standard
 * output. The directory is open and locked. 0, or -1 with a line in the log. */
int pl_reindex(const char *state_path, int state_fd, pl_counters *counters);
/* True if the state has no session, usage or tenant that a new database would lack. */
bool pl_reindex_is_new(int state_fd);

#endif
