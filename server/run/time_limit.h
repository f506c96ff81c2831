/* time_limit.h - when a running session reaches `resources.time_limit`: seconds of running over all attempts, as
 * recorded in checkpoints. The worker counts the same time and ends by itself between two steps; the supervisor kills
 * it if that takes longer than PL_TIME_LIMIT_GRACE_MS (worker_watch.h).
 */
#ifndef PLIANT_SERVER_RUN_TIME_LIMIT_H
#define PLIANT_SERVER_RUN_TIME_LIMIT_H

#include "server/sessions/session.h"

enum { PL_TIME_LIMIT_GRACE_MS = 1000 };

/* Seconds that the session ran before its next attempt, from its newest checkpoint; 0 without a checkpoint or a
 * limit. Reads the header of a file. */
double pl_time_limit_spent(const pl_session *session);
/* When the limit ends, on pl_monotonic_ms, for a worker that began `age` seconds ago after `spent` seconds of earlier
 * attempts; 0 without a limit. */
int64_t pl_time_limit_end(const pl_session *session, double spent, double age);

#endif
