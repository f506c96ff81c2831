/* backup_rows.h - brings the rows of sessions in a backup's database in line with its directories. */
#ifndef PLIANT_SERVER_UPKEEP_BACKUP_ROWS_H
#define PLIANT_SERVER_UPKEEP_BACKUP_ROWS_H

#include "server/store/store.h"

typedef struct pl_backup_rows {
    size_t count, capacity;
    pl_row *rows; /* malloc'ed */
    bool damaged; /* a row has a wrong checksum */
    bool failed;  /* out of memory */
} pl_backup_rows;

bool pl_backup_rows_read(pl_backup_rows *r, pl_store *store);
void pl_backup_rows_clear(pl_backup_rows *r);

/* Rebuild a row if the copied directory has a later attempt or an end. Assign a running session's worker to another
 * machine, so that its end is not counted as a crash. */
bool pl_backup_row_mend(pl_store *store, int backup_fd, pl_row *row);

#endif
