/* snapshots.h - states of a session that are kept by name (protocol/log/snapshot.h): a branch point
 * (branch_point.h) that neither retention nor later checkpoints take away, and that a branch can begin with. The daemon makes them, with
 * a link to the worker's checkpoint, so none has to wait for a worker.
 */
#ifndef PLIANT_SERVER_SESSIONS_SNAPSHOTS_H
#define PLIANT_SERVER_SESSIONS_SNAPSHOTS_H

#include "server/sessions/branch_point.h"

void pl_handle_snapshots(pl_request *r);
void pl_handle_snapshot_create(pl_request *r);
void pl_handle_snapshot(pl_request *r);
void pl_handle_snapshot_delete(pl_request *r);

/* What a branch begins with by a snapshot of the session in dir_fd; false after replying. The
 * snapshot's checkpoint is linked below the state directory's incoming/. */
bool pl_snapshot_find(pl_request *r, int state_fd, int dir_fd, const char *name,
                      pl_branch_point *out);

#endif
