/* lifecycle.h - what a session's owner may ask of it: cancel, pause, resume, steps, controls. Each is idempotent, is
 * written to control.log before it is answered for, and may be called from any thread.
 */
#ifndef PLIANT_SERVER_RUN_LIFECYCLE_H
#define PLIANT_SERVER_RUN_LIFECYCLE_H

#include "server/run/executor.h"

/* 0: done, or on its way; EALREADY: the session is over (pause and resume: or about to be), so that
 * it cannot be had; else why control.log could not be written. */
int pl_lifecycle_cancel(pl_sessions *sessions, pl_executor *executor, pl_session *session);
int pl_lifecycle_pause(pl_sessions *sessions, pl_executor *executor, pl_session *session);
int pl_lifecycle_resume(pl_sessions *sessions, pl_executor *executor, pl_session *session);
/* Go on for so many frames, and pause: *until is the frame. */
int pl_lifecycle_step(pl_sessions *sessions, pl_executor *executor, pl_session *session,
                      int64_t frames, int64_t *until);
/* Give it a control that was judged, a JSON text; *number is what it is called by. EFBIG: it had as many
 * as it takes. */
int pl_lifecycle_control(pl_sessions *sessions, pl_session *session, const char *control,
                         int64_t *number);

#endif
