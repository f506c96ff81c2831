/* watch.h - learns of new frames: inotify on the log directories of running sessions, one thread. A directory that
 * cannot be watched is polled every 50 to 500 ms; on a network file system, every 50 to 150 ms.
 */
#ifndef PLIANT_SERVER_STREAMS_WATCH_H
#define PLIANT_SERVER_STREAMS_WATCH_H

#include "server/run/log_follower.h"
#include "server/sessions/sessions.h"

typedef struct pl_watch pl_watch;

pl_watch *pl_watch_create(pl_sessions *sessions);
void pl_watch_destroy(pl_watch *watch);

/* Both as the executor's interface. */
pl_log_follower pl_watch_follower(pl_watch *watch);

#endif
