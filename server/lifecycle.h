/* lifecycle.h - what a session's owner may ask of it: cancel, pause, resume. Each is idempotent, is
 * written to control.log before it is answered for, and may be called from any thread.
 */
#ifndef PLIANT_SERVER_LIFECYCLE_H
#define PLIANT_SERVER_LIFECYCLE_H

#include "server/sessions.h"

/* 0: done, or on its way; EALREADY: the session is over (pause and resume: or about to be), so that
 * it can not be had; else why control.log could not be written. */
int pl_lifecycle_cancel(pl_daemon *daemon, pl_session *session);
int pl_lifecycle_pause(pl_daemon *daemon, pl_session *session);
int pl_lifecycle_resume(pl_daemon *daemon, pl_session *session);

#endif
