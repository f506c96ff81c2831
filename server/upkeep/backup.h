/* backup.h - `pliantd backup` and `pliantd restore`: a state directory as it was, also of a daemon that runs.
 *
 * FOLDER/20260101T120000Z/ is a state directory without its lock, `reserve` and incoming/, with two more files:
 *   files         every file with its size and CRC-32C (manifest.h); read again from the disk before the backup counts
 *   backup.json   sealed: version, time, counts and the CRC-32C of `files`; written last, so that half a backup has none
 *
 * The database is copied first, by SQLite's own means. Then the directories of the sessions that it names: each was
 * complete before its row. A session that was deleted meanwhile loses its row in the copy; one that went on has a row
 * that is older than its directory, which a daemon knows from its own death, or else the row is rebuilt.
 */
#ifndef PLIANT_SERVER_UPKEEP_BACKUP_H
#define PLIANT_SERVER_UPKEEP_BACKUP_H

#include <stdbool.h>

typedef struct pl_backup_request {
    const char *state;
    const char *folder; /* of backups; made if missing */
    bool secrets;       /* with the owner's token and the webhooks' key */
    int keep;           /* backups that are left of this folder; 0: all */
    bool json;
} pl_backup_request;

/* The exit status; what is wrong is printed. */
int pl_backup(const pl_backup_request *request);
/* Into a state directory that is missing or empty. */
int pl_restore(const char *backup, const char *state);

#endif
