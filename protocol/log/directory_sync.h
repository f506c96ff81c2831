/* directory_sync.h - a new session directory is made durable once, when it is whole, and not file by file: its files
 * are written by pl_file_put and pl_sealed_put, which sync nothing.
 *
 * Each fsync of a new file is a commit of the file system's journal. One syncfs is one commit for all files, and for all
 * directories that wait for it at the same time. It also writes what others have left unwritten, so it is used only
 * while that is little. It needs a kernel whose syncfs reports errors (5.8) and a file system known to keep its word.
 * Elsewhere, and for good after an error of a syncfs, each file and directory has its own fsync.
 */
#ifndef PLIANT_PROTOCOL_LOG_DIRECTORY_SYNC_H
#define PLIANT_PROTOCOL_LOG_DIRECTORY_SYNC_H

#include "engine/scene/fault.h"

#include <stdint.h>

/* Make the directory at `path`, all in it, and the entries that lead to it from base_fd on durable. A path is relative:
 * "sessions/ab/ID", or "." for base_fd itself without its own entry. PL_IO with errno. From any thread. */
pl_status pl_directory_sync(int base_fd, const char *path);

/* How many directories of this process were made durable by a sync of the file system, and how many file by file. */
typedef struct pl_directory_syncs {
    int64_t shared, single;
} pl_directory_syncs;
pl_directory_syncs pl_directory_sync_counts(void);

#endif
