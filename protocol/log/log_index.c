#include "protocol/log/log_index.h"

#include "protocol/log/fresh.h"
#include "protocol/text/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- index entries ---- */

void pl_index_entry_encode(const pl_index_entry *e, unsigned char *out)
{
    pl_put_u64(out, e->frame);
    pl_put_u64(out + 8, e->frame_offset);
    pl_put_u64(out + 16, e->frame_size);
    pl_put_u64(out + 24, e->metrics_offset);
    pl_put_u64(out + 32, e->metrics_size);
    pl_put_u32(out + 40, e->attempt);
    pl_put_u32(out + 44, pl_crc32c(0, out, 44));
}

/* A part that a scan found damaged has size 0. */
static bool size_fits(uint64_t size)
{
    return size == 0 || (size >= PL_RECORD_HEADER && size % 8 == 0 &&
                         size <= pl_record_size(PL_RECORD_MAX_PAYLOAD));
}

bool pl_index_entry_decode(const unsigned char *bytes, const pl_segment *segment, int64_t frame,
                           pl_index_entry *out)
{
    pl_index_entry e = {
        .frame = pl_get_u64(bytes),
        .frame_offset = pl_get_u64(bytes + 8),
        .frame_size = pl_get_u64(bytes + 16),
        .metrics_offset = pl_get_u64(bytes + 24),
        .metrics_size = pl_get_u64(bytes + 32),
        .attempt = pl_get_u32(bytes + 40),
        .crc = pl_get_u32(bytes + 44),
    };
    if (e.crc != pl_crc32c(0, bytes, 44) || e.frame != (uint64_t)frame ||
        e.attempt != (uint32_t)segment->attempt)
        return false;
    if (!size_fits(e.frame_size) || !size_fits(e.metrics_size) || e.frame_offset >> 62 ||
        e.metrics_offset >> 62)
        return false;
    *out = e;
    return true;
}

/* ---- reading a segment ---- */

