/* head_recover.h - the chain of segments without head.json, rebuilt from the segments themselves.
 *
 * A segment's name tells attempt and number, its first good record the frame at which it begins. Going back from
 * the newest (highest attempt, then number), a segment supplies the frames from its first up to the start of the
 * segment taken before it. A segment that does not begin earlier was written by a stale worker, was in no head, and
 * is left out. Frames that no segment has are gaps of the chain.
 */
#ifndef PLIANT_PROTOCOL_LOG_HEAD_RECOVER_H
#define PLIANT_PROTOCOL_LOG_HEAD_RECOVER_H

#include "protocol/log/session_dir.h"

/* Rebuilds the chain from log/. The last segment is open; `attempt` is the highest in any name. PL_IO with errno
 * ENOENT if there are no segments, EBADMSG if they do not form a chain. */
pl_status pl_head_recover(int dir_fd, pl_head *out);

/* pl_head_read; if head.json is damaged, or is missing although there are segments, pl_head_recover. *recovered
 * (may be NULL) says which. PL_IO with errno ENOENT: no log yet. */
pl_status pl_head_load(int dir_fd, pl_head *out, bool *recovered);

#endif
