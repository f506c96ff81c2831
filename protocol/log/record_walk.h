/* record_walk.h - walks the records of a file from end to end for a check: every payload's CRC, every padding, and
 * the bytes between good records.
 */
#ifndef PLIANT_PROTOCOL_LOG_RECORD_WALK_H
#define PLIANT_PROTOCOL_LOG_RECORD_WALK_H

#include "engine/scene/fault.h"
#include "protocol/log/record.h"

typedef enum pl_walk_event {
    PL_WALK_RECORD, /* a record with a good header */
    PL_WALK_DAMAGE, /* `size` bytes that contain no start of a record */
    PL_WALK_CUT,    /* the last `size` bytes: an incomplete record, or less than a header */
    PL_WALK_END,
    PL_WALK_ERROR, /* errno; `offset` is where reading failed */
} pl_walk_event;

typedef struct pl_record_walk {
    int fd;
    uint64_t at, limit; /* set by the caller: where to continue, and where to end */
    /* Of the event. */
    uint64_t offset, size;
    pl_record record; /* for PL_WALK_RECORD, and for PL_WALK_CUT with has_header */
    bool payload_good, padding_good, has_header;
    unsigned char *window; /* malloc'ed by the first step */
    uint64_t window_at;
    size_t window_size;
} pl_record_walk;

/* The next event. PL_WALK_ERROR with ENOMEM if there is no memory for the window. */
pl_walk_event pl_record_walk_step(pl_record_walk *w);
void pl_record_walk_clear(pl_record_walk *w); /* closes nothing */

#endif
