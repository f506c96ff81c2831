/* disk_pause.h - pauses sessions while the disk is full or unwritable, and resumes them afterwards. */
#ifndef PLIANT_SERVER_RUN_DISK_PAUSE_H
#define PLIANT_SERVER_RUN_DISK_PAUSE_H

#include "server/base/disk.h"
#include "server/sessions/sessions.h"

/* Pause a running session whose worker has ended. The caller holds the lifecycle mutex or is the only user of the
 * session. `why`: the disk's error, NULL if it is full. `recovery` may be NULL. */
void pl_disk_pause_session(pl_sessions *sessions, pl_session *session, const char *why,
                           const pl_recovery *recovery);
/* The disk has room again: queue the sessions that were paused for it. */
void pl_disk_pause_end(pl_sessions *sessions);
/* Why a queued session waits while the disk is full; false if it is not full. */
bool pl_disk_pause_place(const pl_disk *disk, pl_queue_place *out);

#endif
