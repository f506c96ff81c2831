/* log_index.h - index entries, and scans of a segment; private to the log's writer and reader. */
#ifndef PLIANT_PROTOCOL_LOG_LOG_INDEX_H
#define PLIANT_PROTOCOL_LOG_LOG_INDEX_H

#include "protocol/log/log.h"

#include <sys/types.h>

void pl_index_entry_encode(const pl_index_entry *e, unsigned char *out);
/* False if the CRC is wrong, or the entry is not that of `frame` in this segment. */
bool pl_index_entry_decode(const unsigned char *bytes, const pl_segment *segment, int64_t frame,
                           pl_index_entry *out);

/* Size of an open segment file, 0 if it cannot be determined. */
uint64_t pl_file_length(int fd);
/* Reads the whole range with pread; false at an early end (errno 0) or an error. */
bool pl_read_range(int fd, void *out, size_t size, uint64_t offset);

/* Offset of the next good header at or after `from`, or `limit`. Records are 8-aligned. */
uint64_t pl_next_header(int fd, uint64_t from, uint64_t limit);

/* The frames found by walking the records of a segment. entries[i] is frame first + i; a part whose header is
 * damaged has size 0. `end` is the end of the last committed frame, at which walking continues. Zero-initialise,
 * then set first and end. */
typedef struct pl_segment_scan {
    int64_t first, count, capacity;
    uint64_t end;
    pl_index_entry *entries;
} pl_segment_scan;
void pl_segment_scan_clear(pl_segment_scan *scan);

/* Walks on from scan->end through the bytes before `limit`. The walk passes a damaged header by searching for the
 * next good one. In an open segment, a frame counts if a good metrics record follows it and, for the last frame,
 * the payloads' CRCs are right: a torn tail is not a frame yet. */
pl_status pl_segment_scan_run(pl_segment_scan *scan, int fd, const pl_segment *segment,
                              uint64_t limit);

/* Frames 0 .. *frames - 1 of the chain are committed and stay so. Frames at the end of the open segment whose
 * payloads are damaged are a torn tail and not counted: they will be written again.
 */
pl_status pl_log_committed(int dir_fd, const pl_head *head, int64_t *frames);

/* True if the record lies where the entry says and is that frame's. Fills *record. */
bool pl_entry_holds(int fd, const pl_segment *segment, const pl_index_entry *entry,
                    pl_log_part part, uint64_t limit, pl_record *record);

#endif
