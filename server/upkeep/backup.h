/* backup.h - `pliantd backup` copies a state directory, also while a daemon runs; `pliantd restore` restores it.
 *
 * FOLDER/20260101T120000Z/ is a state directory without its lock, `reserve` and incoming/, and has two more files:
 *   files         every file with its size and CRC-32C (manifest.h); read again from the disk before the backup counts
 *   backup.json   sealed: version, time, counts and the CRC-32C of `files`; written last, so a partial backup has none
 *
 * The database is copied first, with SQLite's backup function, then the directories of its sessions: each was complete
 * before its row. A session deleted meanwhile loses its row in the copy. A session that ran on has a row older than its
 * directory; a daemon handles this as after a crash, or the row is rebuilt.
 */
#ifndef PLIANT_SERVER_UPKEEP_BACKUP_H
#define PLIANT_SERVER_UPKEEP_BACKUP_H

#include <stdbool.h>

typedef struct pl_backup_request {
    const char *state;
    const char *folder; /* folder of backups; created if missing */
    bool secrets;       /* include the owner's token and the webhooks' key */
    int keep;           /* number of backups to keep in the folder; 0: all */
    bool json;
} pl_backup_request;

/* Make a backup. Returns the exit status; prints errors. */
int pl_backup(const pl_backup_request *request);
/* Restore into a state directory that is missing or empty. */
int pl_restore(const char *backup, const char *state);

#endif
