/* tail.h - the end of a running session's log: one reader that follows it from the worker's start, shared by all who
 * want the newest frame. A separate reader would first have to read the index of the open segment. Its mutex is
 * innermost and held while a record is read.
 */
#ifndef PLIANT_SERVER_STREAMS_TAIL_H
#define PLIANT_SERVER_STREAMS_TAIL_H

#include "protocol/log/log.h"
#include "server/sessions/session.h"

/* Open and close; only the watch calls these. */
pl_status pl_tail_open(pl_session *session, int dir_fd);
void pl_tail_close(pl_session *session);
/* Look again and return the number of committed frames; if more than `known`, *time becomes the time of the last, if
 * readable. -1: no tail. */
int64_t pl_tail_refresh(pl_session *session, int64_t known, double *time);

/* A record's head and payload (malloc'ed, its CRC checked). PL_LOG_NOT_YET also without a tail. */
pl_log_outcome pl_tail_read(pl_session *session, int64_t frame, pl_log_part part, pl_record *record,
                            char **payload);

/* Open a reader of a session's log, unless *out already has one. False with errno. */
bool pl_session_log_open(const pl_session *session, pl_log_reader **out);

#endif
