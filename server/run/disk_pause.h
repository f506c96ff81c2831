/* disk_pause.h - sessions that the daemon pauses because the disk is full or cannot be written, and resumes when it can. */
#ifndef PLIANT_SERVER_RUN_DISK_PAUSE_H
#define PLIANT_SERVER_RUN_DISK_PAUSE_H

#include "server/base/disk.h"
#include "server/sessions/sessions.h"

/* The worker of a running session has ended; the lifecycle mutex is held or nobody else has the session. `why` the disk
 * cannot be written, NULL: it is full. `recovery` may be NULL. */
void pl_disk_pause_session(pl_sessions *sessions, pl_session *session, const char *why,
                           const pl_recovery *recovery);
/* There is room again: queue what was paused for it. */
void pl_disk_pause_end(pl_sessions *sessions);
/* Why a queued session waits while the disk is full; false where it is not. */
bool pl_disk_pause_place(const pl_disk *disk, pl_queue_place *out);

#endif
