/* access.h - finds the session of a request; handlers get sessions only here. */
#ifndef PLIANT_SERVER_SESSIONS_ACCESS_H
#define PLIANT_SERVER_SESSIONS_ACCESS_H

#include "server/http/http.h"
#include "server/sessions/sessions.h"

/* The session of the path's first {...} with a reference, or NULL after replying: 404 if it does not exist or the
 * caller may not see it; 403 if they may see it but lack the access `needed`. */
pl_session *pl_request_session(pl_request *r, pl_access needed);

/* The group of ?group= in *out (NULL if not given); false after replying 403: the caller must belong to it. */
bool pl_request_group(pl_request *r, const char **out);

/* Reply 409 to a request that only a session can carry out that has not ended and is not ending: "paused". */
void pl_reply_session_over(pl_request *r, const pl_session *session, const char *verb);

#endif
