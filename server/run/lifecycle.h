/* lifecycle.h - requests of a session's owner: cancel, pause, resume, steps, controls. Each is idempotent, is durable
 * in control.log before the reply, and may be called from any thread.
 */
#ifndef PLIANT_SERVER_RUN_LIFECYCLE_H
#define PLIANT_SERVER_RUN_LIFECYCLE_H

#include "server/run/executor.h"

/* 0: done, or in progress. EALREADY: the session has ended (pause and resume: or is about to end). Any other errno:
 * control.log could not be written. */
int pl_lifecycle_cancel(pl_sessions *sessions, pl_executor *executor, pl_session *session);
int pl_lifecycle_pause(pl_sessions *sessions, pl_executor *executor, pl_session *session);
int pl_lifecycle_resume(pl_sessions *sessions, pl_executor *executor, pl_session *session);
/* Run for so many frames, then pause; *until is that frame. */
int pl_lifecycle_step(pl_sessions *sessions, pl_executor *executor, pl_session *session,
                      int64_t frames, int64_t *until);
/* Add a control that was checked, a JSON text; *number is its number. EFBIG: the session has reached its limit of
 * controls. */
int pl_lifecycle_control(pl_sessions *sessions, pl_session *session, const char *control,
                         int64_t *number);

#endif
