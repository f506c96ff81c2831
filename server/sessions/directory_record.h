/* directory_record.h - session.json and verdict.json in a session directory, sealed (protocol/log/sealed.h), so that
 * the directory alone has the information of the database's row (`pliantd --reindex`).
 *
 *   session.json   {"format": 1, "id", "owner", "group" (if it has one), "name", "created_us", "labels",
 *                  "metadata", "webhook", "priority", "revision", "retention"}: written before the reply, replaced
 *                  by PATCH
 *   verdict.json   {"format": 1, "attempt", "state", "reason", "message", "failure"}: how a session ended that no
 *                  worker's exit.json ended: rejected, cancelled while it waited, crashed too often
 */
#ifndef PLIANT_SERVER_SESSIONS_DIRECTORY_RECORD_H
#define PLIANT_SERVER_SESSIONS_DIRECTORY_RECORD_H

#include "engine/scene/fault.h"
#include "server/sessions/sessions.h"

/* Write the row's id, owner, creation time and notes. Without `durable`: in a new directory, which is synced as a
 * whole. */
pl_status pl_identity_write(int dir_fd, const pl_row *row, bool durable);
/* Read the same members, malloc'ed; revision is -1 if an older daemon wrote the file, without notes. PL_IO with errno
 * ENOENT or EBADMSG (also for another session's file); the row is then unchanged. */
pl_status pl_identity_read(int dir_fd, const char *id, pl_row *row);

/* End a session by the daemon's decision: pl_sessions_move and, if that was allowed, a synced verdict.json. Failure to
 * write the record is only logged. */
bool pl_directory_record_move(pl_sessions *sessions, pl_session *session, pl_session_state to,
                              const pl_move *what);
pl_status pl_directory_record_read(int dir_fd, pl_row *row);

#endif
