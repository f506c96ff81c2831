/* log_follower.h - the executor's interface for following a session's log while a worker writes it; streams/, a later
 * room, provides it.
 */
#ifndef PLIANT_SERVER_RUN_LOG_FOLLOWER_H
#define PLIANT_SERVER_RUN_LOG_FOLLOWER_H

#include "server/sessions/session.h"

typedef struct pl_log_follower {
    void *context;
    /* Call it before the worker starts: each new frame then updates the session's progress. */
    void (*start)(void *context, pl_session *session);
    /* Call it after the worker has ended; returns the last committed frame, -1: none. */
    int64_t (*finish)(void *context, pl_session *session);
} pl_log_follower;

#endif
