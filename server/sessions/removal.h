/* removal.h - removes sessions and half-made directories. */
#ifndef PLIANT_SERVER_SESSIONS_REMOVAL_H
#define PLIANT_SERVER_SESSIONS_REMOVAL_H

#include "server/sessions/sessions.h"

/* Remove a directory with its contents; symbolic links are removed, not followed. A missing directory is fine. 0, or an
 * errno. */
int pl_remove_tree(int parent_fd, const char *name);

/* Remove a session without a worker: its row, its entry in the table (streams end with reason deleted), its directory.
 * False if the database failed; then nothing is removed. */
bool pl_removal_run(pl_sessions *sessions, pl_session *session);
/* The same, in the pool for file work. */
void pl_removal_start(pl_sessions *sessions, pl_session *session);
/* Remove every session that ended more than output.retention.days ago. */
void pl_removal_sweep(pl_sessions *sessions);

#endif
