/* log_follower.h - what the executor has done with a session's log while a worker writes it: the
 * room of streams, which comes later, provides it.
 */
#ifndef PLIANT_SERVER_RUN_LOG_FOLLOWER_H
#define PLIANT_SERVER_RUN_LOG_FOLLOWER_H

#include "server/sessions/session.h"

typedef struct pl_log_follower {
    void *context;
    /* Before the worker starts: each new frame sets the session's progress from now on. */
    void (*start)(void *context, pl_session *session);
    /* After it has ended; returns the last committed frame, -1 none. */
    int64_t (*finish)(void *context, pl_session *session);
} pl_log_follower;

#endif
