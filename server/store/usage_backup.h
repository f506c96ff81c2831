/* usage_backup.h - STATE/usage.json: usage by day and by run, and how long runs take by their kind, as the database has
 * them, so that a rebuilt one has them again (`pliantd --reindex`). Written each hour and at the daemon's end: what is
 * younger is lost with the database. Sealed like every document; for the daemon's uid alone.
 */
#ifndef PLIANT_SERVER_STORE_USAGE_BACKUP_H
#define PLIANT_SERVER_STORE_USAGE_BACKUP_H

#include "server/store/store.h"

/* Waits for what is queued. Where it fails, a line in the log and the old file as it was. */
void pl_usage_backup_write(pl_store *store, int state_fd);
/* Put them into a fresh database: how many days of users, 0 where there is no file, -1 where it is damaged or cannot be
 * stored. */
int64_t pl_usage_backup_restore(pl_store *store, int state_fd);

#endif
