/* watch.h - learns of new frames: inotify on the log directories of running sessions, one thread.
 * A directory that cannot be watched is looked at every 50 to 500 ms.
 */
#ifndef PLIANT_SERVER_STREAMS_WATCH_H
#define PLIANT_SERVER_STREAMS_WATCH_H

#include "server/run/log_follower.h"
#include "server/sessions/sessions.h"

typedef struct pl_watch pl_watch;

pl_watch *pl_watch_create(pl_sessions *sessions);
void pl_watch_destroy(pl_watch *watch);

/* Follow a session's log until pl_watch_finish: each new frame sets its progress and wakes its
 * watchers. */
void pl_watch_start(pl_watch *watch, pl_session *session);
/* Stop following; reads the log's end once more. Returns the last committed frame, -1 none. */
int64_t pl_watch_finish(pl_watch *watch, pl_session *session);

/* The two as what the executor calls. */
pl_log_follower pl_watch_follower(pl_watch *watch);

#endif
