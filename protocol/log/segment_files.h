/* segment_files.h - the two files of the segment being written: records and index. */
#ifndef PLIANT_PROTOCOL_LOG_SEGMENT_FILES_H
#define PLIANT_PROTOCOL_LOG_SEGMENT_FILES_H

#include "protocol/log/segment.h"

typedef struct pl_segment_files {
    int seg, idx; /* descriptors; -1: none */
} pl_segment_files;

/* Creates both. No published head lists them, so existing files of these names are leftovers of a worker that died
 * before publishing; they are truncated. PL_IO with errno. */
pl_status pl_segment_files_create(int dir_fd, const pl_segment *segment, pl_segment_files *out);
void pl_segment_files_close(pl_segment_files *files);
/* Duplicates both descriptors; -1 for one that could not be duplicated. */
pl_segment_files pl_segment_files_copy(const pl_segment_files *files);
/* Sync and close; keeps errno. */
pl_status pl_segment_files_settle(pl_segment_files *files);
/* Starts writing dirty pages, without waiting until they are durable. */
void pl_segment_files_send(const pl_segment_files *files);

#endif
