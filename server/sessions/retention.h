/* retention.h - what is kept of a session's frames, changed after it was submitted: the worker gets it by
 * control.log, so that it holds for every later attempt, and the days are the daemon's own.
 *
 * Frames that a change lets go are gone for good, so one that would do that is refused, with what would go, unless
 * the request says `prune=true`.
 */
#ifndef PLIANT_SERVER_SESSIONS_RETENTION_H
#define PLIANT_SERVER_SESSIONS_RETENTION_H

#include "protocol/scene/notes.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"

/* What is in effect, where the row of an earlier daemon does not say it: as the scene has it. */
void pl_retention_recall(const pl_session *session, pl_notes *now);

/* Whether the session's retention may change so; false after replying. The caller holds its lifecycle mutex. */
bool pl_retention_allows(pl_request *r, const pl_session *session, const pl_notes *now,
                         const pl_notes *next);

/* Tell the worker, durably; 0 or errno. Nothing where it is the same, or the session is over. */
int pl_retention_tell(const pl_session *session, const pl_notes *now, const pl_notes *next);

#endif
