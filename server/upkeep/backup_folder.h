/* backup_folder.h - the backups of a folder: their names, in order of time, and what each says of itself. */
#ifndef PLIANT_SERVER_UPKEEP_BACKUP_FOLDER_H
#define PLIANT_SERVER_UPKEEP_BACKUP_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_BACKUP_NAME = 32, PL_BACKUP_FORMAT = 1 };

typedef struct pl_backup_facts {
    char version[32]; /* of the pliantd that made it */
    char time[32];    /* RFC 3339 */
    int64_t sessions, files, bytes, shared_bytes;
    uint32_t files_crc; /* of `files` */
    bool secrets;
} pl_backup_facts;

/* backup.json. Version and time are filled in by writing. False with errno. */
bool pl_backup_facts_write(int backup_fd, pl_backup_facts *f);
bool pl_backup_facts_read(int backup_fd, pl_backup_facts *f);
/* The same as JSON with the backup's name, malloc'ed. */
char *pl_backup_facts_text(const pl_backup_facts *f, const char *name);

/* A name for now that the folder does not have: "20260101T120000Z", or that with "-2" behind. */
void pl_backup_name(int folder_fd, char name[PL_BACKUP_NAME]);
/* The newest complete one; false if none is complete. */
bool pl_backup_newest(int folder_fd, char name[PL_BACKUP_NAME]);
/* Remove all but the newest `keep`, and what a backup that was cut off has left. False after printing why. */
bool pl_backup_keep(int folder_fd, int keep);

#endif