uint64_t pl_file_length(int fd)
{
    struct stat st;
    return pl_stat_fresh(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

bool pl_read_range(int fd, void *out, size_t size, uint64_t offset)
{
    char *to = out;
    while (size > 0) {
        ssize_t n = pread(fd, to, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = 0;
            return false;
        }
        to += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

bool pl_entry_holds(int fd, const pl_segment *segment, const pl_index_entry *entry,
                    pl_log_part part, uint64_t limit, pl_record *record)
{
    bool is_frame = part == PL_LOG_FRAME;
    uint64_t offset = is_frame ? entry->frame_offset : entry->metrics_offset;
    uint64_t size = is_frame ? entry->frame_size : entry->metrics_size;
    unsigned char header[PL_RECORD_HEADER];
    if (size == 0 || offset > limit || size > limit - offset ||
        !pl_read_range(fd, header, sizeof header, offset) ||
        pl_record_decode(header, sizeof header, record) != PL_RECORD_GOOD)
        return false;
    return record->type == (is_frame ? PL_RECORD_FRAME : PL_RECORD_METRICS) &&
           record->frame == entry->frame && record->seq == entry->frame &&
           record->attempt == (uint32_t)segment->attempt && pl_record_size(record->length) == size;
}

/* Compares the CRC of a stored payload with its header, in pieces. */
static bool payload_good(int fd, uint64_t offset, const pl_record *record)
{
    unsigned char piece[16384];
    uint32_t crc = 0;
    uint64_t left = record->length;
    for (uint64_t at = offset + PL_RECORD_HEADER; left > 0;) {
        size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
        if (!pl_read_range(fd, piece, n, at))
            return false;
        crc = pl_crc32c(crc, piece, n);
        at += n;
        left -= n;
    }
    return crc == record->payload_crc;
}

static bool entry_payloads_good(int fd, const pl_segment *segment, const pl_index_entry *entry,
                                uint64_t limit)
{
    pl_record frame, metrics;
    return pl_entry_holds(fd, segment, entry, PL_LOG_FRAME, limit, &frame) &&
           pl_entry_holds(fd, segment, entry, PL_LOG_METRICS, limit, &metrics) &&
           payload_good(fd, entry->frame_offset, &frame) &&
           payload_good(fd, entry->metrics_offset, &metrics);
}

/* ---- scanning ---- */

void pl_segment_scan_clear(pl_segment_scan *scan)
{
    free(scan->entries);
    *scan = (pl_segment_scan){0};
}

uint64_t pl_next_header(int fd, uint64_t from, uint64_t limit)
{
    enum { PIECE = 16384 };
    unsigned char piece[PIECE + PL_RECORD_HEADER];
    pl_record ignored;
    for (uint64_t at = from; at + PL_RECORD_HEADER <= limit; at += PIECE) {
        uint64_t left = limit - at;
        size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
        if (!pl_read_range(fd, piece, n, at))
            return limit;
        for (size_t i = 0; i < PIECE && i + PL_RECORD_HEADER <= n; i += 8)
            if (pl_record_decode(piece + i, PL_RECORD_HEADER, &ignored) == PL_RECORD_GOOD)
                return at + i;
    }
    return limit;
}

/* The entry of a frame, with blank entries before it for frames that were not found. NULL with *status set if
 * memory ran out, or with PL_OK if the frame is not in this segment. */
static pl_index_entry *entry_for(pl_segment_scan *scan, int64_t *found, const pl_segment *segment,
                                 uint64_t frame, pl_status *status)
{
    *status = PL_OK;
    if (frame < (uint64_t)scan->first ||
        frame - (uint64_t)segment->first_frame >= PL_SEGMENT_FRAMES)
        return NULL;
    int64_t i = (int64_t)frame - scan->first;
    if (i < scan->count)
        return NULL; /* already committed: the first one counts */
    if (i >= scan->capacity) {
        int64_t capacity = 2 * i + 16;
        pl_index_entry *larger = realloc(scan->entries, (size_t)capacity * sizeof *scan->entries);
        if (!larger) {
            *status = PL_NO_MEMORY;
            return NULL;
        }
        scan->entries = larger;
        scan->capacity = capacity;
    }
    for (; *found <= i; (*found)++)
        scan->entries[*found] = (pl_index_entry){.frame = (uint64_t)(scan->first + *found),
                                                 .attempt = (uint32_t)segment->attempt};
    return &scan->entries[i];
}

/* Notes the record at `offset`. *found counts entries begun; scan->count counts committed ones. */
static pl_status scan_record(pl_segment_scan *scan, int64_t *found, const pl_segment *segment,
                             const pl_record *record, uint64_t offset)
{
    pl_status status;
    uint64_t size = pl_record_size(record->length);
    bool is_frame = record->type == PL_RECORD_FRAME;
    if ((!is_frame && record->type != PL_RECORD_METRICS) || record->seq != record->frame ||
        record->attempt != (uint32_t)segment->attempt)
        return PL_OK;
    pl_index_entry *e = entry_for(scan, found, segment, record->frame, &status);
    if (!e)
        return status;
    if (is_frame) {
        e->frame_offset = offset;
        e->frame_size = size;
        return PL_OK;
    }
    e->metrics_offset = offset;
    e->metrics_size = size;
    scan->count = (int64_t)e->frame - scan->first + 1;
    scan->end = offset + size;
    return PL_OK;
}

/* A frame at the end of an open segment with bad payloads is not committed yet, or was torn: in either case the
 * walk will restart before it. */
static void drop_torn_tail(pl_segment_scan *scan, int64_t before, uint64_t before_end, int fd,
                           const pl_segment *segment, uint64_t limit)
{
    while (scan->count > before &&
           !entry_payloads_good(fd, segment, &scan->entries[scan->count - 1], limit)) {
        scan->count--;
        if (scan->count == before) {
            scan->end = before_end;
        } else {
            const pl_index_entry *last = &scan->entries[scan->count - 1];
            scan->end = last->metrics_offset + last->metrics_size;
        }
    }
}

pl_status pl_segment_scan_run(pl_segment_scan *scan, int fd, const pl_segment *segment,
                              uint64_t limit)
{
    int64_t before = scan->count, found = scan->count;
    uint64_t before_end = scan->end;
    for (uint64_t at = scan->end; at + PL_RECORD_HEADER <= limit;) {
        unsigned char header[PL_RECORD_HEADER];
        pl_record record;
        if (!pl_read_range(fd, header, sizeof header, at))
            break;
        if (pl_record_decode(header, sizeof header, &record) != PL_RECORD_GOOD) {
            at = pl_next_header(fd, at + 8, limit);
            continue;
        }
        uint64_t size = pl_record_size(record.length);
        if (size > limit - at)
            break; /* a good header of a record that is not all there: the torn tail */
        pl_status status = scan_record(scan, &found, segment, &record, at);
        if (status != PL_OK)
            return status;
        at += size;
    }
    if (segment->frames < 0) {
        drop_torn_tail(scan, before, before_end, fd, segment, limit);
    } else {
        /* Head counts a sealed segment's frames: the last may have lost only its metrics. */
        int64_t sealed = segment->first_frame + segment->frames - scan->first;
        scan->count = found < sealed ? found : sealed;
    }
    return PL_OK;
}
