/* patch.h - PATCH of a session: what its owner says about it, changed under If-Match. */
#ifndef PLIANT_SERVER_API_PATCH_H
#define PLIANT_SERVER_API_PATCH_H

#include "server/http/http.h"
#include "server/sessions/session.h"

void pl_handle_patch(pl_request *r); /* PL_RUN_FILES */

/* The ETag of a session's document. It names the revision of what can be changed, and not the
 * progress, so that it is good for If-Match and never for a cache. */
void pl_reply_revision(pl_request *r, int64_t revision);
/* The session as a document, with that header. */
void pl_reply_session(pl_request *r, int status, pl_session *session);

#endif
