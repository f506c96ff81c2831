/* copier.h - files from one tree to another, each with its CRC-32C in a manifest.
 *
 * A file that the backup before has, unchanged by inode, size and time of change, becomes a hard link to it. Files that
 * are links to one another stay that. Others share their blocks with the original where the file system can (reflinks),
 * and else are copied. Owner, mode and time of change are kept; nothing is synced.
 */
#ifndef PLIANT_SERVER_UPKEEP_COPIER_H
#define PLIANT_SERVER_UPKEEP_COPIER_H

#include "server/upkeep/manifest.h"

typedef struct pl_copier {
    int from_fd, to_fd;
    int before_fd; /* the backup before; -1: none */
    const pl_manifest *before;
    pl_manifest made;
    size_t begin;               /* entries from here on are of the session being copied */
    int64_t shared_bytes;       /* of links to the backup before */
    struct pl_copier_link *map; /* by inode; malloc'ed */
    size_t map_count, map_size;
    char failed[400]; /* the first failure, in words */
} pl_copier;

typedef enum pl_copied { PL_COPIED, PL_COPY_MISSING, PL_COPY_FAILED } pl_copied;

void pl_copier_clear(pl_copier *c); /* closes nothing */

/* From now on every file is copied, and none is a link. */
void pl_copier_share_nothing(pl_copier *c);

/* One regular file; the folders that it lies in are made. `records`: without a record at its end that is not whole. A
 * file that was copied already is copied again if it has changed since. */
pl_copied pl_copy_file(pl_copier *c, const char *path, bool records);
/* A folder with all in it, but for temporary files; what goes meanwhile is left out. */
pl_copied pl_copy_folder(pl_copier *c, const char *path);
/* Make a folder with those that it lies in, each with the owner and mode that it has in the original. */
bool pl_copy_make_folder(pl_copier *c, const char *path);
/* Enter a file that was made in the copy itself. */
bool pl_copy_enter(pl_copier *c, const char *path);
/* Whether a name is that of a temporary file. */
bool pl_copy_is_temporary(const char *name);

/* Read a file of the copy from the disk and compare. False with errno, EBADMSG where it is another. */
bool pl_copy_verify(int root_fd, const pl_manifest_entry *e);

#endif
