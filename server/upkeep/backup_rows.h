/* backup_rows.h - the rows of sessions in the database of a backup, brought in line with the directories beside it. */
#ifndef PLIANT_SERVER_UPKEEP_BACKUP_ROWS_H
#define PLIANT_SERVER_UPKEEP_BACKUP_ROWS_H

#include "server/store/store.h"

typedef struct pl_backup_rows {
    size_t count, capacity;
    pl_row *rows; /* malloc'ed */
    bool damaged; /* one has a wrong checksum */
    bool failed;  /* no memory */
} pl_backup_rows;

bool pl_backup_rows_read(pl_backup_rows *r, pl_store *store);
void pl_backup_rows_clear(pl_backup_rows *r);

/* Rebuilt where the copied directory knows more than the row: a later attempt, or an end. The worker of one that ran
 * is one of another machine, so that its end counts as no crash. */
bool pl_backup_row_mend(pl_store *store, int backup_fd, pl_row *row);

#endif
