/* removal.h - taking sessions and half-made directories away. */
#ifndef PLIANT_SERVER_SESSIONS_REMOVAL_H
#define PLIANT_SERVER_SESSIONS_REMOVAL_H

#include "server/sessions/sessions.h"

/* Remove a directory and all in it; symbolic links are removed, not followed. Missing is fine.
 * 0, or an errno. */
int pl_remove_tree(int parent_fd, const char *name);

/* Remove a session that no worker runs: its row, its place in the table (streams end with reason
 * deleted), its directory. False where the database refused; nothing is removed then. */
bool pl_removal_run(pl_sessions *sessions, pl_session *session);
/* The same in the pool for file work. */
void pl_removal_start(pl_sessions *sessions, pl_session *session);
/* Remove every session whose output.retention.days after its end are over. */
void pl_removal_sweep(pl_sessions *sessions);

#endif
