/* directory_record.h - session.json and verdict.json in a session directory, sealed (protocol/log/sealed.h), so that
 * the directory alone tells what the database's row tells (`pliantd --reindex`).
 *
 *   session.json   {"format": 1, "id", "owner", "group" (where it has one), "name", "created_us", "labels",
 *                  "metadata", "webhook", "priority", "revision", "retention"}: written before the session is answered for, replaced
 *                  by PATCH
 *   verdict.json   {"format": 1, "attempt", "state", "reason", "message", "failure"}: how a session ended that no
 *                  worker's exit.json ended: refused, cancelled while it waited, crashed too often
 */
#ifndef PLIANT_SERVER_SESSIONS_DIRECTORY_RECORD_H
#define PLIANT_SERVER_SESSIONS_DIRECTORY_RECORD_H

#include "engine/scene/fault.h"
#include "server/sessions/sessions.h"

/* Of the row's id, owner, creation and notes. Not `durable`: in a new directory, which is synced as a whole. */
pl_status pl_identity_write(int dir_fd, const pl_row *row, bool durable);
/* Into the same members, malloc'ed; revision is -1 where an older daemon wrote it, without notes. PL_IO with errno ENOENT or EBADMSG (also where it is another
 * session's); the row is untouched then. */
pl_status pl_identity_read(int dir_fd, const char *id, pl_row *row);

/* End a session by the daemon's own word: pl_sessions_move, and where that was allowed verdict.json,
 * brought to the disk. A record that cannot be written is said in the log only. */
bool pl_directory_record_move(pl_sessions *sessions, pl_session *session, pl_session_state to,
                              const pl_move *what);
pl_status pl_directory_record_read(int dir_fd, pl_row *row);

#endif
