/* access.h - the session that a request is about: the one place where a handler gets one. */
#ifndef PLIANT_SERVER_SESSIONS_ACCESS_H
#define PLIANT_SERVER_SESSIONS_ACCESS_H

#include "server/http/http.h"
#include "server/sessions/sessions.h"

/* The session of the path's first {...} with a reference, or NULL after replying: 404 where there is
 * none, or none that whoever asks may see; 403 where they may see it but not do what is `needed`. */
pl_session *pl_request_session(pl_request *r, pl_access needed);

/* The group of ?group= into *out (NULL where it is not given), or false after replying 403: it must be one that
 * whoever asks belongs to. */
bool pl_request_group(pl_request *r, const char **out);

/* Reply 409 to who asks for what only a session can do that has not ended and is not ending: "paused". */
void pl_reply_session_over(pl_request *r, const pl_session *session, const char *verb);

#endif
