/* tenant_backup.h - STATE/tenants.json: users, groups, memberships and tokens (their hashes) as the database has them,
 * written after each change, so that a rebuilt database has them again (`pliantd --reindex`). Sealed like every
 * document; for the daemon's uid alone.
 */
#ifndef PLIANT_SERVER_TENANTS_TENANT_BACKUP_H
#define PLIANT_SERVER_TENANTS_TENANT_BACKUP_H

#include "server/store/store.h"

bool pl_tenant_backup_write(pl_store *store, int state_fd);
/* Put them into a fresh database: how many rows, 0 where there is no file, -1 where it is damaged. */
int64_t pl_tenant_backup_restore(pl_store *store, int state_fd);

#endif
