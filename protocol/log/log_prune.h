/* log_prune.h - pruning of a log. Older frames are dropped by whole sealed segments, or thinned to every n-th by
 * rewriting a sealed segment without the other frame records. The metrics of a thinned segment all stay. The open
 * segment is never touched; the caller holds the session's lock.
 *
 * Readers that have an old file open continue in it; readers of head.json see what is gone.
 */
#ifndef PLIANT_PROTOCOL_LOG_LOG_PRUNE_H
#define PLIANT_PROTOCOL_LOG_LOG_PRUNE_H

#include "protocol/log/session_dir.h"

/* Frames before the newest `last` are older; 0: all frames but the open segment's. Of the older frames, multiples
 * of `every` stay; 0: none stay, unless both are 0: then all stay. */
typedef struct pl_log_keep {
    int64_t last, every;
} pl_log_keep;
static inline bool pl_log_keeps_all(const pl_log_keep *keep)
{
    return keep->last <= 0 && keep->every <= 0;
}

/* Thins the chain of a log with that many frames: new files replace the old ones, synced, and *head is updated.
 * *dropped is then the number of segments to remove at its beginning. The caller publishes the head without them,
 * and then calls pl_log_prune_remove. PL_OK also if nothing changed; PL_IO with errno, PL_NO_MEMORY: *head contains
 * what was done until then. */
pl_status pl_log_prune(int dir_fd, pl_head *head, int64_t frames, const pl_log_keep *keep,
                       int64_t *dropped, bool *changed);
/* Removes a segment's files. */
void pl_log_prune_remove(int dir_fd, const pl_segment *segment);

#endif
