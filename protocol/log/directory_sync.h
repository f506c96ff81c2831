/* directory_sync.h - makes a new session directory durable once, when it is complete, rather than file by file:
 * pl_file_put and pl_sealed_put write its files without a sync.
 *
 * Each fsync of a new file is a commit of the file system's journal. One syncfs is one commit for all files, and
 * for all directories that wait for it at the same time. It also writes other processes' dirty data, so it is used
 * only while there is little of that: 32 MB for each directory that is being synced. It needs a kernel whose syncfs reports errors (5.8) and a file system known
 * to be reliable in this. Elsewhere, and permanently after an error of a syncfs, each file and directory has its
 * own fsync.
 */
#ifndef PLIANT_PROTOCOL_LOG_DIRECTORY_SYNC_H
#define PLIANT_PROTOCOL_LOG_DIRECTORY_SYNC_H

#include "engine/scene/fault.h"

#include <stdint.h>

/* Makes the directory at `path`, everything in it, and the entries that lead to it from base_fd durable. A path is
 * relative: "sessions/ab/ID", or "." for base_fd itself without its own entry. PL_IO with errno. Callable from any
 * thread. */
pl_status pl_directory_sync(int base_fd, const char *path);

/* Number of directories of this process made durable by a sync of the file system, and number made durable file by
 * file. */
typedef struct pl_directory_syncs {
    int64_t shared, single;
} pl_directory_syncs;
pl_directory_syncs pl_directory_sync_counts(void);

#endif
