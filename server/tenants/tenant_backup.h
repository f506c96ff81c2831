/* tenant_backup.h - STATE/tenants.json: users, groups, memberships and tokens (their hashes) copied from the database
 * after each change, so that a rebuilt database can restore them (`pliantd --reindex`). Sealed like every document;
 * readable only by the daemon's uid.
 */
#ifndef PLIANT_SERVER_TENANTS_TENANT_BACKUP_H
#define PLIANT_SERVER_TENANTS_TENANT_BACKUP_H

#include "server/store/store.h"

bool pl_tenant_backup_write(pl_store *store, int state_fd);
/* Restore into a fresh database: the number of rows, 0 if the file does not exist, -1 if it is damaged. */
int64_t pl_tenant_backup_restore(pl_store *store, int state_fd);

#endif
