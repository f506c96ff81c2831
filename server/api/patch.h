/* patch.h - PATCH of a session: what its owner says about it, changed under If-Match. */
#ifndef PLIANT_SERVER_API_PATCH_H
#define PLIANT_SERVER_API_PATCH_H

#include "server/http/http.h"
#include "server/sessions/session.h"

void pl_handle_patch(pl_request *r); /* PL_RUN_FILES */

/* The session as a document, with that header. */
void pl_reply_session(pl_request *r, int status, pl_session *session);

#endif
