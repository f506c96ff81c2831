/* watch.h - learns of new frames: inotify on the log directories of running sessions, one thread. A directory that
 * cannot be watched is polled every 50 to 500 ms; on a network file system, every 50 to 150 ms. A log is read once for
 * each frame: when its index is written, or else 50 ms after its segment has grown. Files that the worker replaces are
 * looked at when one was.
 */
#ifndef PLIANT_SERVER_STREAMS_WATCH_H
#define PLIANT_SERVER_STREAMS_WATCH_H

#include "server/base/counters.h"
#include "server/run/log_follower.h"
#include "server/sessions/sessions.h"

typedef struct pl_watch pl_watch;

pl_watch *pl_watch_create(pl_sessions *sessions, pl_counters *counters);
void pl_watch_destroy(pl_watch *watch);

/* Both as the executor's interface. */
pl_log_follower pl_watch_follower(pl_watch *watch);

#endif
