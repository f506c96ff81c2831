/* segment.h - the segments of a log: their entries in head.json, and the names of their files. */
#ifndef PLIANT_PROTOCOL_LOG_SEGMENT_H
#define PLIANT_PROTOCOL_LOG_SEGMENT_H

#include "engine/scene/fault.h"

#include <stdbool.h>
#include <stdint.h>

enum { PL_SEGMENT_FRAMES = 4096, PL_HEAD_SEGMENTS_MAX = 65536 };
#define PL_SEGMENT_BYTES ((uint64_t)64 << 20)

/* A segment of the log as listed in head.json. `frames` counts its committed frames, or is -1 for the open last
 * segment, whose length follows from the index. */
typedef struct pl_segment {
    int32_t attempt, number; /* names the file: log/%04d-%04d.seg */
    int64_t first_frame;
    int64_t frames; /* -1: open */
    int64_t length; /* bytes that readers may read; -1: open */
    int64_t
        every; /* frame records are left of those that this divides; 0: of all. Metrics of all */
} pl_segment;

enum { PL_SEGMENT_NAME = 40 };
/* "log/0001-0000.seg"; kind is "seg" or "idx". */
void pl_segment_name(char name[PL_SEGMENT_NAME], const pl_segment *segment, const char *kind);

/* A list of segments, in any order. Zero-initialise; items are malloc'ed. */
typedef struct pl_segment_list {
    int64_t count, capacity;
    pl_segment *items;
} pl_segment_list;
/* False if out of memory. */
bool pl_segment_list_add(pl_segment_list *list, const pl_segment *segment);

/* Lists every segment with a file in log/, as open and without a first frame, because a name tells no more. PL_OK
 * and an empty list if there is no log/. */
pl_status pl_segment_list_names(int dir_fd, pl_segment_list *out);
/* The highest attempt among the names in log/; 0 if none. */
int32_t pl_log_newest_attempt(int dir_fd);
/* The number after those of all segments of the attempt; 0 if it has none. */
int32_t pl_segment_next_number(const pl_segment *segments, int64_t count, int32_t attempt);

#endif
