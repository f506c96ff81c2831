/* retention.h - changes which frames of a session are kept, after submission. The worker reads the change from
 * control.log, so that it also holds for later attempts; the daemon itself enforces the days.
 *
 * Frames dropped by a change are lost for good. Such a change is therefore rejected, with the list of these frames,
 * unless the request has `prune=true`.
 */
#ifndef PLIANT_SERVER_SESSIONS_RETENTION_H
#define PLIANT_SERVER_SESSIONS_RETENTION_H

#include "protocol/scene/notes.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"

/* The retention in effect if the row, written by an earlier daemon, lacks it: as in the scene. */
void pl_retention_recall(const pl_session *session, pl_notes *now);

/* True if the session's retention may change this way; false after replying. The caller holds its lifecycle mutex. */
bool pl_retention_allows(pl_request *r, const pl_session *session, const pl_notes *now,
                         const pl_notes *next);

/* Tell the worker, durably; 0 or errno. Does nothing if nothing changes or the session has ended. */
int pl_retention_tell(const pl_session *session, const pl_notes *now, const pl_notes *next);

#endif
