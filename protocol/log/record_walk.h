/* record_walk.h - walk the records of a file from end to end, as a check does: every payload's
 * CRC, every padding, and what lies between records that are good.
 */
#ifndef PLIANT_PROTOCOL_LOG_RECORD_WALK_H
#define PLIANT_PROTOCOL_LOG_RECORD_WALK_H

#include "engine/scene/fault.h"
#include "protocol/log/record.h"

typedef enum pl_walk_event {
    PL_WALK_RECORD, /* a record with a good header */
    PL_WALK_DAMAGE, /* `size` bytes in which no record begins */
    PL_WALK_CUT, /* the last `size` bytes: a record that is not all there, or less than a header */
    PL_WALK_END,
    PL_WALK_ERROR, /* errno; `offset` says where reading failed */
} pl_walk_event;

typedef struct pl_record_walk {
    int fd;
    uint64_t at, limit; /* set by the caller: where to go on, and where to end */
    /* Of the event. */
    uint64_t offset, size;
    pl_record record; /* of PL_WALK_RECORD, and of PL_WALK_CUT where has_header */
    bool payload_good, padding_good, has_header;
    unsigned char *window; /* malloc'ed by the first step */
    uint64_t window_at;
    size_t window_size;
} pl_record_walk;

/* The next event. PL_WALK_ERROR with ENOMEM where there is no memory for the window. */
pl_walk_event pl_record_walk_step(pl_record_walk *w);
void pl_record_walk_clear(pl_record_walk *w); /* closes nothing */

#endif
