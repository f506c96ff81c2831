/* tail.h - the end of a running session's log: one reader that has followed it from the worker's start,
 * for all who want the newest frame. A reader of one's own would have to go through the index of the
 * open segment first. Its mutex is innermost and held while a record is read.
 */
#ifndef PLIANT_SERVER_STREAMS_TAIL_H
#define PLIANT_SERVER_STREAMS_TAIL_H

#include "protocol/log/log.h"
#include "server/sessions/session.h"

/* Begin and end: the watch's. */
pl_status pl_tail_open(pl_session *session, int dir_fd);
void pl_tail_close(pl_session *session);
/* Look again: frames that are committed; where they are more than `known`, *time becomes that of the
 * last, if it can be read. -1 where there is no tail. */
int64_t pl_tail_refresh(pl_session *session, int64_t known, double *time);

/* A record's head and payload (malloc'ed, its CRC checked). PL_LOG_NOT_YET also where there is no tail. */
pl_log_outcome pl_tail_read(pl_session *session, int64_t frame, pl_log_part part, pl_record *record,
                            char **payload);

/* A reader of a session's log; *out stays as it is where there is one already. False with errno. */
bool pl_session_log_open(const pl_session *session, pl_log_reader **out);

#endif
