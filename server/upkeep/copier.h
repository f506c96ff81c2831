/* copier.h - copies files from one tree to another and lists each with its CRC-32C in a manifest.
 *
 * A file whose inode, size and time of change are the same as for the previous backup becomes a hard link to it. Hard
 * links between files are kept. Other files share blocks with the original if the file system supports reflinks;
 * otherwise they are copied. Owner, mode and modification time are kept; nothing is synced.
 */
#ifndef PLIANT_SERVER_UPKEEP_COPIER_H
#define PLIANT_SERVER_UPKEEP_COPIER_H

#include "server/upkeep/manifest.h"

typedef struct pl_copier {
    int from_fd, to_fd;
    int before_fd; /* the previous backup; -1: none */
    const pl_manifest *before;
    pl_manifest made;
    size_t begin;               /* first entry of the session being copied */
    int64_t shared_bytes;       /* bytes in links to the previous backup */
    struct pl_copier_link *map; /* by inode; malloc'ed */
    size_t map_count, map_size;
    char failed[400]; /* the first failure as text */
} pl_copier;

typedef enum pl_copied { PL_COPIED, PL_COPY_MISSING, PL_COPY_FAILED } pl_copied;

void pl_copier_clear(pl_copier *c); /* closes nothing */

/* From now on, copy every file and make no links. */
void pl_copier_share_nothing(pl_copier *c);

/* Copy a regular file and make the folders that contain it. `records`: without an incomplete record at its end. A file
 * that was already copied is copied again if it has changed since. */
pl_copied pl_copy_file(pl_copier *c, const char *path, bool records);
/* Copy a folder with its contents except temporary files; files removed meanwhile are left out. */
pl_copied pl_copy_folder(pl_copier *c, const char *path);
/* Make a folder and its parents, with owner and mode of the originals. */
bool pl_copy_make_folder(pl_copier *c, const char *path);
/* Add a file that was created in the copy to the manifest. */
bool pl_copy_enter(pl_copier *c, const char *path);
/* True for the name of a temporary file. */
bool pl_copy_is_temporary(const char *name);

/* Compare a copied file on the disk with its entry. False with errno, EBADMSG if they differ. */
bool pl_copy_verify(int root_fd, const pl_manifest_entry *e);

#endif
