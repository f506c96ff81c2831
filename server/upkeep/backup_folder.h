/* backup_folder.h - the backups in a folder: their names, in order of time, and their descriptions. */
#ifndef PLIANT_SERVER_UPKEEP_BACKUP_FOLDER_H
#define PLIANT_SERVER_UPKEEP_BACKUP_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_BACKUP_NAME = 32, PL_BACKUP_FORMAT = 1 };

typedef struct pl_backup_facts {
    char version[32]; /* version of the pliantd that made it */
    char time[32];    /* RFC 3339 */
    int64_t sessions, files, bytes, shared_bytes;
    uint32_t files_crc; /* CRC-32C of `files` */
    bool secrets;
} pl_backup_facts;

/* Read or write backup.json. Writing fills in version and time. False with errno. */
bool pl_backup_facts_write(int backup_fd, pl_backup_facts *f);
bool pl_backup_facts_read(int backup_fd, pl_backup_facts *f);
/* The description as JSON with the backup's name, malloc'ed. */
char *pl_backup_facts_text(const pl_backup_facts *f, const char *name);

/* Make an unused name from the current time: "20260101T120000Z", or with "-2" appended. */
void pl_backup_name(int folder_fd, char name[PL_BACKUP_NAME]);
/* Find the newest complete backup; false if none. */
bool pl_backup_newest(int folder_fd, char name[PL_BACKUP_NAME]);
/* Remove all but the newest `keep` backups, and the remains of interrupted ones. False after printing the error. */
bool pl_backup_keep(int folder_fd, int keep);

#endif
