/* usage_backup.h - STATE/usage.json: usage by day and by run, and run times by kind, copied from the database so that a
 * rebuilt database can restore them (`pliantd --reindex`). Written every hour and at the daemon's end; younger data is
 * lost with the database. Sealed like every document; readable only by the daemon's uid.
 */
#ifndef PLIANT_SERVER_STORE_USAGE_BACKUP_H
#define PLIANT_SERVER_STORE_USAGE_BACKUP_H

#include "server/store/store.h"

/* Waits for queued writes. On failure, logs a line and keeps the old file. */
void pl_usage_backup_write(pl_store *store, int state_fd);
/* Restore into a fresh database. Returns the number of days of users, 0 if the file does not exist, -1 if it is damaged
 * or cannot be stored. */
int64_t pl_usage_backup_restore(pl_store *store, int state_fd);

#endif
