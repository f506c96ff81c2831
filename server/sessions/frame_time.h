/* frame_time.h - the simulated time of a frame, from its record in the log. */
#ifndef PLIANT_SERVER_SESSIONS_FRAME_TIME_H
#define PLIANT_SERVER_SESSIONS_FRAME_TIME_H

#include "protocol/log/log.h"

/* `fallback` if the frame cannot be read. */
double pl_frame_time(pl_log_reader *reader, int64_t frame, double fallback);

#endif
