/* log_prune.h - what of a log is kept: older frames are dropped by whole sealed segments, or thinned to
 * every n-th by writing a sealed segment again, without the other frame records. Metrics of a thinned
 * segment all stay. The open segment is never touched; whoever prunes holds the session's lock.
 *
 * Readers that have an old file open go on in it; readers of head.json know what is gone.
 */
#ifndef PLIANT_PROTOCOL_LOG_LOG_PRUNE_H
#define PLIANT_PROTOCOL_LOG_LOG_PRUNE_H

#include "protocol/log/session_dir.h"

/* Frames that are not among the `last` ones are older; 0: all but the open segment's. Of older frames
 * those stay that `every` divides; 0: none does, unless both are 0: then all stay. */
typedef struct pl_log_keep {
    int64_t last, every;
} pl_log_keep;
static inline bool pl_log_keeps_all(const pl_log_keep *keep)
{
    return keep->last <= 0 && keep->every <= 0;
}

/* Thin what is to be thinned of the chain of a log of so many frames: new files in place of the old
 * ones, synced, and *head says so. Then *dropped is how many segments at its beginning go. The head is
 * the caller's to publish, without them; then to call pl_log_prune_remove. PL_OK also where nothing
 * changed; PL_IO with errno, PL_NO_MEMORY: what was done until then is in *head. */
pl_status pl_log_prune(int dir_fd, pl_head *head, int64_t frames, const pl_log_keep *keep,
                       int64_t *dropped, bool *changed);
/* Remove a segment's files. */
void pl_log_prune_remove(int dir_fd, const pl_segment *segment);

#endif
