/* log_index.h - index entries and the scanning of a segment; private to the log's writer and
 * reader. */
#ifndef PLIANT_PROTOCOL_LOG_LOG_INDEX_H
#define PLIANT_PROTOCOL_LOG_LOG_INDEX_H

#include "protocol/log/log.h"

#include <sys/types.h>

void pl_index_entry_encode(const pl_index_entry *e, unsigned char *out);
/* False where the CRC is wrong, or the entry is not that of `frame` of this segment. */
bool pl_index_entry_decode(const unsigned char *bytes, const pl_segment *segment, int64_t frame,
                           pl_index_entry *out);

/* Bytes of an open segment file, 0 where that cannot be told. */
uint64_t pl_file_length(int fd);
/* pread the whole range; false at an early end (errno 0) or an error. */
bool pl_read_range(int fd, void *out, size_t size, uint64_t offset);

/* Offset of the next good header at or after `from`, or `limit`. Records are 8-aligned. */
uint64_t pl_next_header(int fd, uint64_t from, uint64_t limit);

/* Frames found by walking the records of a segment. entries[i] is of frame first + i; a part whose
 * header is damaged has size 0. `end` is where the last committed frame ends: walking goes on from
 * there. Zero-initialise, then set first and end. */
typedef struct pl_segment_scan {
    int64_t first, count, capacity;
    uint64_t end;
    pl_index_entry *entries;
} pl_segment_scan;
void pl_segment_scan_clear(pl_segment_scan *scan);

/* Walk on from scan->end through the bytes before `limit`. A damaged header is stepped over by
 * looking for the next good one. In an open segment a frame counts when a good metrics record
 * follows it and, for the last frame, the payloads' CRCs are right: a torn tail is no frame yet. */
pl_status pl_segment_scan_run(pl_segment_scan *scan, int fd, const pl_segment *segment,
                              uint64_t limit);

/* Frames 0 .. *frames - 1 of the chain are committed and stay so. Frames at the end of the open
 * segment whose payloads are damaged are a torn tail, and not counted: they will be written again.
 */
pl_status pl_log_committed(int dir_fd, const pl_head *head, int64_t *frames);

/* Does the record lie where the entry says, and is it that frame's? Fills *record. */
bool pl_entry_holds(int fd, const pl_segment *segment, const pl_index_entry *entry,
                    pl_log_part part, uint64_t limit, pl_record *record);

#endif
