/* segment_files.h - the two files of a segment that is written: records and index. */
#ifndef PLIANT_PROTOCOL_LOG_SEGMENT_FILES_H
#define PLIANT_PROTOCOL_LOG_SEGMENT_FILES_H

#include "protocol/log/segment.h"

typedef struct pl_segment_files {
    int seg, idx; /* descriptors; -1: none */
} pl_segment_files;

/* Create both. No published head lists them, so files of these names are left over from a worker that died before
 * publishing, and are cut to nothing. PL_IO with errno. */
pl_status pl_segment_files_create(int dir_fd, const pl_segment *segment, pl_segment_files *out);
void pl_segment_files_close(pl_segment_files *files);
/* Duplicates of both descriptors; -1 where one could not be had. */
pl_segment_files pl_segment_files_copy(const pl_segment_files *files);
/* Sync and close; keeps errno. */
pl_status pl_segment_files_settle(pl_segment_files *files);
/* Begin to write dirty pages out, without waiting until they are durable. */
void pl_segment_files_send(const pl_segment_files *files);

#endif
