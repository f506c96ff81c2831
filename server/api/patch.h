/* patch.h - PATCH of a session: its name, labels and other notes, changed under If-Match. */
#ifndef PLIANT_SERVER_API_PATCH_H
#define PLIANT_SERVER_API_PATCH_H

#include "server/http/http.h"
#include "server/sessions/session.h"

void pl_handle_patch(pl_request *r); /* PL_RUN_FILES */

/* Reply with the session as a document and its ETag. */
void pl_reply_session(pl_request *r, int status, pl_session *session);

#endif
