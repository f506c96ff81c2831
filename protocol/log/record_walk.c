#include "protocol/log/record_walk.h"

#include "protocol/log/log_index.h"

#include <errno.h>
#include <stdlib.h>

/* Reads ahead in pieces of a good size for disks; a record's header never costs a separate call. */
enum { WINDOW = 1 << 20 };

/* `size` bytes at `at`, within the limit; NULL with errno (0: the file ends earlier). */
static const unsigned char *look(pl_record_walk *w, uint64_t at, size_t size)
{
    if (!w->window && !(w->window = malloc(WINDOW))) {
        errno = ENOMEM;
        return NULL;
    }
    if (at < w->window_at || at + size > w->window_at + w->window_size) {
        uint64_t left = w->limit - at;
        size_t wanted = left < WINDOW ? (size_t)left : WINDOW;
        w->window_size = 0;
        if (!pl_read_range(w->fd, w->window, wanted, at))
            return NULL;
        w->window_at = at;
        w->window_size = wanted;
    }
    return w->window + (at - w->window_at);
}

/* Checks payload and padding of the record at w->offset, which lies within the limit. */
static bool check_payload(pl_record_walk *w)
{
    enum { PIECE = 64 << 10 };
    uint32_t crc = 0;
    uint64_t at = w->offset + PL_RECORD_HEADER, left = w->record.length;
    while (left > 0) {
        size_t n = left < PIECE ? (size_t)left : PIECE;
        const unsigned char *bytes = look(w, at, n);
        if (!bytes)
            return false;
        crc = pl_crc32c(crc, bytes, n);
        at += n;
        left -= n;
    }
    w->payload_good = crc == w->record.payload_crc;
    size_t padding = (size_t)(w->offset + w->size - at);
    const unsigned char *bytes = look(w, at, padding);
    if (!bytes)
        return false;
    w->padding_good = true;
    for (size_t i = 0; i < padding; i++)
        w->padding_good = w->padding_good && bytes[i] == 0;
    return true;
}

static pl_walk_event stop(pl_record_walk *w, pl_walk_event event, uint64_t size)
{
    w->size = size;
    w->at = w->offset + size;
    return event;
}

pl_walk_event pl_record_walk_step(pl_record_walk *w)
{
    w->offset = w->at;
    w->size = 0;
    w->has_header = false;
    if (w->at >= w->limit)
        return PL_WALK_END;
    uint64_t left = w->limit - w->at;
    if (left < PL_RECORD_HEADER)
        return stop(w, PL_WALK_CUT, left);
    const unsigned char *header = look(w, w->at, PL_RECORD_HEADER);
    if (!header)
        return PL_WALK_ERROR;
    if (pl_record_decode(header, PL_RECORD_HEADER, &w->record) != PL_RECORD_GOOD)
        return stop(w, PL_WALK_DAMAGE, pl_next_header(w->fd, w->at + 8, w->limit) - w->at);
    w->has_header = true;
    uint64_t size = pl_record_size(w->record.length);
    if (size > left)
        return stop(w, PL_WALK_CUT, left);
    stop(w, PL_WALK_RECORD, size);
    return check_payload(w) ? PL_WALK_RECORD : PL_WALK_ERROR;
}

void pl_record_walk_clear(pl_record_walk *w)
{
    free(w->window);
    w->window = NULL;
}
