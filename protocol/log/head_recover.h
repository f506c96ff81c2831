/* head_recover.h - the chain of segments without head.json: what the segments themselves say.
 *
 * A segment's name tells attempt and number, its first good record the frame it begins with. Going
 * back from the newest (highest attempt, then number), a segment supplies the frames from its first
 * to before the first of what was taken last; one that begins no earlier is what a stale worker
 * wrote, which no head listed, and is left out. Frames that no segment has are gaps of the chain.
 */
#ifndef PLIANT_PROTOCOL_LOG_HEAD_RECOVER_H
#define PLIANT_PROTOCOL_LOG_HEAD_RECOVER_H

#include "protocol/log/session_dir.h"

/* Rebuild the chain from log/. The last segment is open, `attempt` the highest that any name shows.
 * PL_IO with errno ENOENT where there is no segment, EBADMSG where they make no chain. */
pl_status pl_head_recover(int dir_fd, pl_head *out);

/* pl_head_read, or where head.json is damaged, or is missing though there are segments, what
 * pl_head_recover finds; *recovered (may be NULL) says which. PL_IO with errno ENOENT: no log yet. */
pl_status pl_head_load(int dir_fd, pl_head *out, bool *recovered);

#endif
