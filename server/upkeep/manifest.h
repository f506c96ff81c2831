/* manifest.h - the list of a backup's files: size, CRC-32C, and the original's inode and time of change, by which the
 * next backup recognises unchanged files. BACKUP/files is its text, one line a file:
 *
 *     a1b2c3d4 4096 1767225600000000000 131072 sessions/7c/7c1e.../scene.json
 */
#ifndef PLIANT_SERVER_UPKEEP_MANIFEST_H
#define PLIANT_SERVER_UPKEEP_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL_MANIFEST_NAME "files"

typedef struct pl_manifest_entry {
    char *path; /* malloc'ed, below the state directory */
    uint64_t bytes, inode;
    int64_t modified_ns;
    uint32_t crc;
} pl_manifest_entry;

/* Zero-initialise. */
typedef struct pl_manifest {
    size_t count, capacity;
    pl_manifest_entry *entries;
} pl_manifest;

/* Add an entry with a copy of `path`; e->path is ignored. False if out of memory. */
bool pl_manifest_add(pl_manifest *m, const char *path, const pl_manifest_entry *e);
void pl_manifest_cut(pl_manifest *m, size_t count); /* keep the first `count` entries */
void pl_manifest_remove(pl_manifest *m, size_t index);
void pl_manifest_clear(pl_manifest *m);

/* Sort the entries by path, write them, and set the CRC-32C of the text. False with errno. */
bool pl_manifest_write(pl_manifest *m, int backup_fd, uint32_t *crc);
/* Read a manifest. False with errno; EBADMSG if the CRC differs or the text is not a manifest. */
bool pl_manifest_read(pl_manifest *m, int backup_fd, uint32_t crc);
/* Find an entry in a manifest that was read; NULL if missing. */
const pl_manifest_entry *pl_manifest_find(const pl_manifest *m, const char *path);

#endif
