/* snapshots.h - named, kept states of a session (protocol/log/snapshot.h): a branch point (branch_point.h) that neither
 * retention nor later checkpoints remove, and from which a branch can begin. The daemon makes them by linking the
 * worker's checkpoint, so that making one never waits for a worker.
 */
#ifndef PLIANT_SERVER_SESSIONS_SNAPSHOTS_H
#define PLIANT_SERVER_SESSIONS_SNAPSHOTS_H

#include "server/sessions/branch_point.h"

void pl_handle_snapshots(pl_request *r);
void pl_handle_snapshot_create(pl_request *r);
void pl_handle_snapshot(pl_request *r);
void pl_handle_snapshot_delete(pl_request *r);

/* The branch point given by a snapshot of the session in dir_fd; false after replying. The snapshot's checkpoint is
 * linked below the state directory's incoming/. */
bool pl_snapshot_find(pl_request *r, int state_fd, int dir_fd, const char *name,
                      pl_branch_point *out);

#endif
