/* reindex.h - `pliantd --reindex`: rebuilds the database from the session directories while no daemon runs on the
 * state. */
#ifndef PLIANT_SERVER_RUN_REINDEX_H
#define PLIANT_SERVER_RUN_REINDEX_H

#include "server/base/counters.h"

#include <stdbool.h>

/* Move the database of a state directory aside and write a new one, reporting on standard output. The directory is open
 * and locked. 0, or -1 with a line in the log. */
int pl_reindex(const char *state_path, int state_fd, pl_counters *counters);
/* True if the state has no session, usage or tenant that a new database would lack. */
bool pl_reindex_is_new(int state_fd);

#endif
