/* adoption.h - takes over sessions that waited, ran or may have run under an earlier daemon. */
#ifndef PLIANT_SERVER_RUN_ADOPTION_H
#define PLIANT_SERVER_RUN_ADOPTION_H

#include "server/run/executor.h"

/* Watch the session's worker if it lives; otherwise conclude the session by its exit.json or, without one, by the crash
 * rule. control.log outranks the session's row. Call it before the daemon is ready: until then nothing is started. */
void pl_executor_adopt(pl_executor *executor, pl_session *session);

/* The same for a session on this machine. */
void pl_executor_adopt_worker(pl_executor *executor, pl_session *session);

#endif
